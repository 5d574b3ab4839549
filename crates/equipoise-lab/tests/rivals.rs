//! Rivals on whole rounds: what each must return, what the robust ones must withstand, and how they compare.
//!
//! With `EQUIPOISE_FULL=1` and `-- --nocapture`, a table of all rivals on Law School and Dutch.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::path::Path;
use std::time::Instant;

use equipoise_core::{
    Choice, Defense, Fairness, Groups, Layout, Metrics, NoopObserver, Rows, Settings, solve,
};
use equipoise_lab::{
    Generator, Preprocessing, Rival, RivalInput, RivalModel, Scenario, ScenarioKind,
    ScenarioSettings, Sources, unfairness,
};

const LAMBDA: f64 = 1e-4;

fn population(n_people: usize) -> Rows {
    let sources = Sources { data: Vec::new(), schema: None, n_people };
    sources.load("synthetic", Preprocessing::OneHot).unwrap()
}

fn scenario(population: &Rows, n_clients: usize, fairness: Fairness, seed: u64) -> Scenario {
    let settings = ScenarioSettings {
        n_clients,
        root_share: 0.03,
        generator: Generator::Target,
        ..ScenarioSettings::new(ScenarioKind::Realistic, fairness, 0.4, seed)
    };
    Scenario::build(population, &settings, &mut |_, _| {}).unwrap()
}

/// The same rows in another layout; `split` makes a third group of some of the members of group 1.
fn regrouped(rows: &Rows, layout: Layout, split: bool) -> Rows {
    let x: Vec<f64> = (0..rows.len()).flat_map(|i| rows.x(i).to_vec()).collect();
    let group = |i: usize| {
        rows.group(i) as u8 + u8::from(split && rows.group(i) == 1 && rows.x(i)[0] > 0.0)
    };
    let groups: Vec<u8> = (0..rows.len()).map(group).collect();
    let positive: Vec<bool> = (0..rows.len()).map(|i| rows.is_positive(i)).collect();
    Rows::new(layout, &x, &groups, &positive).unwrap()
}

fn assert_sound(rival: Rival, found: &RivalModel, n: usize, n_clients: usize) {
    assert_eq!(found.theta.len(), n, "{rival}");
    assert!(found.theta.iter().all(|t| t.is_finite()), "{rival}: {:?}", found.theta);
    if let Some(weights) = &found.weights {
        assert_eq!(weights.len(), n_clients, "{rival}");
        assert!(weights.iter().all(|w| (0.0..=1.0).contains(w)), "{rival}: {weights:?}");
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{rival}: {weights:?}");
    }
}

#[test]
fn every_rival_has_a_finite_model_for_any_groups_criterion_and_number_of_clients() {
    let two = population(3000);
    let layout = two.layout().clone();
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    let three = Layout { groups: Groups::new(names, 1).unwrap(), ..layout.clone() };
    let blind = Layout { as_feature: false, ..layout.clone() };
    let no_intercept = Layout { intercept: false, ..layout };
    let views = [
        regrouped(&two, three, true),
        regrouped(&two, blind, false),
        regrouped(&two, no_intercept, false),
        two,
    ];
    for population in &views {
        for name in ["sp", "eo", "fpr", "equalized-odds", "sp:0.5,eo:0.5"] {
            let fairness: Fairness = name.parse().unwrap();
            let scenario = scenario(population, 5, fairness, 1);
            let all = RivalInput::new(&scenario, fairness, LAMBDA).unwrap();
            for n_clients in 1..=5 {
                let mut input = all.clone();
                input.proxies.truncate(n_clients);
                input.roots.truncate(n_clients);
                input.models.truncate(n_clients);
                for rival in Rival::ALL {
                    let found = rival.run(&input).unwrap();
                    assert_sound(*rival, &found, population.layout().n(), n_clients);
                    assert_eq!(found, rival.run(&input).unwrap(), "{rival} is not deterministic");
                }
            }
        }
    }
}

