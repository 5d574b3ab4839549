//! Whether distilled proxies can replace whole ones: `distilled_rounds DATA [ROWS] [SEEDS] [NAME]`.
//!
//! For each table and criterion, five clients send proxies of the generator `thresholds`, then distilled ones of ROWS rows
//! (default: 200), and 40 % of the clients send their own rows. Over SEEDS rounds:
//!
//! - `rows`: of a whole proxy, on average;
//! - `model`: the largest difference, over all clients and their rows, between the probabilities that the models fitted to the
//!   two proxies predict;
//! - `whole`, `distilled`: accuracy and worst gap of the defense trust on the reliable clients' test rows;
//! - `trust`: the largest difference between the probabilities that the two models of trust predict there;
//! - `silent`: the same if distilled proxies do not say how many rows they stand for;
//! - `parquet`, `csv`: kilobytes of a distilled proxy, and how many times smaller it is than the whole one;
//! - `seconds`: to make one proxy, whole and distilled.
//!
//! DATA is the folder of the paper's datasets. NAME selects the lines that contain it.
#![allow(clippy::print_stdout)]

mod models;

use std::path::PathBuf;
use std::time::Instant;

use equipoise_core::{
    Client, Defense, Fairness, InnerSettings, Metrics, NoopObserver, ProxyGenerator, ProxySettings,
    Round, Rows, Settings, fit_logistic, generate_proxy, solve,
};
use equipoise_data::{ProxyWriter, Schema, csv_bytes, proxy_columns};
use equipoise_lab::{
    DATASETS, Preprocessing, ScenarioClient, ScenarioKind, ScenarioSettings, Split,
};
use models::Answer;

fn main() -> Answer<()> {
    let mut args = std::env::args().skip(1);
    let folder = args.next().ok_or("usage: distilled_rounds DATA [ROWS] [SEEDS] [NAME]")?;
    let folder = [PathBuf::from(folder)];
    let n_rows: usize = args.next().map_or(Ok(200), |text| text.parse())?;
    let seeds: u64 = args.next().map_or(Ok(3), |text| text.parse())?;
    let only = args.next().unwrap_or_default();
    println!(
        "{:16} {:>6} {:>7} {:>13} {:>13} {:>7} {:>7} {:>12} {:>12} {:>11}",
        "", "rows", "model", "whole", "distilled", "trust", "silent", "parquet", "csv", "seconds"
    );
    for dataset in DATASETS {
        for fairness in ["sp", "eo"] {
            let name = format!("{} {fairness}", dataset.title);
            if !name.contains(&only) {
                continue;
            }
            let rows = dataset.load(&folder, Preprocessing::OneHot)?;
            let schema = dataset.schema_for(&folder, Preprocessing::OneHot)?;
            let mut all = Figures::default();
            for seed in 101..101 + seeds {
                all.add(&measure(&rows, &schema, fairness.parse()?, n_rows, seed)?);
            }
            let mean = |sum: f64| sum / seeds as f64;
            let two = |[accuracy, gap]: [f64; 2]| {
                format!("{:.2}/{:.4}", 100.0 * mean(accuracy), mean(gap))
            };
            let size = |[whole, distilled]: [f64; 2]| {
                format!("{:.1}, {:.1}×", mean(distilled) / 1000.0, whole / distilled)
            };
            println!(
                "{name:16} {:6.0} {:7.0e} {:>13} {:>13} {:7.4} {:7.4} {:>12} {:>12} {:>11}",
                mean(all.rows),
                all.model,
                two(all.whole),
                two(all.distilled),
                all.trust,
                all.silent,
                size(all.parquet),
                size(all.csv),
                format!("{:.2}/{:.2}", mean(all.seconds[0]), mean(all.seconds[1])),
            );
        }
    }
    Ok(())
}

#[derive(Default)]
struct Figures {
    rows: f64,
    model: f64,
    whole: [f64; 2],
    distilled: [f64; 2],
    trust: f64,
    silent: f64,
    seconds: [f64; 2],
    /// Bytes.
    parquet: [f64; 2],
    csv: [f64; 2],
}

impl Figures {
    fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        self.model = self.model.max(other.model);
        self.trust = self.trust.max(other.trust);
        self.silent = self.silent.max(other.silent);
        for i in 0..2 {
            self.whole[i] += other.whole[i];
            self.distilled[i] += other.distilled[i];
            self.seconds[i] += other.seconds[i];
            self.parquet[i] += other.parquet[i];
            self.csv[i] += other.csv[i];
        }
    }
}

