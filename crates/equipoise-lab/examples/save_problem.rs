//! Saves a round for comparisons with other solvers: `save_problem NAME FOLDER [DATA]`.
//!
//! NAME is `law-school` or `dutch`, the paper's datasets in the folder DATA (default `../shared/data`), or
//! `synthetic-ROWS`, the demo's population with so many people. All have five clients, three of them unreliable,
//! and ask for statistical parity; seed 1. The format is told in `problem_file`.
#![allow(clippy::print_stderr)]

mod problem_file;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use equipoise_core::{Client, Fairness, Rows};
use equipoise_lab::{
    Dataset, DemoSettings, Generator, Preprocessing, SYNTHETIC, Scenario, ScenarioKind,
    ScenarioSettings, Sources, Split,
};
use problem_file::Header;

const UNRELIABLE: f64 = 0.6;
const SEED: u64 = 1;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, folder, data) = match arguments.as_slice() {
        [name, folder] => (name, folder, "../shared/data"),
        [name, folder, data] => (name, folder, data.as_str()),
        _ => return Err("usage: save_problem NAME FOLDER [DATA]".into()),
    };
    let started = Instant::now();
    let (about, scenario) = match name.strip_prefix("synthetic-") {
        Some(rows) => synthetic(rows.parse()?)?,
        None => dataset(name, Path::new(data))?,
    };
    let clients: Vec<Client> = scenario
        .clients
        .into_iter()
        .map(|client| Client { id: client.id, proxy: client.proxy, root: client.root })
        .collect();
    Header::new(name, &about, Fairness::SP, &clients).save(Path::new(folder), &clients)?;
    eprintln!("{name}: {about}; made in {:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// As `equipoise experiment` makes it.
fn dataset(name: &str, data: &Path) -> Result<(String, Scenario), Box<dyn Error>> {
    let dataset = Dataset::named(name).ok_or_else(|| format!("no problem is called {name}"))?;
    let rows = dataset.load(&[PathBuf::from(data)], Preprocessing::Paper)?;
    let settings = ScenarioSettings {
        generator: Generator::Adam,
        ..ScenarioSettings::new(ScenarioKind::Realistic, Fairness::SP, UNRELIABLE, SEED)
    };
    let about = format!(
        "{}, realistic scenario, preprocessed as in the paper, proxies made by Adam",
        dataset.title
    );
    Ok((about, build(&rows, &settings)?))
}

/// As `equipoise demo` makes it, with another number of people.
fn synthetic(n_people: usize) -> Result<(String, Scenario), Box<dyn Error>> {
    let sources = Sources { data: Vec::new(), schema: None, n_people };
    let rows = sources.load(SYNTHETIC, Preprocessing::Intercept)?;
    let settings = ScenarioSettings {
        root_share: DemoSettings::default().root_share,
        generator: Generator::Smoothed,
        ..ScenarioSettings::new(ScenarioKind::Realistic, Fairness::SP, UNRELIABLE, SEED)
    };
    let about = format!("The demo's population, {n_people} people, smoothed proxies");
    Ok((about, build(&rows, &settings)?))
}

/// The proxies of several clients are made at a time.
fn build(rows: &Rows, settings: &ScenarioSettings) -> Result<Scenario, Box<dyn Error>> {
    let split = Split::new(rows, settings)?;
    split.make_proxies(&[(settings.kind, settings.unreliable_share)])?;
    Ok(split.scenario(settings.kind, settings.unreliable_share, &mut |_, _| {})?)
}
