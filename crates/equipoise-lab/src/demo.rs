//! The demo: a made-up population becomes a round, and every defense meets the same round.
//!
//! What is written is what a consortium would have: a schema, each client's own rows, the root, and one
//! proxy per client. So each step of the demo can be done again by hand with the other commands.

use equipoise_core::{Defense, Fairness, Metrics, Observer, Outcome, Round, Rows, Settings, solve};
use equipoise_data::{
    Purpose, Schema, infer, open_table, read_rows, write_atomically, write_proxy,
};
use std::path::Path;
use std::time::Instant;

use crate::error::Error;
use crate::population::{Person, infer_options, make_population, write_people};
use crate::scenario::{OnClient, Scenario, ScenarioKind, ScenarioSettings};

/// What the demo can be told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DemoSettings {
    /// People in the population. Default: 20,000.
    pub n_people: usize,
    /// Clients that they are shared among; at least 2. Default: 5.
    pub n_clients: usize,
    /// Share of clients that send their biased rows as they are, between 0 and 1. Default: 0.6.
    pub unreliable_share: f64,
    /// Share of each client's training rows in the root. Above 0, at most 1. Default: 1.5 %.
    pub root_share: f64,
    /// The fairness asked for. Default: statistical parity.
    pub fairness: Fairness,
    /// Seed of population, split and proxies. Default: 1.
    pub seed: u64,
}

impl Default for DemoSettings {
    fn default() -> Self {
        Self {
            n_people: 20_000,
            n_clients: 5,
            unreliable_share: 0.6,
            root_share: 0.015,
            fairness: Fairness::SP,
            seed: 1,
        }
    }
}

/// The round of the demo, before any defense.
pub struct Demo {
    /// The settings it was made with.
    pub settings: DemoSettings,
    /// What all clients agreed on.
    pub schema: Schema,
    /// The clients and what they send.
    pub scenario: Scenario,
    /// What the server sees of them.
    pub round: Round,
    /// Rows that the defenses are judged on: the reliable clients' test rows.
    pub test: Rows,
}

/// A defense on the demo's round.
#[derive(Debug, Clone)]
pub struct DefenseRun {
    /// Which one.
    pub defense: Defense,
    /// What it gave.
    pub outcome: Outcome,
    /// Its model on the test rows.
    pub metrics: Metrics,
    /// How long the solve took.
    pub seconds: f64,
}

impl DemoSettings {
    fn check(&self) -> Result<(), Error> {
        let refuse = |name, range, found| Err(Error::Setting { name, range, found });
        if self.n_clients < 2 || self.n_clients > self.n_people / 100 {
            return refuse("clients", "at least 2, with 100 people each", self.n_clients as f64);
        }
        if !(self.root_share > 0.0 && self.root_share <= 1.0) {
            return refuse("root-share", "above 0 and at most 1", self.root_share);
        }
        let reliable = 1.0 - 0.5 / self.n_clients as f64;
        if !(0.0..reliable).contains(&self.unreliable_share) {
            let range = "at least 0, and leave at least one client reliable";
            return refuse("unreliable", range, self.unreliable_share);
        }
        Ok(())
    }
}

impl Demo {
    /// Makes the population, splits it, makes the proxies, and writes all files into `folder`, which must
    /// exist.
    pub fn build(
        settings: DemoSettings,
        folder: &Path,
        on_client: &mut OnClient<'_>,
    ) -> Result<Self, Error> {
        settings.check()?;
        let people = make_population(settings.n_people, settings.seed);
        let everyone: Vec<usize> = (0..people.len()).collect();
        let population = folder.join("population.csv");
        write_people(&population, &people, &everyone)?;
        let schema = infer(open_table(&population)?, &infer_options(true))?.schema;
        write_text(&folder.join("schema.toml"), &schema.to_toml())?;
        let rows = read_rows(&population, &schema, Purpose::Data)?.rows;

        let scenario_settings = ScenarioSettings {
            n_clients: settings.n_clients,
            root_share: settings.root_share,
            ..ScenarioSettings::new(
                ScenarioKind::Realistic,
                settings.fairness,
                settings.unreliable_share,
                settings.seed,
            )
        };
        let scenario = Scenario::build(&rows, &scenario_settings, on_client)?;
        write_clients(folder, &people, &scenario, &schema)?;
        let test = scenario.test_rows()?;
        let round = scenario.round()?;
        Ok(Self { settings, schema, scenario, round, test })
    }

    /// Runs a defense on the round, with the default profile.
    pub fn defend(
        &self,
        defense: Defense,
        observer: &mut dyn Observer,
    ) -> Result<DefenseRun, Error> {
        let settings = Settings { defense, ..Settings::new(self.settings.fairness) }.validate()?;
        let started = Instant::now();
        let outcome = solve(&self.round, &settings, observer)?;
        let seconds = started.elapsed().as_secs_f64();
        let metrics = Metrics::of(&outcome.theta, &self.test)?;
        Ok(DefenseRun { defense, outcome, metrics, seconds })
    }
}

/// `data/`, `root/` and `proxies/` with a file per client, and the test rows that count in `test.csv`.
fn write_clients(
    folder: &Path,
    people: &[Person],
    scenario: &Scenario,
    schema: &Schema,
) -> Result<(), Error> {
    for part in ["data", "root", "proxies"] {
        let part = folder.join(part);
        std::fs::create_dir(&part)
            .map_err(|source| Error::Folder { folder: part.display().to_string(), source })?;
    }
    for client in &scenario.clients {
        let file = format!("{}.csv", client.id);
        write_people(&folder.join("data").join(&file), people, &client.members.train)?;
        write_people(&folder.join("root").join(&file), people, &client.members.root)?;
        let proxy = folder.join("proxies").join(format!("{}.parquet", client.id));
        write_proxy(&proxy, &client.proxy, schema, false)?;
    }
    let tested: Vec<usize> =
        scenario.judged_clients().flat_map(|client| client.members.test.iter().copied()).collect();
    write_people(&folder.join("test.csv"), people, &tested)
}

fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    Ok(write_atomically(path, false, |writer| writer.write_all(text.as_bytes()))?)
}
