//! What the audit says about leaving a client out, against leaving it out: the others keep the proportions of their
//! weights, and the model is fitted or averaged again. The defense does not choose the weights again.
//!
//! In full (`EQUIPOISE_FULL=1`, with `-- --nocapture` for the figures) over Law School, Dutch and synthetic populations.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::ops::RangeInclusive;
use std::path::Path;

use equipoise_core::{
    Defense, Fairness, InnerSettings, LeftOut, Metrics, NoopObserver, Outcome, Rows, Settings,
    audit, fit_logistic, fit_weighted_logistic, solve,
};
use equipoise_lab::{Preprocessing, Scenario, ScenarioKind, ScenarioSettings, Sources, Split};

/// The average of `tilt` is tested where its models are made.
const DEFENSES: [Defense; 4] =
    [Defense::Bilevel, Defense::Pooled, Defense::Fedasl, Defense::Fednolowe];

/// Predicted and actual changes of one figure.
#[derive(Default)]
struct Pairs(Vec<(f64, f64)>);

#[derive(Default)]
struct Comparison {
    loss: Pairs,
    gap: Pairs,
}

impl Pairs {
    fn correlation(&self) -> f64 {
        let n = self.0.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| self.0.iter().map(of).sum::<f64>() / n;
        let (p, a) = (mean(|pair| pair.0), mean(|pair| pair.1));
        let sum = |of: &dyn Fn(&(f64, f64)) -> f64| self.0.iter().map(of).sum::<f64>();
        let covariance = sum(&|pair| (pair.0 - p) * (pair.1 - a));
        let squares = sum(&|pair| (pair.0 - p).powi(2)) * sum(&|pair| (pair.1 - a).powi(2));
        covariance / squares.sqrt()
    }

    /// Changes above 1e-3 on either side, and how many of them have different signs.
    fn signs(&self) -> (usize, usize) {
        let large = self.0.iter().filter(|(p, a)| p.abs().max(a.abs()) > 1e-3);
        (large.clone().count(), large.filter(|(p, a)| p * a <= 0.0).count())
    }

    fn describe(&self) -> String {
        let (large, wrong) = self.signs();
        let largest = self.0.iter().map(|(p, a)| (p - a).abs()).fold(0.0, f64::max);
        format!(
            "correlation {:.5}, {wrong} of {large} signs differ, off by at most {largest:.1e}",
            self.correlation()
        )
    }
}

impl Comparison {
    fn add(&mut self, predicted: &LeftOut, actual: &LeftOut) {
        self.loss.0.push((predicted.loss, actual.loss));
        self.gap.0.extend(predicted.gap.zip(actual.gap));
    }

    fn extend(&mut self, other: &Self) {
        self.loss.0.extend(&other.loss.0);
        self.gap.0.extend(&other.gap.0);
    }
}

/// Loss and gap on the root.
fn figures(rows: &Rows, theta: &[f64], fairness: Fairness) -> [f64; 2] {
    let score = |i: usize| rows.a(i).iter().zip(theta).map(|(a, t)| a * t).sum::<f64>();
    let losses = (0..rows.len()).map(|i| (-rows.labels()[i] * score(i)).exp().ln_1p());
    let gap = Metrics::of(theta, rows).unwrap().gap(fairness).unwrap().size();
    [losses.sum::<f64>() / rows.len() as f64, gap]
}

/// The model without a client, computed without the audit.
fn without(scenario: &Scenario, outcome: &Outcome, client: usize) -> Vec<f64> {
    let settings = outcome.settings.validate().unwrap();
    let mut weights = outcome.weights();
    weights[client] = 0.0;
    let rest: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= rest);
    match outcome.settings.defense {
        Defense::Bilevel => {
            let proxies: Vec<Rows> =
                scenario.clients.iter().map(|member| member.proxy.clone()).collect();
            let tight = InnerSettings { tolerance: 1e-13, ..settings.inner };
            fit_weighted_logistic(&proxies, &weights, settings.lambda, &tight).unwrap()
        }
        Defense::Pooled => {
            let others = scenario.clients.iter().enumerate().filter(|(c, _)| *c != client);
            let proxies: Vec<&Rows> = others.map(|(_, other)| &other.proxy).collect();
            let all = Rows::concat(&proxies).unwrap();
            fit_logistic(&all, settings.lambda, &InnerSettings::default()).unwrap()
        }
        _ => {
            let inner = InnerSettings::default();
            let own = |proxy: &Rows| fit_logistic(proxy, settings.lambda, &inner).unwrap();
            let models: Vec<Vec<f64>> =
                scenario.clients.iter().map(|member| own(&member.proxy)).collect();
            let mut theta = vec![0.0; outcome.theta.len()];
            for (model, w) in models.iter().zip(&weights) {
                theta.iter_mut().zip(model).for_each(|(t, m)| *t += w * m);
            }
            theta
        }
    }
}