#[test]
fn robust_rivals_resist_one_wild_client() {
    const ROBUST: [Rival; 10] = [
        Rival::CoordinateMedian,
        Rival::TrimmedMean,
        Rival::GeometricMedian,
        Rival::Krum,
        Rival::MultiKrum,
        Rival::Bulyan,
        Rival::Fltrust,
        Rival::Fedlaw,
        Rival::Flram,
        Rival::Fedcc,
    ];
    let population = population(6000);
    for (n_clients, seed) in [(5, 1), (5, 2), (8, 3)] {
        let scenario = scenario(&population, n_clients, Fairness::SP, seed);
        let test = scenario.test_rows().unwrap();
        let accuracy = |theta: &[f64]| Metrics::of(theta, &test).unwrap().accuracy.unwrap().value;
        let honest = RivalInput::new(&scenario, Fairness::SP, LAMBDA).unwrap();
        // A model that decides the opposite, far longer than any other.
        let mut attacked = honest.clone();
        attacked.models[1].iter_mut().for_each(|t| *t *= -100.0);

        let mean: Vec<f64> = (0..population.layout().n())
            .map(|j| attacked.models.iter().map(|theta| theta[j]).sum::<f64>())
            .collect();
        assert!(accuracy(&mean) < 0.5, "the attack spoils an average: {}", accuracy(&mean));
        for rival in ROBUST {
            let before = accuracy(&rival.run(&honest).unwrap().theta);
            let found = rival.run(&attacked).unwrap();
            let after = accuracy(&found.theta);
            assert!(after > before - 0.03, "{rival}, {n_clients} clients: {before} and {after}");
            if let Some(weights) = found.weights {
                assert!(weights[1] < 0.01, "{rival}: {weights:?}");
            }
        }
    }
}

#[test]
fn a_model_that_is_not_finite_is_an_error() {
    let scenario = scenario(&population(2000), 3, Fairness::SP, 1);
    let good = RivalInput::new(&scenario, Fairness::SP, LAMBDA).unwrap();
    for value in [f64::NAN, f64::INFINITY] {
        let mut input = good.clone();
        input.models[1][0] = value;
        for rival in Rival::ALL {
            let message = rival.run(&input).unwrap_err().to_string();
            assert!(message.contains("finite"), "{rival}: {message}");
        }
    }
    let nobody =
        RivalInput { proxies: Vec::new(), roots: Vec::new(), models: Vec::new(), ..good.clone() };
    let short = RivalInput { roots: good.roots[..2].to_vec(), ..good.clone() };
    for rival in Rival::ALL {
        assert!(rival.run(&nobody).unwrap_err().to_string().contains("no clients"));
        assert!(rival.run(&short).unwrap_err().to_string().contains("expected 3 clients, found 2"));
    }
}

/// Extreme but finite models must give a finite model or an error, and must not panic.
#[test]
fn extreme_models_do_not_panic() {
    let scenario = scenario(&population(2000), 5, Fairness::EO, 1);
    let good = RivalInput::new(&scenario, Fairness::EO, LAMBDA).unwrap();
    for scale in [0.0, 1e-300, 1e100, 1e200, 1e300, f64::MAX] {
        let mut input = good.clone();
        input.models[0].iter_mut().for_each(|t| *t = t.signum() * scale);
        input.models[3].iter_mut().for_each(|t| *t = -t.signum() * scale);
        for rival in Rival::ALL {
            match rival.run(&input) {
                Ok(found) => assert_sound(*rival, &found, good.models[0].len(), 5),
                Err(error) => assert!(error.to_string().contains("finite"), "{rival}: {error}"),
            }
        }
    }
}

#[test]
fn a_thousand_clients_are_affordable() {
    let scenario = scenario(&population(3000), 5, Fairness::SP, 1);
    let few = RivalInput::new(&scenario, Fairness::SP, LAMBDA).unwrap();
    // Every client's model differs a little from one of the five.
    let model = |c: usize| -> Vec<f64> {
        let wave = |j: usize| 1.0 + 0.05 * ((c * 31 + j * 17) as f64).sin();
        few.models[c % 5].iter().enumerate().map(|(j, t)| t * wave(j)).collect()
    };
    let input = RivalInput {
        proxies: (0..1000).map(|c| few.proxies[c % 5]).collect(),
        roots: (0..1000).map(|c| few.roots[c % 5]).collect(),
        models: (0..1000).map(model).collect(),
        ..few.clone()
    };
    for rival in Rival::ALL {
        let started = Instant::now();
        let found = rival.run(&input).unwrap();
        let seconds = started.elapsed().as_secs_f64();
        println!("{:<20} {seconds:7.3} s", rival.name());
        assert_sound(*rival, &found, few.models[0].len(), 1000);
        assert!(seconds < 60.0, "{rival} took {seconds} s");
    }
}

