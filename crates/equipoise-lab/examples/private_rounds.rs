//! What differential privacy costs a round: `private_rounds DATA [FIRST_SEED] [SEEDS] [NAME] [EPSILONS]`.
//!
//! The paper's scenario with 40 % of the clients unreliable, one-hot encoding and the default defense. Reliable clients send private
//! proxies (δ = 1e-6), unreliable ones their own rows. For each ε (`none`: without noise), means over seeds: accuracy,
//! balanced accuracy and worst gap of the global model on the test rows of the reliable clients, the same for the average of
//! the reliable clients' models, the mean AUC of their models, and the weight of the unreliable clients.
//!
//! DATA is the folder of the paper's datasets. NAME selects the lines that contain it. EPSILONS is a list with commas.
#![allow(clippy::print_stdout)]

mod models;

use std::path::PathBuf;

use equipoise_core::{
    Client, ClientData, Defense, EncodedColumns, Estimate, Fairness, InnerSettings, Metrics,
    NoopObserver, Privacy, ProxySettings, Round, Rows, Settings, fit_logistic, generate_proxy,
    solve,
};
use equipoise_lab::{DATASETS, Preprocessing, ScenarioKind, ScenarioSettings, Split};
use models::{Answer, mean_model};
use rayon::prelude::*;

const EPSILONS: &str = "0.5,1,2,3,5,8,10,none";

fn main() -> Answer<()> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: private_rounds DATA [FIRST_SEED] [SEEDS] [NAME] [EPSILONS]";
    let folder = [PathBuf::from(args.next().ok_or(usage)?)];
    let first: u64 = args.next().map_or(Ok(1), |text| text.parse())?;
    let seeds: u64 = args.next().map_or(Ok(5), |text| text.parse())?;
    let only = args.next().unwrap_or_default();
    let epsilons = args.next().unwrap_or_else(|| EPSILONS.to_owned());
    println!(
        "{:24} {:>24} {:>24} {:>6} {:>10}",
        "accuracy, balanced, gap", "global model", "average of the reliable", "AUC", "unreliable"
    );
    for dataset in DATASETS {
        let rows = dataset.load(&folder, Preprocessing::OneHot)?;
        let columns = dataset.schema_for(&folder, Preprocessing::OneHot)?.encoded_columns();
        for fairness in ["sp", "eo"] {
            for epsilon in epsilons.split(',') {
                let name = format!("{} {fairness}, ε = {epsilon}", dataset.title);
                if !name.contains(&only) {
                    continue;
                }
                let epsilon = epsilon.parse().ok();
                let measured = (first..first + seeds)
                    .map(|seed| measure(&rows, &columns, fairness.parse()?, epsilon, seed))
                    .collect::<Answer<Vec<_>>>()?;
                println!("{name:24} {}", line(&measured));
            }
        }
    }
    Ok(())
}

/// Figures of one round: the global model's, the average's, AUC and weight.
type Figures = [f64; 8];

fn measure(
    population: &Rows,
    columns: &EncodedColumns,
    fairness: Fairness,
    epsilon: Option<f64>,
    seed: u64,
) -> Answer<Figures> {
    let kind = ScenarioKind::Realistic;
    let scenario = ScenarioSettings::new(kind, fairness, 0.4, seed);
    // Without reliable clients, the split makes no proxies of its own.
    let mut clients =
        Split::new(population, &scenario)?.scenario(kind, 1.0, &mut |_, _| ())?.clients;
    clients.sort_by(|a, b| b.unfairness.total_cmp(&a.unfairness));
    let (unreliable, reliable) = clients.split_at(scenario.n_unreliable());
    let test = Rows::concat(&reliable.iter().map(|client| &client.test).collect::<Vec<_>>())?;
    let made = reliable
        .par_iter()
        .enumerate()
        .map(|(number, client)| {
            let seed = seed.wrapping_mul(1_000_003).wrapping_add(number as u64);
            let privacy = epsilon.map(|epsilon| Privacy {
                epsilon,
                delta: Privacy::DELTA,
                test_seed: Some(seed),
            });
            let settings =
                ProxySettings { seed, privacy, closeness_rows: 0, ..ProxySettings::new(fairness) };
            let data = ClientData { rows: &client.train, columns: columns.clone() };
            Ok(generate_proxy(data, &settings, &mut NoopObserver)?.rows)
        })
        .collect::<Result<Vec<_>, equipoise_core::Error>>()?;
    let models = made
        .iter()
        .map(|rows| fit_logistic(rows, 1e-4, &InnerSettings::default()))
        .collect::<Result<Vec<_>, _>>()?;
    let aucs: Vec<f64> = models
        .iter()
        .map(|theta| Ok(value(Metrics::of(theta, &test)?.auc)))
        .collect::<Answer<_>>()?;
    let is_reliable = |id: &str| reliable.iter().any(|client| client.id == id);
    let sent = unreliable.iter().map(|client| client.train.clone()).chain(made);
    let sent = clients.iter().zip(sent).map(|(client, proxy)| Client {
        id: client.id.clone(),
        proxy,
        root: client.root.clone(),
    });
    let round = Round::new(sent.collect())?;
    let noisy = round.client_ids().iter().map(|id| epsilon.is_some() && is_reliable(id)).collect();
    let round = round.with_noisy_clients(noisy)?;
    let defense = Settings { defense: Defense::Tilt, ..Settings::new(fairness) }.validate()?;
    let solved = solve(&round, &defense, &mut NoopObserver)?;
    let weights = round.client_ids().iter().zip(solved.weights());
    let unreliable_weight: f64 = weights.filter(|(id, _)| !is_reliable(id)).map(|(_, w)| w).sum();
    let [a, b, c] = figures(&solved.theta, &test, fairness)?;
    let [d, e, f] = figures(&mean_model(&models), &test, fairness)?;
    Ok([a, b, c, d, e, f, aucs.iter().sum::<f64>() / aucs.len() as f64, unreliable_weight])
}

/// Accuracy, balanced accuracy and worst gap.
fn figures(theta: &[f64], test: &Rows, fairness: Fairness) -> Answer<[f64; 3]> {
    let metrics = Metrics::of(theta, test)?;
    let gap = metrics.gap(fairness).map_or(f64::NAN, |gap| gap.size());
    Ok([value(metrics.accuracy), value(metrics.balanced_accuracy), gap])
}

fn value(figure: Option<Estimate>) -> f64 {
    figure.map_or(f64::NAN, |figure| figure.value)
}

fn line(measured: &[Figures]) -> String {
    let mean = |k: usize| measured.iter().map(|f| f[k]).sum::<f64>() / measured.len() as f64;
    let three = |k: usize| {
        format!("{:8.2} {:8.2} {:6.4}", 100.0 * mean(k), 100.0 * mean(k + 1), mean(k + 2))
    };
    format!("{} {} {:6.3} {:10.4}", three(0), three(3), mean(6), mean(7))
}
