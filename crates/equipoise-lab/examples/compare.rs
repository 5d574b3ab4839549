//! Saves a round and solves it, for `bench/compare`: `compare NAME DATA FOLDER STEPS REPEATS SECONDS THREADS`.
//!
//! NAME is `law-school` or `dutch`, the paper's datasets in the folder DATA, or `synthetic-N`, the demo's population with N
//! people. All have five clients, of which three are unreliable, use statistical parity and seed 1. FOLDER gets a header
//! in `NAME.json` and the numbers in `NAME.bin`, little-endian 64-bit floats: the proxy rows `(x, s, 1)`, one client after the
//! other, the proxy labels (−1 or +1), the root rows, and the root labels.
//!
//! Prints a line of JSON for each solver: `tilt`, `bilevel`, and `paper` with STEPS steps of Adam. No repeat starts after
//! SECONDS. Preparing the round is not timed.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use equipoise_core::{
    CheckedSettings, Client, Fairness, NoopObserver, Outcome, Round, Rows, Settings, solve,
};
use equipoise_lab::{
    Dataset, DemoSettings, Generator, Preprocessing, SYNTHETIC, ScenarioKind, ScenarioSettings,
    Sources, Split,
};
use serde_json::json;

const UNRELIABLE: f64 = 0.6;
const SEED: u64 = 1;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, data, folder, steps, repeats, budget, threads] = arguments.as_slice() else {
        return Err("usage: compare NAME DATA FOLDER STEPS REPEATS SECONDS THREADS".into());
    };
    let (repeats, budget): (usize, f64) = (repeats.parse()?, budget.parse()?);
    let clients = match name.strip_prefix("synthetic-") {
        Some(rows) => synthetic(rows.parse()?)?,
        None => dataset(name, Path::new(data))?,
    };
    save(name, Path::new(folder), &clients)?;
    let round = Round::new(clients)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?).build()?;
    let solvers = [
        ("tilt", Settings::new(Fairness::SP)),
        ("bilevel", Settings::bilevel(Fairness::SP)),
        ("paper", paper(steps.parse()?)),
    ];
    for (solver, settings) in solvers {
        let settings = settings.validate()?;
        let (seconds, outcome) = pool.install(|| repeat(&round, &settings, repeats, budget))?;
        let answer = json!({
            "solver": solver,
            "steps": outcome.trace.len(),
            "seconds": seconds,
            "weights": outcome.weights(),
        });
        println!("{answer}");
    }
    Ok(())
}

/// The profile `paper` with fewer steps. The schedule of ρ scales with them.
fn paper(steps: usize) -> Settings {
    let mut settings = Settings::paper(Fairness::SP);
    let outer = &mut settings.outer;
    outer.rho.every = (outer.rho.every * steps / outer.iterations).max(1);
    outer.iterations = steps;
    settings
}

/// The seconds of each solve and the last outcome. The first solve is a warm-up and does not count.
fn repeat(
    round: &Round,
    settings: &CheckedSettings,
    repeats: usize,
    budget: f64,
) -> Result<(Vec<f64>, Outcome), equipoise_core::Error> {
    let mut outcome = solve(round, settings, &mut NoopObserver)?;
    let mut seconds: Vec<f64> = Vec::new();
    while seconds.is_empty() || (seconds.len() < repeats && seconds.iter().sum::<f64>() < budget) {
        let started = Instant::now();
        outcome = solve(round, settings, &mut NoopObserver)?;
        seconds.push(started.elapsed().as_secs_f64());
    }
    Ok((seconds, outcome))
}

/// A round of one of the paper's datasets, as in `equipoise experiment`.
fn dataset(name: &str, data: &Path) -> Result<Vec<Client>, Box<dyn Error>> {
    let dataset = Dataset::named(name).ok_or_else(|| format!("unknown problem: {name}"))?;
    let rows = dataset.load(&[PathBuf::from(data)], Preprocessing::Paper)?;
    let settings = ScenarioSettings::new(ScenarioKind::Realistic, Fairness::SP, UNRELIABLE, SEED);
    clients(&rows, &ScenarioSettings { generator: Generator::Adam, ..settings })
}

/// A round of the demo, with `n_people` people.
fn synthetic(n_people: usize) -> Result<Vec<Client>, Box<dyn Error>> {
    let sources = Sources { data: Vec::new(), schema: None, n_people };
    let rows = sources.load(SYNTHETIC, Preprocessing::Intercept)?;
    let settings = ScenarioSettings {
        root_share: DemoSettings::default().root_share,
        generator: Generator::Smoothed,
        ..ScenarioSettings::new(ScenarioKind::Realistic, Fairness::SP, UNRELIABLE, SEED)
    };
    clients(&rows, &settings)
}

fn clients(rows: &Rows, settings: &ScenarioSettings) -> Result<Vec<Client>, Box<dyn Error>> {
    let split = Split::new(rows, settings)?;
    split.make_proxies(&[(settings.kind, settings.unreliable_share)])?;
    let scenario = split.scenario(settings.kind, settings.unreliable_share, &mut |_, _| {})?;
    let clients = scenario.clients.into_iter();
    Ok(clients.map(|it| Client { id: it.id, proxy: it.proxy, root: it.root }).collect())
}

fn save(name: &str, folder: &Path, clients: &[Client]) -> Result<(), Box<dyn Error>> {
    let (paper, layout) = (Settings::paper(Fairness::SP), clients[0].proxy.layout());
    let header = json!({
        "n": layout.n(),
        "sensitive": layout.indicators().start,
        "proxy_rows": clients.iter().map(|client| client.proxy.len()).collect::<Vec<_>>(),
        "root_rows": clients.iter().map(|client| client.root.len()).sum::<usize>(),
        "lambda": paper.lambda,
        "rho": paper.outer.rho,
        "adam": {
            "steps": paper.outer.iterations,
            "learning_rate": paper.outer.learning_rate,
            "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8,
        },
        "inner_tolerance": paper.inner.tolerance,
        "inner_iterations": paper.inner.max_iterations,
    });
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join(format!("{name}.json")), header.to_string())?;
    let mut file = BufWriter::new(File::create(folder.join(format!("{name}.bin")))?);
    let tables =
        [clients.iter().map(|c| &c.proxy).collect(), clients.iter().map(|c| &c.root).collect()];
    for tables in tables as [Vec<&Rows>; 2] {
        let values = tables.iter().flat_map(|rows| rows.values());
        for number in values.chain(tables.iter().flat_map(|rows| rows.labels())) {
            file.write_all(&number.to_le_bytes())?;
        }
    }
    Ok(file.flush()?)
}
