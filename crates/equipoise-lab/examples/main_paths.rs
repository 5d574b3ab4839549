//! Runs one of the main code paths on synthetic rows: `main_paths NAME`. Without a name, lists the paths.
//!
//! `bench/instructions` runs it under callgrind, which counts the instructions of [`measured`] on one thread.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::hint::black_box;
use std::path::Path;

use equipoise_core::{
    Client, Fairness, InnerSettings, Layout, NoopObserver, Order, ProxySettings, Round, Rows,
    Settings, fit_logistic, generate_proxy, solve,
};
use equipoise_data::{Schema, read_proxy, write_proxy};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Answer = Result<(), Box<dyn Error>>;

/// A path and its name.
type NamedPath = (&'static str, fn() -> Answer);

const PATHS: [NamedPath; 11] = [
    ("pass-gradient-12", || pass(12, Order::Gradient)),
    ("pass-hessian-12", || pass(12, Order::Hessian)),
    ("pass-hessian-64", || pass(64, Order::Hessian)),
    ("inner-fit", inner_fit),
    ("hypergradient", || adam(1)),
    ("adam-100", || adam(100)),
    ("gauss-newton", || gauss_newton(5)),
    ("gauss-newton-100-clients", || gauss_newton(100)),
    ("proxy", proxy),
    ("read-csv", || read("csv")),
    ("read-parquet", || read("parquet")),
];

fn main() -> Answer {
    let Some(name) = std::env::args().nth(1) else {
        PATHS.iter().for_each(|(name, _)| println!("{name}"));
        return Ok(());
    };
    let path = PATHS.iter().find(|(known, _)| *known == name).ok_or("unknown path")?;
    // The path runs inside the pool, so that no work moves between threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| (path.1)().map_err(|error| error.to_string()))?;
    Ok(())
}

/// Runs the code whose instructions are counted. Never inlined, so that callgrind can recognise it.
#[inline(never)]
fn measured<T>(work: impl FnOnce() -> T) -> T {
    black_box(work())
}

fn pass(n: usize, order: Order) -> Answer {
    let round = round(5, 4000, n)?;
    let theta = vec![0.1; n];
    measured(|| round.proxies().evaluate(&theta, order))?;
    Ok(())
}

fn inner_fit() -> Answer {
    let rows = rows(1, 16_000, 12)?;
    measured(|| fit_logistic(&rows, 1e-4, &InnerSettings::default()))?;
    Ok(())
}

fn adam(steps: usize) -> Answer {
    let round = round(5, 3200, 12)?;
    let mut settings = Settings::paper(Fairness::SP);
    settings.outer.iterations = steps;
    let settings = settings.validate()?;
    measured(|| solve(&round, &settings, &mut NoopObserver))?;
    Ok(())
}

fn gauss_newton(n_clients: usize) -> Answer {
    let round = round(n_clients, 16_000 / n_clients, 12)?;
    let settings = Settings::bilevel(Fairness::SP).validate()?;
    measured(|| solve(&round, &settings, &mut NoopObserver))?;
    Ok(())
}

fn proxy() -> Answer {
    let data = rows(1, 3200, 12)?;
    let settings = ProxySettings::paper(Fairness::SP);
    measured(|| generate_proxy(&data, &settings, &mut NoopObserver))?;
    Ok(())
}

fn read(extension: &str) -> Answer {
    let schema = schema(12)?;
    let rows = rows_of(schema.layout(), 1, 4000)?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("client").with_extension(extension);
    write_proxy(&file, &rows, &schema, false)?;
    let back = measured(|| read_proxy(&file, &schema))?;
    if back == rows { Ok(()) } else { Err("the rows read differ from the rows written".into()) }
}

/// A round whose clients differ in how strongly labels follow the group.
fn round(n_clients: usize, rows_each: usize, n: usize) -> Result<Round, Box<dyn Error>> {
    let clients = (0..n_clients).map(|c| {
        let proxy = rows(c as u64, rows_each, n)?;
        let root = rows((n_clients + c) as u64, 20, n)?;
        Ok(Client { id: format!("c{c:04}"), proxy, root })
    });
    let clients: Result<Vec<Client>, equipoise_core::Error> = clients.collect();
    Ok(Round::new(clients?)?)
}

/// Random rows of `n` entries, including the intercept.
fn rows(seed: u64, n_rows: usize, n: usize) -> Result<Rows, equipoise_core::Error> {
    rows_of(Layout::two_groups(n - 2, true), seed, n_rows)
}

fn rows_of(layout: Layout, seed: u64, n_rows: usize) -> Result<Rows, equipoise_core::Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let bias = [2.0, -0.4, 1.0, 0.2, 3.0][seed as usize % 5];
    let x: Vec<f64> = (0..n_rows * layout.n_x).map(|_| rng.random_range(-1.7..1.7)).collect();
    let sensitive: Vec<bool> = (0..n_rows).map(|_| rng.random_bool(0.6)).collect();
    let positive: Vec<bool> = x
        .chunks_exact(layout.n_x)
        .zip(&sensitive)
        .map(|(x, &s)| {
            let score = x[0] + 0.3 * x[x.len() - 1] + bias * (f64::from(s) - 0.6);
            score + rng.random_range(-2.0..2.0) > 0.0
        })
        .collect();
    Rows::new(layout, &x, &sensitive, &positive)
}

fn schema(n: usize) -> Result<Schema, Box<dyn Error>> {
    let mut text = String::from(
        "version = 1\nintercept = true\n[label]\ncolumn = \"y\"\npositive = \"1\"\n\
         [sensitive]\ncolumn = \"s\"\nprivileged = \"1\"\n",
    );
    for i in 0..n - 2 {
        text += &format!(
            "[[feature]]\ncolumn = \"x{i}\"\nkind = \"numeric\"\ncenter = 0.0\nscale = 1.0\n"
        );
    }
    Ok(Schema::from_toml(&text, Path::new("schema.toml"))?)
}
