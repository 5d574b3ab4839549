//! All generators side by side: `generators DATA [FIRST_SEED] [SEEDS] [NAME]`.
//!
//! The paper's nine cells (Law School by statistical parity and equal opportunity, Dutch by statistical parity; 20, 40 and 60 % of five
//! clients unreliable, who send their own rows), with one-hot encoding and the default defense, if the reliable clients
//! use a generator. Means over seeds: accuracy and worst gap of the global model at each rate, on the test rows of the reliable
//! clients; and for one client of each seed, rows sent, kilobytes of the Parquet file, seconds, and the AUC of the two
//! attacks on membership, whose non-members are the client's test rows.
//!
//! DATA is the folder of the paper's datasets. NAME selects the lines that contain it.
#![allow(clippy::print_stdout)]

mod models;

use std::path::PathBuf;
use std::time::Instant;

use equipoise_core::{
    Choice as _, Client, ClientData, Defense, EncodedColumns, Estimate, Fairness, Metrics,
    NoopObserver, Privacy, ProxyGenerator, ProxySettings, Round, Rows, Settings, attack_membership,
    generate_proxy, solve,
};
use equipoise_data::{ProxyWriter, Schema};
use equipoise_lab::{
    DATASETS, Preprocessing, ScenarioClient, ScenarioKind, ScenarioSettings, Split,
};
use models::Answer;
use rayon::prelude::*;

const RATES: [f64; 3] = [0.2, 0.4, 0.6];

fn main() -> Answer<()> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: generators DATA [FIRST_SEED] [SEEDS] [NAME]";
    let folder = [PathBuf::from(args.next().ok_or(usage)?)];
    let first: u64 = args.next().map_or(Ok(1), |text| text.parse())?;
    let seeds: u64 = args.next().map_or(Ok(5), |text| text.parse())?;
    let only = args.next().unwrap_or_default();
    println!(
        "{:34} {:>12} {:>12} {:>12} {:>7} {:>8} {:>8} {:>8} {:>8}",
        "accuracy/gap", "20 %", "40 %", "60 %", "rows", "kB", "seconds", "nearest", "ratio"
    );
    for dataset in DATASETS {
        let rows = dataset.load(&folder, Preprocessing::OneHot)?;
        let schema = dataset.schema_for(&folder, Preprocessing::OneHot)?;
        for fairness in ["sp", "eo"] {
            if dataset.title == "Dutch" && fairness == "eo" {
                continue;
            }
            for (name, settings) in all(fairness.parse()?) {
                let name = format!("{} {fairness}, {name}", dataset.title);
                if !name.contains(&only) {
                    continue;
                }
                let measured = (first..first + seeds)
                    .into_par_iter()
                    .map(|seed| measure(&rows, &schema, &settings, seed).map_err(|e| e.to_string()))
                    .collect::<Result<Vec<_>, _>>();
                match measured {
                    Ok(measured) => println!("{name:34} {}", line(&measured)),
                    Err(error) => println!("{name:34} {error}"),
                }
            }
        }
    }
    Ok(())
}

/// Every generator, and the private ones.
fn all(fairness: Fairness) -> Vec<(String, ProxySettings)> {
    let plain = ProxySettings { closeness_rows: 0, ..ProxySettings::new(fairness) };
    let named = ProxyGenerator::ALL
        .iter()
        .map(|&generator| (generator.name().to_owned(), ProxySettings { generator, ..plain }));
    let private = [3.0, 1.0].map(|epsilon| {
        let privacy = Some(Privacy { epsilon, delta: Privacy::DELTA, test_seed: Some(0) });
        (format!("thresholds, ε = {epsilon}"), ProxySettings { privacy, ..plain })
    });
    named.chain(private).collect()
}

struct Measured {
    /// Accuracy and gap at each rate.
    cells: [[f64; 2]; 3],
    rows: f64,
    kilobytes: f64,
    seconds: f64,
    aucs: [f64; 2],
}

