//! What the clients' proxies are worth, before any defense and with the default one: `client_proxies DATA [FIRST_SEED] [SEEDS] [NAME] [CLIENTS] [RATE]`.
//!
//! For each table and criterion, with two groups, four groups and a blind model, this averages over seeds:
//!
//! - `fair`: the mean of the models of the reliable clients' proxies, if 40 % of the clients are unreliable;
//! - `raw`: the mean of the same clients' own models;
//! - `central`: the fair model of all training rows together, which nobody has in practice;
//! - `trust`: the model of the round, if the unreliable clients send their own rows;
//! - `below`: by how many points the balanced accuracy of `trust` is below that of `central`, as mean and maximum over the
//!   seeds;
//! - `refit`: the largest difference between a coefficient of a refitted model and of the target, over all proxies;
//! - `promise`: the largest difference, over all proxies, between the gap of a refitted model on the client's own data
//!   and the gap that the generator promises;
//! - `goal`: how far the gap of a proxy's model on the client's own data is from the remaining share of the gap of the
//!   client's own model, as mean and maximum over all proxies;
//! - `step`: half a row of each of the two smallest groups, as mean and maximum. Rates move in steps of one row, so a goal
//!   is missed by up to this if each group's rate is the closest to its own goal.
//!
//! DATA is the folder of the paper's datasets. NAME selects the lines that contain it. CLIENTS is K, RATE the setting
//! `towards_label_rate`.
#![allow(clippy::print_stdout)]

mod models;

use std::path::PathBuf;

use equipoise_core::{
    Client, Condition, Defense, Estimate, Fairness, InnerSettings, Metrics, NoopObserver,
    ProxySettings, Round, Rows, Settings, fit_logistic, generate_proxy, solve,
};
use equipoise_lab::{DATASETS, GroupView, Preprocessing, ScenarioKind, ScenarioSettings, Split};
use models::{Answer, mean_model};
use rayon::prelude::*;

const CRITERIA: [&str; 4] = ["sp", "eo", "fpr", "equalized-odds"];

fn main() -> Answer<()> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: client_proxies DATA [FIRST_SEED] [SEEDS] [NAME] [CLIENTS] [RATE]";
    let folder = [PathBuf::from(args.next().ok_or(usage)?)];
    let first: u64 = args.next().map_or(Ok(101), |text| text.parse())?;
    let seeds: u64 = args.next().map_or(Ok(5), |text| text.parse())?;
    let only = args.next().unwrap_or_default();
    let n_clients: usize = args.next().map_or(Ok(5), |text| text.parse())?;
    let towards_label_rate: f64 = args.next().map_or(Ok(0.0), |text| text.parse())?;
    println!(
        "{:38} {:>18} {:>18} {:>18} {:>18} {:>11} {:>6} {:>7} {:>13} {:>13}",
        "accuracy / balanced / worst gap",
        "fair",
        "raw",
        "central",
        "trust",
        "below",
        "refit",
        "promise",
        "goal",
        "step"
    );
    for dataset in DATASETS {
        for fairness in CRITERIA {
            for view in GroupView::ALL {
                let name = format!("{} {fairness}, {}", dataset.title, view.title());
                if !name.contains(&only) {
                    continue;
                }
                let rows = dataset.load_view(&folder, Preprocessing::OneHot, view)?;
                let settings =
                    ProxySettings { towards_label_rate, ..ProxySettings::new(fairness.parse()?) };
                let figures = (first..first + seeds)
                    .map(|seed| measure(&rows, &settings, n_clients, seed))
                    .collect::<Answer<Vec<_>>>()?;
                println!("{name:38} {}", line(&figures));
            }
        }
    }
    Ok(())
}

struct Figures {
    /// Accuracy, balanced accuracy and worst gap.
    fair: [f64; 3],
    raw: [f64; 3],
    central: [f64; 3],
    trust: [f64; 3],
    refit_error: f64,
    broken_promise: f64,
    /// For each client.
    goal_misses: Vec<f64>,
    steps: Vec<f64>,
}

