//! Rounds with four groups, blind models and populations of three groups: `group_rounds DATA [FIRST_SEED] [SEEDS] [FILTER]`.
//!
//! With 40 % of the clients unreliable, prints the mean accuracy, balanced accuracy and worst gap on the test rows of the
//! reliable clients, for each defense and for the fair model of all training rows together (which nobody has in
//! practice), and in how many rounds the gap of `trust` is at most half of that of all proxies pooled, and of all training
//! rows pooled.
//!
//! DATA is the folder of the paper's datasets.
#![allow(clippy::print_stdout)]

mod models;

use std::path::PathBuf;

use equipoise_core::{
    Defense, Fairness, Groups, InnerSettings, Layout, Metrics, NoopObserver, ProxySettings, Rows,
    Settings, fit_logistic, generate_proxy, solve,
};
use equipoise_lab::{
    DATASETS, Generator, GroupView, Preprocessing, ScenarioKind, ScenarioSettings, Split,
};
use models::Answer;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

const DEFENSES: [Defense; 3] = [Defense::Pooled, Defense::Bilevel, Defense::Trust];

fn main() -> Answer<()> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: group_rounds DATA [FIRST_SEED] [SEEDS] [FILTER]";
    let folder = [PathBuf::from(args.next().ok_or(usage)?)];
    let first: u64 = args.next().map_or(Ok(1), |text| text.parse())?;
    let seeds: u64 = args.next().map_or(Ok(10), |text| text.parse())?;
    let filter = args.next().unwrap_or_default();
    println!(
        "accuracy / balanced / worst gap; raw: pooled training rows; central: fair model of them"
    );
    for fairness in ["sp", "eo", "equalized-odds"] {
        let fairness: Fairness = fairness.parse()?;
        for dataset in DATASETS {
            for view in [GroupView::Four, GroupView::Blind] {
                let name = format!("{} {}, {}", dataset.title, fairness.name(), view.title());
                if name.contains(&filter) {
                    let rows = dataset.load_view(&folder, Preprocessing::OneHot, view)?;
                    report(&name, fairness, first..first + seeds, &|_| Ok(rows.clone()))?;
                }
            }
        }
        for blind in [false, true] {
            let view = if blind { "blind" } else { "three groups" };
            let name = format!("Synthetic {}, {view}", fairness.name());
            if name.contains(&filter) {
                report(&name, fairness, first..first + seeds, &|seed| {
                    three_groups(40_000, seed, !blind)
                })?;
            }
        }
    }
    Ok(())
}

type Figures = (f64, f64, f64);

fn report(
    name: &str,
    fairness: Fairness,
    seeds: std::ops::Range<u64>,
    population: &dyn Fn(u64) -> Answer<Rows>,
) -> Answer<()> {
    let n = (seeds.end - seeds.start) as f64;
    let rounds = seeds
        .map(|seed| measure(&population(seed)?, fairness, seed))
        .collect::<Answer<Vec<_>>>()?;
    let mean = |of: &dyn Fn(&Round) -> Figures| {
        let sum =
            rounds.iter().map(of).fold((0.0, 0.0, 0.0), |s, f| (s.0 + f.0, s.1 + f.1, s.2 + f.2));
        format!("{:5.2}/{:5.2}/{:.4}", 100.0 * sum.0 / n, 100.0 * sum.1 / n, sum.2 / n)
    };
    let halves = |of: fn(&Round) -> Figures| {
        rounds.iter().filter(|round| round.defenses[2].2 <= 0.5 * of(round).2).count()
    };
    println!(
        "{name}: of {n} rounds, trust halves the gap of all proxies pooled in {}, of all rows in {}",
        halves(|round| round.defenses[0]),
        halves(|round| round.raw)
    );
    for (i, defense) in DEFENSES.iter().enumerate() {
        println!("  {:10} {}", defense.to_string(), mean(&|round| round.defenses[i]));
    }
    println!("  {:10} {}", "raw", mean(&|round| round.raw));
    println!("  {:10} {}", "central", mean(&|round| round.central));
    Ok(())
}

struct Round {
    defenses: [Figures; 3],
    raw: Figures,
    central: Figures,
}

fn measure(population: &Rows, fairness: Fairness, seed: u64) -> Answer<Round> {
    let kind = ScenarioKind::Realistic;
    let settings = ScenarioSettings {
        generator: Generator::Target,
        ..ScenarioSettings::new(kind, fairness, 0.4, seed)
    };
    let scenario = Split::new(population, &settings)?.scenario(kind, 0.4, &mut |_, _| ())?;
    let test = scenario.test_rows()?;
    let figures = |theta: &[f64]| -> Answer<Figures> {
        let metrics = Metrics::of(theta, &test)?;
        let value = |figure: Option<equipoise_core::Estimate>| figure.map_or(f64::NAN, |e| e.value);
        let gap = metrics.gap(fairness).map_or(f64::NAN, |gap| gap.size());
        Ok((value(metrics.accuracy), value(metrics.balanced_accuracy), gap))
    };
    let round = scenario.round()?;
    let mut defenses = [(0.0, 0.0, 0.0); 3];
    for (found, defense) in defenses.iter_mut().zip(DEFENSES) {
        let settings = Settings { defense, ..Settings::new(fairness) }.validate()?;
        *found = figures(&solve(&round, &settings, &mut NoopObserver)?.theta)?;
    }
    let train: Vec<&Rows> = scenario.clients.iter().map(|client| &client.train).collect();
    let train = Rows::concat(&train)?;
    let central = generate_proxy(&train, &ProxySettings::new(fairness), &mut NoopObserver)?;
    Ok(Round {
        defenses,
        raw: figures(&fit_logistic(&train, 1e-4, &InnerSettings::default())?)?,
        central: figures(&central.summary.theta)?,
    })
}

/// A random population of three groups, of which each has other features, base rates and treatment.
fn three_groups(n_rows: usize, seed: u64, as_feature: bool) -> Answer<Rows> {
    const N_X: usize = 6;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let normal = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
    let direction: Vec<f64> = (0..N_X).map(|_| 0.5 * normal(&mut rng)).collect();
    let shifts: Vec<Vec<f64>> =
        (0..3).map(|_| (0..N_X).map(|_| 0.3 * normal(&mut rng)).collect()).collect();
    let treatment: Vec<f64> =
        (0..3).map(|g| 0.6 * g as f64 - 0.6 + 0.2 * normal(&mut rng)).collect();
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
        let row: Vec<f64> = shifts[group].iter().map(|shift| shift + normal(&mut rng)).collect();
        let score: f64 = row.iter().zip(&direction).map(|(a, b)| a * b).sum();
        let chance = 1.0 / (1.0 + (-(1.5 * score + treatment[group])).exp());
        positive.push(rng.random::<f64>() < chance);
        groups.push(group as u8);
        x.extend(row);
    }
    let names = ["first", "second", "third"].map(str::to_owned);
    let groups_named = Groups::new(names.into(), 2)?;
    let layout = Layout { n_x: N_X, groups: groups_named, as_feature, intercept: true };
    Ok(Rows::new(layout, &x, &groups, &positive)?)
}
