//! Measures the solve time of a synthetic round: `scaling DEFENSE ROWS FEATURES CLIENTS REPEATS BUDGET THREADS…`.
//!
//! The rows are the same in every run: two groups have different features, and clients differ in how strongly labels
//! follow the group, from strongly to slightly against it, so that some mixture of clients is fair. In the root, labels
//! follow the group. It has 20 rows per client and at least 1000 in total. Prints a JSON document per number of threads.
//! Generating the rows is not timed, and preparing the round is timed separately.
#![allow(clippy::print_stdout)]

mod measuring;

use std::error::Error;
use std::time::Instant;

use equipoise_core::{Choice, Client, Defense, Fairness, Layout, Round, Rows, Settings};
use measuring::{Repeats, peak_memory, repeat_pass, repeat_solve};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Minimum number of root rows per client and in total.
const ROOT_ROWS: usize = 20;
const TOTAL_ROOT_ROWS: usize = 1000;
/// How strongly the labels of each client follow the group.
const BIASES: [f64; 5] = [2.0, -0.4, 1.0, 0.2, 3.0];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [defense, rows, features, clients, repeats, budget, threads @ ..] = arguments.as_slice()
    else {
        return Err("usage: scaling DEFENSE ROWS FEATURES CLIENTS REPEATS BUDGET THREADS…".into());
    };
    let defense = Defense::ALL.iter().find(|known| known.name() == defense.as_str());
    let defense = *defense.ok_or("there is no such defense")?;
    let (rows, features, clients) = (rows.parse()?, features.parse()?, clients.parse()?);
    let repeats = Repeats { max: repeats.parse()?, budget: budget.parse()? };
    let clients_rows = make_clients(rows, features, clients)?;
    let started = Instant::now();
    let round = Round::new(clients_rows)?;
    let prepare_seconds = started.elapsed().as_secs_f64();
    let settings = Settings { defense, ..Settings::new(Fairness::SP) }.validate()?;
    for threads in threads {
        let threads = threads.parse()?;
        let (seconds, outcome) = repeat_solve(&round, &settings, repeats, threads)?;
        let pass_seconds = repeat_pass(&round, &outcome.theta, threads)?;
        let answer = serde_json::json!({
            "defense": defense.name(),
            "rows": rows,
            "features": features,
            "clients": clients,
            "threads": threads,
            "seconds": seconds,
            "pass_seconds": pass_seconds,
            "prepare_seconds": prepare_seconds,
            "objective": outcome.objective,
            "termination": outcome.termination,
            "gap": outcome.gap,
            "counts": outcome.counts,
            "peak_bytes": peak_memory(),
        });
        println!("{answer}");
    }
    Ok(())
}

/// Clients with `rows` proxy rows in total, of `features` features plus the sensitive attribute and the constant.
fn make_clients(
    rows: usize,
    features: usize,
    clients: usize,
) -> Result<Vec<Client>, equipoise_core::Error> {
    let n_root = ROOT_ROWS.max(TOTAL_ROOT_ROWS.div_ceil(clients));
    let layout = Layout::two_groups(features, true);
    let make_client = |client: usize| {
        let n_rows = rows * (client + 1) / clients - rows * client / clients;
        let bias = BIASES[client % BIASES.len()];
        Ok(Client {
            id: format!("c{client:06}"),
            proxy: make_rows(layout.clone(), n_rows, bias, 2 * client as u64)?,
            root: make_rows(layout.clone(), n_root, 2.0, 2 * client as u64 + 1)?,
        })
    };
    (0..clients).into_par_iter().map(make_client).collect()
}

fn make_rows(
    layout: Layout,
    n_rows: usize,
    bias: f64,
    seed: u64,
) -> Result<Rows, equipoise_core::Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let sensitive: Vec<bool> = (0..n_rows).map(|_| rng.random_bool(0.6)).collect();
    let mut x = Vec::with_capacity(n_rows * layout.n_x);
    let mut positive = Vec::with_capacity(n_rows);
    for &s in &sensitive {
        let ahead = if s { 0.4 } else { -0.6 };
        let mut log_odds = bias * ahead;
        for k in 0..layout.n_x {
            let own = rng.random_range(-1.7..1.7);
            log_odds += own * [1.0, -0.6, 0.4, 0.2][k % 4] / (1.0 + 0.25 * k as f64);
            x.push(if k % 2 == 0 { own + ahead } else { own });
        }
        positive.push(rng.random::<f64>() < 1.0 / (1.0 + (-log_odds).exp()));
    }
    Rows::new(layout, &x, &sensitive, &positive)
}