fn measure(
    population: &Rows,
    schema: &Schema,
    fairness: Fairness,
    n_rows: usize,
    seed: u64,
) -> Answer<Figures> {
    let kind = ScenarioKind::Realistic;
    let scenario = ScenarioSettings::new(kind, fairness, 0.4, seed);
    // Without reliable clients, the split makes no proxies of its own.
    let mut clients =
        Split::new(population, &scenario)?.scenario(kind, 1.0, &mut |_, _| ())?.clients;
    clients.sort_by(|a, b| b.unfairness.total_cmp(&a.unfairness));
    let (unreliable, reliable) = clients.split_at(scenario.n_unreliable());
    let test: Vec<&Rows> = reliable.iter().map(|client| &client.test).collect();
    let test = Rows::concat(&test)?;
    let whole = ProxySettings { seed, closeness_rows: 0, ..ProxySettings::new(fairness) };
    let distilled =
        ProxySettings { generator: ProxyGenerator::Distillation, rows: Some(n_rows), ..whole };

    let mut figures = Figures::default();
    let mut trusted = Vec::new();
    let mut fitted: Vec<Vec<Vec<f64>>> = Vec::new();
    for (i, settings) in [whole, distilled].iter().enumerate() {
        let start = Instant::now();
        let made = reliable
            .iter()
            .map(|client| Ok(generate_proxy(&client.train, settings, &mut NoopObserver)?.rows))
            .collect::<Answer<Vec<Rows>>>()?;
        figures.seconds[i] = start.elapsed().as_secs_f64() / reliable.len() as f64;
        for rows in &made {
            let share = 1.0 / made.len() as f64;
            figures.parquet[i] += share * parquet_bytes(rows, schema, settings)? as f64;
            figures.csv[i] += share * csv_bytes(&proxy_columns(rows, schema)?)?.len() as f64;
        }
        let server = InnerSettings { tolerance: 1e-11, ..InnerSettings::default() };
        let models = made.iter().map(|rows| Ok(fit_logistic(rows, settings.lambda, &server)?));
        fitted.push(models.collect::<Answer<_>>()?);
        trusted.push(trust(unreliable, reliable, &made, true, fairness)?);
        trusted.push(trust(unreliable, reliable, &made, false, fairness)?);
    }
    for (client, (a, b)) in reliable.iter().zip(fitted[0].iter().zip(&fitted[1])) {
        figures.model = figures.model.max(largest_difference(&client.train, a, b));
    }
    figures.rows = reliable.iter().map(|client| client.train.len() as f64).sum::<f64>()
        / reliable.len() as f64;
    figures.trust = largest_difference(&test, &trusted[0], &trusted[2]);
    figures.silent = largest_difference(&test, &trusted[0], &trusted[3]);
    figures.whole = accuracy_and_gap(&trusted[0], &test, fairness)?;
    figures.distilled = accuracy_and_gap(&trusted[2], &test, fairness)?;
    Ok(figures)
}

fn parquet_bytes(rows: &Rows, schema: &Schema, settings: &ProxySettings) -> Answer<usize> {
    let new = match settings.generator {
        ProxyGenerator::Distillation => ProxyWriter::compact,
        _ => ProxyWriter::new,
    };
    let mut file = Vec::new();
    let mut writer = new(&mut file, schema);
    writer.push(rows)?;
    writer.finish()?;
    Ok(file.len())
}

/// The model of a round in which the unreliable clients send their own rows.
fn trust(
    unreliable: &[ScenarioClient],
    reliable: &[ScenarioClient],
    made: &[Rows],
    is_declared: bool,
    fairness: Fairness,
) -> Answer<Vec<f64>> {
    let sent = unreliable.iter().map(|client| client.train.clone()).chain(made.iter().cloned());
    let clients = unreliable.iter().chain(reliable).zip(sent).map(|(client, proxy)| Client {
        id: client.id.clone(),
        proxy,
        root: client.root.clone(),
    });
    let round = Round::new(clients.collect())?;
    let represented = round.client_ids().iter().map(|id| {
        let client = reliable.iter().find(|client| client.id == *id && is_declared);
        client.map(|client| client.train.len() as u64)
    });
    let represented = represented.collect();
    let round = round.with_represented_rows(represented)?;
    let defense = Settings { defense: Defense::Trust, ..Settings::new(fairness) }.validate()?;
    Ok(solve(&round, &defense, &mut NoopObserver)?.theta)
}

/// Between the probabilities that two models predict.
fn largest_difference(rows: &Rows, a: &[f64], b: &[f64]) -> f64 {
    let chance = |i: usize, theta: &[f64]| {
        let score: f64 = rows.a(i).iter().zip(theta).map(|(a, t)| a * t).sum();
        1.0 / (1.0 + (-score).exp())
    };
    (0..rows.len()).map(|i| (chance(i, a) - chance(i, b)).abs()).fold(0.0, f64::max)
}

fn accuracy_and_gap(theta: &[f64], rows: &Rows, fairness: Fairness) -> Answer<[f64; 2]> {
    let metrics = Metrics::of(theta, rows)?;
    let gap = metrics.gap(fairness).map_or(f64::NAN, |gap| gap.size());
    Ok([metrics.accuracy.map_or(f64::NAN, |accuracy| accuracy.value), gap])
}