#[test]
fn names_are_distinct_and_as_in_json() {
    for (i, rival) in Rival::ALL.iter().enumerate() {
        assert_eq!(serde_json::to_value(rival).unwrap(), rival.name());
        assert!(!rival.description().is_empty());
        for other in &Rival::ALL[..i] {
            assert_ne!(rival.name(), other.name());
        }
    }
}

/// Accuracy, balanced accuracy and gap, summed over seeds.
#[derive(Clone, Copy, Default)]
struct Line([f64; 3]);

impl Line {
    fn add(&mut self, theta: &[f64], test: &Rows, fairness: Fairness) {
        let metrics = Metrics::of(theta, test).unwrap();
        let value = |estimate: &Option<equipoise_core::Estimate>| estimate.as_ref().unwrap().value;
        self.0[0] += value(&metrics.accuracy);
        self.0[1] += value(&metrics.balanced_accuracy);
        self.0[2] += unfairness(&metrics, fairness);
    }
}

#[test]
fn rivals_on_the_papers_datasets() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let has_data = data.join("law_school.csv").exists() && data.join("dutch.csv").exists();
    if std::env::var_os("EQUIPOISE_FULL").is_none() || !has_data {
        println!("skipped: needs EQUIPOISE_FULL=1 and the datasets");
        return;
    }
    let sources = Sources { data: vec![data], schema: None, n_people: 0 };
    for rate in [0.4, 0.6] {
        print_table(&sources, rate);
    }
}

const SEEDS: u64 = 3;

/// Prints a table of all rivals and three defenses, with this share of clients sending raw rows.
fn print_table(sources: &Sources, rate: f64) {
    let defenses = [Defense::Pooled, Defense::Tilt, Defense::Bilevel];
    let cells =
        [("law-school", Fairness::SP), ("dutch", Fairness::SP), ("law-school", Fairness::EO)];
    let titles = defenses.iter().map(Defense::title).chain(Rival::ALL.iter().map(Choice::name));
    let titles: Vec<&str> = titles.collect();
    let mut table = vec![vec![Line::default(); cells.len()]; titles.len()];
    for (column, (dataset, fairness)) in cells.into_iter().enumerate() {
        let population = sources.load(dataset, Preprocessing::OneHot).unwrap();
        for seed in 1..=SEEDS {
            let settings = ScenarioSettings {
                generator: Generator::Target,
                ..ScenarioSettings::new(ScenarioKind::Realistic, fairness, rate, seed)
            };
            let scenario = Scenario::build(&population, &settings, &mut |_, _| {}).unwrap();
            let (round, test) = (scenario.round().unwrap(), scenario.test_rows().unwrap());
            let mut lines = table.iter_mut().map(|line| &mut line[column]);
            for (defense, line) in defenses.into_iter().zip(lines.by_ref()) {
                let settings = Settings { defense, ..Settings::new(fairness) }.validate().unwrap();
                let outcome = solve(&round, &settings, &mut NoopObserver).unwrap();
                line.add(&outcome.theta, &test, fairness);
            }
            let input = RivalInput::new(&scenario, fairness, LAMBDA).unwrap();
            for (rival, line) in Rival::ALL.iter().zip(lines) {
                line.add(&rival.run(&input).unwrap().theta, &test, fairness);
            }
        }
    }
    println!(
        "accuracy / balanced accuracy / |gap|, mean of seeds 1 to {SEEDS}, raw rows from {rate}"
    );
    println!("| method | Law School SP | Dutch SP | Law School EO |\n| --- | --- | --- | --- |");
    for (title, lines) in titles.iter().zip(&table) {
        let cell = |Line([accuracy, balanced, gap]): &Line| {
            let n = SEEDS as f64;
            format!("{:.2} / {:.2} / {:.4}", 100.0 * accuracy / n, 100.0 * balanced / n, gap / n)
        };
        println!("| {title} | {} |", lines.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
    // Every method beats a coin.
    for (title, lines) in titles.iter().zip(&table) {
        for Line([accuracy, ..]) in lines {
            assert!(accuracy / SEEDS as f64 > 0.6, "{title}: {}", accuracy / SEEDS as f64);
        }
    }
}