fn compare(scenario: &Scenario, fairness: Fairness, defense: Defense) -> Comparison {
    let round = scenario.round().unwrap();
    let solving = Settings { defense, fall_back: false, ..Settings::new(fairness) };
    let outcome = solve(&round, &solving.validate().unwrap(), &mut NoopObserver).unwrap();
    let audits = audit(&round, &outcome.settings, &outcome).unwrap();
    let root = round.root().all_rows().unwrap();
    let before = figures(&root, &outcome.theta, fairness);
    let mut comparison = Comparison::default();
    for (client, audit) in audits.iter().enumerate() {
        // A client that has all the weight cannot be left out.
        let Some(predicted) = audit.left_out else { continue };
        let after = figures(&root, &without(scenario, &outcome, client), fairness);
        let actual = LeftOut { loss: after[0] - before[0], gap: Some(after[1] - before[1]) };
        comparison.add(&predicted, &actual);
    }
    comparison
}

/// Rounds with 20, 40 and 60 % unreliable clients, for both criteria. The root has 2 % of the rows.
fn scenarios(
    population: &Rows,
    n_clients: usize,
    seeds: RangeInclusive<u64>,
) -> Vec<(Scenario, Fairness)> {
    let mut scenarios = Vec::new();
    for (fairness, seed) in [Fairness::SP, Fairness::EO]
        .into_iter()
        .flat_map(|fairness| seeds.clone().map(move |seed| (fairness, seed)))
    {
        let kind = ScenarioKind::Realistic;
        let settings = ScenarioSettings {
            n_clients,
            root_share: 0.02,
            ..ScenarioSettings::new(kind, fairness, 0.2, seed)
        };
        let split = Split::new(population, &settings).unwrap();
        for share in [0.2, 0.4, 0.6] {
            scenarios.push((split.scenario(kind, share, &mut |_, _| {}).unwrap(), fairness));
        }
    }
    scenarios
}

#[test]
fn the_audit_agrees_with_leaving_a_client_out() {
    let is_full = std::env::var_os("EQUIPOISE_FULL").is_some();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let has_data = data.join("law_school.csv").exists() && data.join("dutch.csv").exists();
    let sources = Sources { data: vec![data], schema: None, n_people: 6000 };
    let datasets: &[&str] = match (is_full, has_data) {
        (true, true) => &["synthetic", "law-school", "dutch"],
        (false, true) => &["synthetic", "law-school"],
        _ => &["synthetic"],
    };
    let seeds = if is_full { 1..=5 } else { 1..=2 };
    let (mut all, mut rounds) = (Comparison::default(), 0);
    for (dataset, n_clients) in datasets.iter().flat_map(|dataset| [(dataset, 5), (dataset, 20)]) {
        let population = sources.load(dataset, Preprocessing::OneHot).unwrap();
        let scenarios = scenarios(&population, n_clients, seeds.clone());
        for defense in DEFENSES {
            let mut of_defense = Comparison::default();
            for (scenario, fairness) in &scenarios {
                of_defense.extend(&compare(scenario, *fairness, defense));
                rounds += 1;
            }
            println!(
                "{dataset}, {n_clients} clients, {defense}: {} left out\n  loss: {}\n  gap: {}",
                of_defense.loss.0.len(),
                of_defense.loss.describe(),
                of_defense.gap.describe()
            );
            // For every defense alone, so that one that is exact cannot hide another that is not.
            for pairs in [&of_defense.loss, &of_defense.gap] {
                assert!(pairs.correlation() >= 0.95, "{}", pairs.describe());
            }
            all.extend(&of_defense);
        }
    }
    println!("{rounds} rounds\n  loss: {}\n  gap: {}", all.loss.describe(), all.gap.describe());
    for pairs in [&all.loss, &all.gap] {
        assert_eq!(pairs.signs().1, 0, "{}", pairs.describe());
    }
}