fn measure(
    population: &Rows,
    settings: &ProxySettings,
    n_clients: usize,
    seed: u64,
) -> Answer<Figures> {
    let (kind, fairness) = (ScenarioKind::Realistic, settings.fairness);
    let scenario =
        ScenarioSettings { n_clients, ..ScenarioSettings::new(kind, fairness, 0.4, seed) };
    // Without reliable clients, the split makes no proxies of its own.
    let mut clients =
        Split::new(population, &scenario)?.scenario(kind, 1.0, &mut |_, _| ())?.clients;
    clients.sort_by(|a, b| b.unfairness.total_cmp(&a.unfairness));
    let reliable = &clients[scenario.n_unreliable()..];
    let test: Vec<&Rows> = reliable.iter().map(|client| &client.test).collect();
    let test = Rows::concat(&test)?;
    let train: Vec<&Rows> = clients.iter().map(|client| &client.train).collect();
    let made = reliable
        .par_iter()
        .enumerate()
        .map(|(number, client)| {
            let seed = seed.wrapping_mul(1_000_003).wrapping_add(number as u64);
            let settings = ProxySettings { seed, ..*settings };
            let made = generate_proxy(&client.train, &settings, &mut NoopObserver)?;
            let server = InnerSettings { tolerance: 1e-11, ..InnerSettings::default() };
            let refitted = fit_logistic(&made.rows, settings.lambda, &server)?;
            Ok((made, refitted))
        })
        .collect::<Result<Vec<_>, equipoise_core::Error>>()?;

    let (mut refit_error, mut broken_promise) = (0f64, 0f64);
    let (mut goal_misses, mut steps) = (Vec::new(), Vec::new());
    for (client, (made, refitted)) in reliable.iter().zip(&made) {
        let summary = &made.summary;
        let gap = |theta: &[f64]| figures(theta, &client.train, fairness).map(|f| f[2]);
        refit_error = refit_error.max(summary.target_error.unwrap_or(f64::INFINITY));
        let promised = summary.promised_gap.unwrap_or(f64::INFINITY);
        broken_promise = broken_promise.max((gap(refitted)? - promised).abs());
        let goal = settings.remaining_gap * gap(&summary.start_theta)?;
        goal_misses.push((gap(refitted)? - goal).abs());
        steps.push(step(&client.train, fairness));
    }
    let fair: Vec<Vec<f64>> = made.iter().map(|(_, theta)| theta.clone()).collect();
    let raw: Vec<Vec<f64>> =
        made.iter().map(|(made, _)| made.summary.start_theta.clone()).collect();
    let central = generate_proxy(&Rows::concat(&train)?, settings, &mut NoopObserver)?;
    let sent = made.into_iter().map(|(made, _)| made.rows);
    let sent =
        clients[..scenario.n_unreliable()].iter().map(|client| client.train.clone()).chain(sent);
    let sent = clients.iter().zip(sent).map(|(client, proxy)| Client {
        id: client.id.clone(),
        proxy,
        root: client.root.clone(),
    });
    let round = Round::new(sent.collect())?;
    let defense = Settings { defense: Defense::Trust, ..Settings::new(fairness) }.validate()?;
    let trust = solve(&round, &defense, &mut NoopObserver)?;
    Ok(Figures {
        fair: figures(&mean_model(&fair), &test, fairness)?,
        raw: figures(&mean_model(&raw), &test, fairness)?,
        central: figures(&central.summary.theta, &test, fairness)?,
        trust: figures(&trust.theta, &test, fairness)?,
        refit_error,
        broken_promise,
        goal_misses,
        steps,
    })
}

/// Half a row of each of the two smallest groups under a condition, for the condition with the smallest ones.
fn step(rows: &Rows, fairness: Fairness) -> f64 {
    let of = |(condition, _): (Condition, f64)| {
        let count = |cell: &[usize; 2]| -> usize {
            let labels = [false, true].into_iter().zip(cell);
            labels.filter(|(label, _)| condition.includes(*label)).map(|(_, n)| n).sum()
        };
        let mut counts: Vec<usize> = rows.cell_counts().iter().map(count).collect();
        counts.retain(|n| *n > 0);
        counts.sort_unstable();
        counts.iter().take(2).map(|n| 0.5 / *n as f64).sum::<f64>()
    };
    fairness.conditions().map(of).fold(0.0, f64::max)
}

fn figures(theta: &[f64], rows: &Rows, fairness: Fairness) -> Answer<[f64; 3]> {
    let metrics = Metrics::of(theta, rows)?;
    let value = |figure: Option<Estimate>| figure.map_or(f64::NAN, |e| e.value);
    let gap = metrics.gap(fairness).map_or(f64::NAN, |gap| gap.size());
    Ok([value(metrics.accuracy), value(metrics.balanced_accuracy), gap])
}

fn line(figures: &[Figures]) -> String {
    let three = |of: fn(&Figures) -> [f64; 3]| {
        let mean = |i: usize| figures.iter().map(|f| of(f)[i]).sum::<f64>() / figures.len() as f64;
        format!("{:5.2}/{:5.2}/{:.4}", 100.0 * mean(0), 100.0 * mean(1), mean(2))
    };
    let worst = |of: fn(&Figures) -> f64| figures.iter().map(of).fold(0.0, f64::max);
    let mean_and_worst = |of: fn(&Figures) -> &[f64]| {
        let all: Vec<f64> = figures.iter().flat_map(|f| of(f).iter().copied()).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        format!("{mean:.4}/{:.4}", all.iter().copied().fold(0.0, f64::max))
    };
    let below: Vec<f64> = figures.iter().map(|f| 100.0 * (f.central[1] - f.trust[1])).collect();
    let below = format!(
        "{:5.2}/{:5.2}",
        below.iter().sum::<f64>() / below.len() as f64,
        below.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    );
    format!(
        "{:>18} {:>18} {:>18} {:>18} {below:>11} {:6.0e} {:7.0e} {:>13} {:>13}",
        three(|f| f.fair),
        three(|f| f.raw),
        three(|f| f.central),
        three(|f| f.trust),
        worst(|f| f.refit_error),
        worst(|f| f.broken_promise),
        mean_and_worst(|f| &f.goal_misses),
        mean_and_worst(|f| &f.steps),
    )
}
