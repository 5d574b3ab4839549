//! Rounds with four groups, blind models and populations of three groups: `group_rounds DATA [FIRST_SEED] [SEEDS] [FILTER]`.
//!
//! With 40 % of the clients unreliable, prints the mean accuracy, balanced accuracy and worst gap on the test rows of the
//! reliable clients, for each defense and for two models that nobody has in practice (the mean of the reliable clients'
//! models, and the fair model of all training rows), and in how many rounds the gap of each is at most half of that of
//! all proxies pooled. Then the gaps of each round, with the standard error of tilt's and the weight it gives to unreliable
//! clients. Synthetic populations are measured on a million fresh rows as well: there, the gap has hardly any error.
//!
//! DATA is the folder of the paper's datasets.
#![allow(clippy::print_stdout)]

mod models;
mod views;

use std::path::PathBuf;

use equipoise_core::{
    Defense, Fairness, Groups, InnerSettings, Layout, Metrics, NoopObserver, Rows, Settings,
    fit_logistic, solve,
};
use equipoise_lab::{DATASETS, Generator, Preprocessing, ScenarioKind, ScenarioSettings, Split};
use models::{Answer, mean_model};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use views::{GroupView, load_view};

const DEFENSES: [Defense; 3] = [Defense::Pooled, Defense::Bilevel, Defense::Tilt];

fn main() -> Answer<()> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: group_rounds DATA [FIRST_SEED] [SEEDS] [FILTER]";
    let folder = [PathBuf::from(args.next().ok_or(usage)?)];
    let first: u64 = args.next().map_or(Ok(1), |text| text.parse())?;
    let seeds: u64 = args.next().map_or(Ok(10), |text| text.parse())?;
    let filter = args.next().unwrap_or_default();
    println!(
        "accuracy/balanced/worst gap; reliable: mean of the reliable clients' models; central: fair model of all training \
         rows; raw: model of them"
    );
    for fairness in ["sp", "eo", "equalized-odds"] {
        let fairness: Fairness = fairness.parse()?;
        for dataset in DATASETS {
            for view in [GroupView::Four, GroupView::Blind] {
                let name = format!("{} {}, {}", dataset.title, fairness.name(), view.title());
                if name.contains(&filter) {
                    let rows = load_view(&dataset, &folder, Preprocessing::OneHot, view)?;
                    report(&name, fairness, first..first + seeds, &|_| {
                        Ok(Population { rows: rows.clone(), fresh: None })
                    })?;
                }
            }
        }
        for blind in [false, true] {
            let view = if blind { "blind" } else { "three groups" };
            let name = format!("Synthetic {}, {view}", fairness.name());
            if name.contains(&filter) {
                report(&name, fairness, first..first + seeds, &|seed| {
                    let [rows, fresh] = three_groups([40_000, FRESH_ROWS], seed, !blind)?;
                    Ok(Population { rows, fresh: Some(fresh) })
                })?;
            }
        }
    }
    Ok(())
}

/// The models of a round, in the order of [`Round::models`].
const NAMES: [&str; 6] = ["pooled", "bilevel", "tilt", "reliable", "central", "raw"];
const POOLED: usize = 0;
const TILT: usize = 2;
const RAW: usize = 5;

/// Fresh rows of a synthetic population. The error of a gap on them is about .001.
const FRESH_ROWS: usize = 1_000_000;

/// The rows of a population, and a large fresh sample of it if it is synthetic.
struct Population {
    rows: Rows,
    fresh: Option<Rows>,
}