fn measure(
    population: &Rows,
    schema: &Schema,
    settings: &ProxySettings,
    seed: u64,
) -> Answer<Measured> {
    let (kind, fairness) = (ScenarioKind::Realistic, settings.fairness);
    let scenario = ScenarioSettings::new(kind, fairness, 0.2, seed);
    // Without reliable clients, the split makes no proxies of its own.
    let mut clients =
        Split::new(population, &scenario)?.scenario(kind, 1.0, &mut |_, _| ())?.clients;
    clients.sort_by(|a, b| b.unfairness.total_cmp(&a.unfairness));
    let columns = schema.encoded_columns();
    let mut made = Vec::new();
    let mut seconds = 0.0;
    for (number, client) in clients.iter().enumerate() {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(number as u64);
        let privacy = settings.privacy.map(|p| Privacy { test_seed: Some(seed), ..p });
        let started = Instant::now();
        made.push(make(client, &columns, &ProxySettings { seed, privacy, ..*settings })?);
        seconds = started.elapsed().as_secs_f64();
    }
    let mut cells = [[0.0; 2]; 3];
    for (cell, rate) in cells.iter_mut().zip(RATES) {
        let n_unreliable = (rate * clients.len() as f64).round() as usize;
        *cell = round(&clients, &made, n_unreliable, settings)?;
    }
    let (Some(last), Some(proxy)) = (clients.last(), made.last()) else {
        return Err("no clients".into());
    };
    let attacks = attack_membership(proxy, &last.train, &last.test)?;
    let auc = |attack: usize| attacks.get(attack).map_or(f64::NAN, |found| found.auc.value);
    let mut file = Vec::new();
    let mut writer = ProxyWriter::new(&mut file, schema);
    writer.push(proxy)?;
    writer.finish()?;
    let kilobytes = file.len() as f64 / 1000.0;
    Ok(Measured { cells, rows: proxy.len() as f64, kilobytes, seconds, aucs: [auc(0), auc(1)] })
}

fn make(
    client: &ScenarioClient,
    columns: &EncodedColumns,
    settings: &ProxySettings,
) -> Answer<Rows> {
    let data = ClientData { rows: &client.train, columns: columns.clone() };
    Ok(generate_proxy(data, settings, &mut NoopObserver)?.rows)
}

/// Accuracy and gap if the most unfair clients send their own rows and the others their proxies.
fn round(
    clients: &[ScenarioClient],
    made: &[Rows],
    n_unreliable: usize,
    settings: &ProxySettings,
) -> Answer<[f64; 2]> {
    let is_reliable = |at: usize| at >= n_unreliable;
    let sent = clients.iter().zip(made).enumerate().map(|(at, (client, proxy))| Client {
        id: client.id.clone(),
        proxy: if is_reliable(at) { proxy.clone() } else { client.train.clone() },
        root: client.root.clone(),
    });
    let round = Round::new(sent.collect())?;
    let noisy = round.client_ids().iter().map(|id| {
        let at = clients.iter().position(|client| client.id == *id);
        settings.privacy.is_some() && at.is_some_and(is_reliable)
    });
    let noisy = noisy.collect();
    let round = round.with_noisy_clients(noisy)?;
    let fairness = settings.fairness;
    let defense = Settings { defense: Defense::Tilt, ..Settings::new(fairness) }.validate()?;
    let theta = solve(&round, &defense, &mut NoopObserver)?.theta;
    let test = clients[n_unreliable..].iter().map(|client| &client.test);
    let metrics = Metrics::of(&theta, &Rows::concat(&test.collect::<Vec<_>>())?)?;
    let value = |figure: Option<Estimate>| figure.map_or(f64::NAN, |figure| figure.value);
    Ok([value(metrics.accuracy), metrics.gap(fairness).map_or(f64::NAN, |gap| gap.size())])
}

fn line(measured: &[Measured]) -> String {
    let mean = |of: &dyn Fn(&Measured) -> f64| {
        measured.iter().map(of).sum::<f64>() / measured.len() as f64
    };
    let cell = |at: usize| {
        let accuracy = 100.0 * mean(&|m: &Measured| m.cells[at][0]);
        format!("{accuracy:5.2}/{:.4}", mean(&|m: &Measured| m.cells[at][1]))
    };
    format!(
        "{:>12} {:>12} {:>12} {:>7.0} {:>8.0} {:>8.2} {:>8.3} {:>8.3}",
        cell(0),
        cell(1),
        cell(2),
        mean(&|m: &Measured| m.rows),
        mean(&|m: &Measured| m.kilobytes),
        mean(&|m: &Measured| m.seconds),
        mean(&|m: &Measured| m.aucs[0]),
        mean(&|m: &Measured| m.aucs[1]),
    )
}
