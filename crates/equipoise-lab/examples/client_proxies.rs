//! What the clients' proxies are worth before any defense: `client_proxies DATA [FIRST_SEED] [SEEDS] [TABLE]`.
//!
//! For each table and criterion, with two groups, four groups and a blind model, this averages over seeds:
//!
//! - `fair`: the mean of the models of the reliable clients' proxies, if 40 % of the clients are unreliable;
//! - `raw`: the mean of the same clients' own models;
//! - `central`: the fair model of all training rows together, which nobody has in practice;
//! - the error of refitted models, the change of a client's gap by refitting, and how well a nearest-neighbour attack
//!   tells a client's rows from others, as AUC (0.5: not at all).
//!
//! DATA is the folder of the paper's datasets.
#![allow(clippy::print_stdout)]

mod models;

use std::path::PathBuf;

use equipoise_core::{
    Fairness, InnerSettings, Metrics, NoopObserver, ProxySettings, Rows, fit_logistic,
    generate_proxy,
};
use equipoise_lab::{
    DATASETS, Generator, GroupView, Preprocessing, ScenarioKind, ScenarioSettings, Split,
};
use models::{Answer, mean_model};
use rayon::prelude::*;

/// Rows of each kind that the attack tries to tell apart.
const ATTACKED_ROWS: usize = 1500;

fn main() -> Answer<()> {
    let mut args = std::env::args().skip(1);
    let folder =
        PathBuf::from(args.next().ok_or("usage: client_proxies DATA [FIRST_SEED] [SEEDS]")?);
    let first: u64 = args.next().map_or(Ok(101), |text| text.parse())?;
    let seeds: u64 = args.next().map_or(Ok(5), |text| text.parse())?;
    let only = args.next().unwrap_or_default();
    println!(
        "{:34} {:>20} {:>8} {:>20} {:>8} {:>8} {:>6}",
        "accuracy / balanced / worst gap", "fair", "raw gap", "central", "refit", "gap +-", "AUC"
    );
    for (table, fairness) in
        [(0, "sp"), (0, "eo"), (1, "sp"), (1, "eo"), (0, "equalized-odds"), (1, "equalized-odds")]
    {
        for view in GroupView::ALL {
            let name = format!("{} {fairness}, {}", DATASETS[table].title, view.title());
            if !name.contains(&only) {
                continue;
            }
            let folder = [folder.clone()];
            let rows = DATASETS[table].load_view(&folder, Preprocessing::OneHot, view)?;
            let fairness: Fairness = fairness.parse()?;
            let figures = (first..first + seeds)
                .map(|seed| measure(&rows, fairness, seed))
                .collect::<Answer<Vec<_>>>()?;
            let mean = |of: fn(&Figures) -> f64| figures.iter().map(of).sum::<f64>() / seeds as f64;
            let worst = |of: fn(&Figures) -> f64| figures.iter().map(of).fold(0.0, f64::max);
            println!(
                "{name:34} {:6.2}/{:5.2}/{:.4} {:8.4} {:6.2}/{:5.2}/{:.4} {:8.0e} {:8.0e} {:6.3}",
                100.0 * mean(|f| f.fair.0),
                100.0 * mean(|f| f.fair.1),
                mean(|f| f.fair.2),
                mean(|f| f.raw_gap),
                100.0 * mean(|f| f.central.0),
                100.0 * mean(|f| f.central.1),
                mean(|f| f.central.2),
                worst(|f| f.refit_error),
                worst(|f| f.gap_change),
                mean(|f| f.attack_auc),
            );
        }
    }
    Ok(())
}

struct Figures {
    /// Accuracy, balanced accuracy and worst gap.
    fair: (f64, f64, f64),
    raw_gap: f64,
    central: (f64, f64, f64),
    refit_error: f64,
    gap_change: f64,
    attack_auc: f64,
}