fn report(
    name: &str,
    fairness: Fairness,
    seeds: std::ops::Range<u64>,
    population: &dyn Fn(u64) -> Answer<Population>,
) -> Answer<()> {
    let rounds = seeds
        .clone()
        .map(|seed| measure(&population(seed)?, fairness, seed))
        .collect::<Answer<Vec<_>>>()?;
    let measured_on: &[fn(&Round) -> &[Figures; 6]] =
        &[|r| &r.test, |r| r.fresh.as_ref().unwrap_or(&r.test)];
    let is_synthetic = rounds.iter().all(|round| round.fresh.is_some());
    for (on, of) in
        ["test rows", "fresh rows"].iter().zip(measured_on).take(1 + usize::from(is_synthetic))
    {
        let n = rounds.len();
        let halved = |model: usize, other: usize| {
            rounds.iter().filter(|round| of(round)[model].gap <= 0.5 * of(round)[other].gap).count()
        };
        println!(
            "{name}, {on}: of {n} rounds, tilt halves the gap of all proxies pooled in {}, of all rows in {}",
            halved(TILT, POOLED),
            halved(TILT, RAW)
        );
        for (model, name) in NAMES.iter().enumerate() {
            let mean = |figure: fn(&Figures) -> f64| {
                rounds.iter().map(|round| figure(&of(round)[model])).sum::<f64>() / n as f64
            };
            println!(
                "  {name:10} {:5.2}/{:5.2}/{:.4}, halves pooled in {}",
                100.0 * mean(|f| f.accuracy),
                100.0 * mean(|f| f.balanced),
                mean(|f| f.gap),
                halved(model, POOLED)
            );
        }
        for (seed, round) in seeds.clone().zip(&rounds) {
            let gaps: Vec<String> = NAMES
                .iter()
                .zip(of(round))
                .map(|(name, f)| format!("{name} {:.4}", f.gap))
                .collect();
            println!(
                "    seed {seed}: {}; error of tilt's {:.4}; unreliable weight {:.3}",
                gaps.join(", "),
                of(round)[TILT].error,
                round.unreliable_weight
            );
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Figures {
    accuracy: f64,
    balanced: f64,
    /// Size of the worst gap.
    gap: f64,
    /// The gap's standard error.
    error: f64,
}

struct Round {
    test: [Figures; 6],
    fresh: Option<[Figures; 6]>,
    unreliable_weight: f64,
}

fn measure(population: &Population, fairness: Fairness, seed: u64) -> Answer<Round> {
    let kind = ScenarioKind::Realistic;
    let settings = ScenarioSettings {
        generator: Generator::Target,
        ..ScenarioSettings::new(kind, fairness, 0.4, seed)
    };
    let split = Split::new(&population.rows, &settings)?;
    let scenario = split.scenario(kind, 0.4, &mut |_, _| ())?;
    let round = scenario.round()?;
    let (mut models, mut weights) = (Vec::new(), Vec::new());
    for defense in DEFENSES {
        let settings = Settings { defense, ..Settings::new(fairness) }.validate()?;
        let outcome = solve(&round, &settings, &mut NoopObserver)?;
        weights = outcome.weights();
        models.push(outcome.theta);
    }
    let settings = Settings::new(fairness);
    let reliable = scenario.clients.iter().filter(|client| client.reliable);
    let reliable = reliable
        .map(|client| fit_logistic(&client.proxy, settings.lambda, &settings.inner))
        .collect::<Result<Vec<_>, _>>()?;
    let train: Vec<&Rows> = scenario.clients.iter().map(|client| &client.train).collect();
    models.push(mean_model(&reliable));
    models.push(split.central_fair_model()?);
    models.push(fit_logistic(&Rows::concat(&train)?, 1e-4, &InnerSettings::default())?);
    let on = |rows: &Rows| -> Answer<[Figures; 6]> {
        let mut found = [Figures { accuracy: 0.0, balanced: 0.0, gap: 0.0, error: 0.0 }; 6];
        for (found, theta) in found.iter_mut().zip(&models) {
            *found = figures(theta, rows, fairness)?;
        }
        Ok(found)
    };
    Ok(Round {
        test: on(&scenario.test_rows()?)?,
        fresh: population.fresh.as_ref().map(on).transpose()?,
        // Tilt is the last of the defenses.
        unreliable_weight: scenario.unreliable_weight(&weights),
    })
}

fn figures(theta: &[f64], rows: &Rows, fairness: Fairness) -> Answer<Figures> {
    let metrics = Metrics::of(theta, rows)?;
    let value = |figure: Option<equipoise_core::Estimate>| figure.map_or(f64::NAN, |e| e.value);
    let gap = metrics.gap(fairness).ok_or("the gap cannot be measured")?;
    let of_pair = metrics.groups.iter().filter(|group| gap.groups.contains(&group.name));
    let variance: f64 = of_pair
        .map(|group| {
            let (counts, rate) = (group.counts(gap.condition), value(group.rate(gap.condition)));
            rate * (1.0 - rate) / counts.n as f64
        })
        .sum();
    Ok(Figures {
        accuracy: value(metrics.accuracy),
        balanced: value(metrics.balanced_accuracy),
        gap: gap.size(),
        error: variance.sqrt(),
    })
}

/// Two samples of a random population of three groups, of which each has other features, base rates and treatment.
fn three_groups(n_rows: [usize; 2], seed: u64, as_feature: bool) -> Answer<[Rows; 2]> {
    const N_X: usize = 6;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let normal = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
    let direction: Vec<f64> = (0..N_X).map(|_| 0.5 * normal(&mut rng)).collect();
    let shifts: Vec<Vec<f64>> =
        (0..3).map(|_| (0..N_X).map(|_| 0.3 * normal(&mut rng)).collect()).collect();
    let treatment: Vec<f64> =
        (0..3).map(|g| 0.6 * g as f64 - 0.6 + 0.2 * normal(&mut rng)).collect();
    let names = ["first", "second", "third"].map(str::to_owned);
    let groups = Groups::new(names.into(), 2)?;
    let layout = Layout { n_x: N_X, groups, as_feature, intercept: true };
    let mut sample = |n_rows: usize| -> Answer<Rows> {
        let (mut x, mut groups, mut positive) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..n_rows {
            let drawn: f64 = rng.random();
            let group = if drawn < 0.55 {
                2
            } else if drawn < 0.8 {
                1
            } else {
                0
            };
            let row: Vec<f64> =
                shifts[group].iter().map(|shift| shift + normal(&mut rng)).collect();
            let score: f64 = row.iter().zip(&direction).map(|(a, b)| a * b).sum();
            let chance = 1.0 / (1.0 + (-(1.5 * score + treatment[group])).exp());
            positive.push(rng.random::<f64>() < chance);
            groups.push(group as u8);
            x.extend(row);
        }
        Ok(Rows::new(layout.clone(), &x, &groups, &positive)?)
    };
    Ok([sample(n_rows[0])?, sample(n_rows[1])?])
}
