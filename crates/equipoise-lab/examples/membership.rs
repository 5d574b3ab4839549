//! Whether a proxy reveals who is in a client's data: `membership DATA [FIRST_SEED] [SEEDS] [CLIENTS]`.
//!
//! The attacker knows all features and the group of a person, and asks whether that person is among the client's
//! training rows. Two attacks, both by distances in encoded units:
//!
//! - `nearest`: the closer the nearest row of the proxy, the likelier a member;
//! - `ratio`: the same distance divided by that to the nearest row of a reference sample, as large as the proxy, of other
//!   people of the same population. This discounts people who are close to any rows, because they are typical.
//!
//! Members are training rows of the client, non-members its test rows: of the same population, and in neither
//! the training rows nor the reference sample. AUC 0.5 means that the attacker learns nothing. The standard error comes
//! from the spread over clients and seeds. `paper` is the proxy of `--generator paper`, and `data` the training rows
//! themselves in place of a proxy: what the attacks achieve if nothing is protected.
//!
//! DATA is the folder of the paper's datasets. CLIENTS are K, such as 5,100.
#![allow(clippy::print_stdout)]

mod models;

use std::path::PathBuf;

use equipoise_core::{Auc, Fairness, NoopObserver, ProxySettings, Rows, generate_proxy};
use equipoise_lab::{
    DATASETS, GroupView, Preprocessing, ScenarioClient, ScenarioKind, ScenarioSettings, Split,
};
use models::Answer;
use rayon::prelude::*;

/// Candidates of each kind.
const CANDIDATES: usize = 1500;
/// Clients attacked in each split.
const ATTACKED_CLIENTS: usize = 3;
/// A distance of 0 is compared as this, so that ratios exist.
const SMALLEST_DISTANCE: f64 = 1e-9;

fn main() -> Answer<()> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: membership DATA [FIRST_SEED] [SEEDS] [CLIENTS]";
    let folder = [PathBuf::from(args.next().ok_or(usage)?)];
    let first: u64 = args.next().map_or(Ok(1), |text| text.parse())?;
    let seeds: u64 = args.next().map_or(Ok(5), |text| text.parse())?;
    let clients = args.next().unwrap_or("5,20,100".to_owned());
    let clients = clients.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>()?;
    println!("{:44} {:>15} {:>15}", "AUC ± standard error", "nearest", "ratio");
    for dataset in DATASETS {
        let rows = dataset.load_view(&folder, Preprocessing::OneHot, GroupView::Two)?;
        for &n_clients in &clients {
            for fairness in ["sp", "eo"] {
                let fairness: Fairness = fairness.parse()?;
                let mut found: Vec<Vec<[f64; 2]>> = vec![Vec::new(); Sent::ALL.len()];
                let mut n_train = 0;
                for seed in first..first + seeds {
                    let settings = ScenarioSettings {
                        n_clients,
                        ..ScenarioSettings::new(ScenarioKind::Realistic, fairness, 0.0, seed)
                    };
                    let split = Split::new(&rows, &settings)?;
                    // Without reliable clients, the split makes no proxies of its own.
                    let scenario = split.scenario(ScenarioKind::Realistic, 1.0, &mut |_, _| ())?;
                    for client in 0..ATTACKED_CLIENTS.min(n_clients) {
                        let (own, others) = one_and_others(&scenario.clients, client)?;
                        n_train = own.train.len();
                        for (sent, found) in Sent::ALL.iter().zip(&mut found) {
                            let proxy = sent.rows(own, fairness, seed)?;
                            found.push(attack(&proxy, own, &others)?);
                        }
                    }
                }
                for (sent, found) in Sent::ALL.iter().zip(&found) {
                    let name = format!(
                        "{} {}, {n_train} rows, {}",
                        dataset.title,
                        fairness.name(),
                        sent.name()
                    );
                    let [nearest, ratio] = [0, 1].map(|attack| {
                        let (mean, error) = mean_and_error(found.iter().map(|auc| auc[attack]));
                        format!("{mean:.3} ± {error:.3}")
                    });
                    println!("{name:44} {nearest:>15} {ratio:>15}");
                }
            }
        }
    }
    Ok(())
}

/// What the attacker has.
enum Sent {
    Proxy,
    Paper,
    Data,
}

impl Sent {
    const ALL: [Self; 3] = [Self::Proxy, Self::Paper, Self::Data];

    fn name(&self) -> &'static str {
        match self {
            Self::Proxy => "proxy",
            Self::Paper => "paper",
            Self::Data => "data",
        }
    }

    fn rows(&self, client: &ScenarioClient, fairness: Fairness, seed: u64) -> Answer<Rows> {
        let settings = match self {
            Self::Proxy => ProxySettings::new(fairness),
            Self::Paper => ProxySettings::paper(fairness),
            Self::Data => return Ok(client.train.clone()),
        };
        let settings = ProxySettings { seed, ..settings };
        Ok(generate_proxy(&client.train, &settings, &mut NoopObserver)?.rows)
    }
}

/// A client, and the training rows of all others.
fn one_and_others(clients: &[ScenarioClient], one: usize) -> Answer<(&ScenarioClient, Rows)> {
    let others = clients.iter().enumerate().filter(|(client, _)| *client != one);
    let others: Vec<&Rows> = others.map(|(_, client)| &client.train).collect();
    Ok((&clients[one], Rows::concat(&others)?))
}

/// The AUC of both attacks.
fn attack(proxy: &Rows, client: &ScenarioClient, others: &Rows) -> Answer<[f64; 2]> {
    let reference = others.select(&spread(others.len(), proxy.len()));
    let members = client.train.select(&spread(client.train.len(), CANDIDATES));
    let strangers = client.test.select(&spread(client.test.len(), CANDIDATES));
    let candidates = Rows::concat(&[&members, &strangers])?;
    let is_member: Vec<bool> = (0..candidates.len()).map(|i| i < members.len()).collect();
    let to_proxy = distances(&candidates, proxy);
    let to_reference = distances(&candidates, &reference);
    let nearest: Vec<f64> = to_proxy.iter().map(|distance| -distance).collect();
    let ratio: Vec<f64> = to_proxy.iter().zip(&to_reference).map(|(d, r)| -d / r).collect();
    let auc = |scores: &[f64]| Auc::of(scores, &is_member).map(|auc| auc.value);
    Ok([auc(&nearest).ok_or("no candidates")?, auc(&ratio).ok_or("no candidates")?])
}

/// At most `wanted` of `n` indices, evenly spread.
fn spread(n: usize, wanted: usize) -> Vec<usize> {
    let wanted = wanted.min(n);
    (0..wanted).map(|i| i * n / wanted).collect()
}

/// From each row, over features and group, to the nearest row of `to`.
fn distances(from: &Rows, to: &Rows) -> Vec<f64> {
    let n = from.layout().indicators().end;
    let nearest = |i: usize| {
        let squared = |j: usize| -> f64 {
            from.a(i)[..n].iter().zip(to.a(j)).map(|(a, b)| (a - b) * (a - b)).sum()
        };
        (0..to.len()).map(squared).fold(f64::INFINITY, f64::min).sqrt().max(SMALLEST_DISTANCE)
    };
    (0..from.len()).into_par_iter().map(nearest).collect()
}

fn mean_and_error(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    let squares: f64 = values.map(|v| (v - mean) * (v - mean)).sum();
    (mean, (squares / (n - 1.0).max(1.0) / n).sqrt())
}