fn measure(population: &Rows, fairness: Fairness, seed: u64) -> Answer<Figures> {
    let kind = ScenarioKind::Realistic;
    let settings = ScenarioSettings {
        generator: Generator::Target,
        ..ScenarioSettings::new(kind, fairness, 0.4, seed)
    };
    let split = Split::new(population, &settings)?;
    let scenario = split.scenario(kind, 0.4, &mut |_, _| ())?;
    let test = scenario.test_rows()?;
    let figures = |theta: &[f64]| -> Answer<(f64, f64, f64)> {
        let metrics = Metrics::of(theta, &test)?;
        let value = |figure: Option<equipoise_core::Estimate>| figure.map_or(f64::NAN, |e| e.value);
        let gap = metrics.gap(fairness).map_or(f64::NAN, |gap| gap.size());
        Ok((value(metrics.accuracy), value(metrics.balanced_accuracy), gap))
    };
    let gap_on = |theta: &[f64], rows: &Rows| -> Answer<f64> {
        Ok(Metrics::of(theta, rows)?.gap(fairness).map_or(f64::NAN, |gap| gap.size()))
    };

    let reliable: Vec<_> = scenario.clients.iter().filter(|client| client.reliable).collect();
    let (mut fair, mut raw) = (Vec::new(), Vec::new());
    let (mut refit_error, mut gap_change) = (0f64, 0f64);
    for client in &reliable {
        let summary = client.summary.as_ref().ok_or("a reliable client has a proxy")?;
        let server = InnerSettings { tolerance: 1e-11, ..InnerSettings::default() };
        let refitted = fit_logistic(&client.proxy, 1e-4, &server)?;
        refit_error = refit_error.max(summary.target_error.unwrap_or(f64::INFINITY));
        let promised = gap_on(&summary.theta, &client.train)?;
        gap_change = gap_change.max((gap_on(&refitted, &client.train)? - promised).abs());
        raw.push(summary.start_theta.clone());
        fair.push(refitted);
    }
    let train: Vec<&Rows> = scenario.clients.iter().map(|client| &client.train).collect();
    let central = ProxySettings::new(fairness);
    let central = generate_proxy(&Rows::concat(&train)?, &central, &mut NoopObserver)?;
    let outsiders = &scenario.clients[usize::from(scenario.clients[0].id == reliable[0].id)].train;
    Ok(Figures {
        fair: figures(&mean_model(&fair))?,
        raw_gap: figures(&mean_model(&raw))?.2,
        central: figures(&central.summary.theta)?,
        refit_error,
        gap_change,
        attack_auc: attack_auc(&reliable[0].proxy, &reliable[0].train, outsiders),
    })
}

/// How often a row of the client is closer to the proxy than a row of someone else. Ties count half.
fn attack_auc(proxy: &Rows, members: &Rows, outsiders: &Rows) -> f64 {
    let distances = |rows: &Rows| -> Vec<f64> {
        let step = (rows.len() / ATTACKED_ROWS).max(1);
        let chosen: Vec<usize> = (0..rows.len()).step_by(step).collect();
        let nearest = |&i: &usize| {
            let squared = |j: usize| -> f64 {
                rows.a(i).iter().zip(proxy.a(j)).map(|(a, b)| (a - b) * (a - b)).sum()
            };
            (0..proxy.len()).map(squared).fold(f64::INFINITY, f64::min)
        };
        chosen.par_iter().map(nearest).collect()
    };
    let (members, mut outsiders) = (distances(members), distances(outsiders));
    outsiders.sort_unstable_by(f64::total_cmp);
    let wins: f64 = members
        .iter()
        .map(|d| {
            let (below, up_to) =
                (outsiders.partition_point(|o| o < d), outsiders.partition_point(|o| o <= d));
            (outsiders.len() - up_to) as f64 + 0.5 * (up_to - below) as f64
        })
        .sum();
    wins / (members.len() * outsiders.len()) as f64
}
