//! The demo: a synthetic population becomes a round on which every defense is run.
//!
//! It writes what a consortium would have: a schema, each client's own rows, the trusted rows, and one proxy per client. Each
//! step can be repeated with the other commands.

use equipoise_core::{Fairness, Rows};
use equipoise_data::{
    LoadedRound, Purpose, Schema, infer, load_round, open_table, read_rows, write_atomically,
    write_proxy,
};
use std::path::Path;

use crate::error::Error;
use crate::population::{Person, infer_options, make_population, write_people, write_people_of};
use crate::scenario::{Generator, OnClient, Scenario, ScenarioKind, ScenarioSettings};

/// Settings of the demo.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DemoSettings {
    /// People in the population. Default: 20,000.
    pub n_people: usize,
    /// Number of clients to split the population among; at least 2. Default: 5.
    pub n_clients: usize,
    /// Share of unreliable clients, which send their biased rows unchanged, from 0 to 1. Default: 0.6.
    pub unreliable_share: f64,
    /// Share of each client's training rows in the root. Above 0, at most 1. Default: 1.5 %.
    pub root_share: f64,
    /// The fairness requested. Default: statistical parity.
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

/// The round of the demo, before any defense is run.
pub struct Demo {
    /// The settings it was made with.
    pub settings: DemoSettings,
    /// The schema of all tables.
    pub schema: Schema,
    /// The clients and what they send.
    pub scenario: Scenario,
    /// The round, read back from the files, as `defend` reads it.
    pub loaded: LoadedRound,
    /// The reliable clients' test rows, on which the defenses are measured.
    pub test: Rows,
}

impl DemoSettings {
    fn check(&self) -> Result<(), Error> {
        let refuse = |name, range, found| Err(Error::Setting { name, range, found });
        if self.n_clients < 2 || self.n_clients > self.n_people / 100 {
            return refuse(
                "clients",
                "at least 2 and at most one per 100 people",
                self.n_clients as f64,
            );
        }
        if !(self.root_share > 0.0 && self.root_share <= 1.0) {
            return refuse("root-share", "above 0 and at most 1", self.root_share);
        }
        let reliable = 1.0 - 0.5 / self.n_clients as f64;
        if !(0.0..reliable).contains(&self.unreliable_share) {
            let range = "at least 0 and leave at least one reliable client";
            return refuse("unreliable", range, self.unreliable_share);
        }
        Ok(())
    }
}

impl Demo {
    /// Generates the population, splits it, generates the proxies, writes all files to `folder`, which must exist,
    /// and reads the round back.
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
            generator: Generator::Target,
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
        let loaded = load_round(&folder.join("proxies"), &folder.join("trusted.csv"), &schema)?;
        Ok(Self { settings, schema, scenario, loaded, test })
    }
}

/// Writes `data/` and `proxies/` with a file per client, all trusted rows to `trusted.csv`, and the reliable clients' test
/// rows to `test.csv`.
fn write_clients(
    folder: &Path,
    people: &[Person],
    scenario: &Scenario,
    schema: &Schema,
) -> Result<(), Error> {
    for part in ["data", "proxies"] {
        let part = folder.join(part);
        std::fs::create_dir(&part).map_err(Error::folder(&part))?;
    }
    for client in &scenario.clients {
        let file = format!("{}.csv", client.id);
        write_people(&folder.join("data").join(&file), people, &client.members.train)?;
        let proxy = folder.join("proxies").join(format!("{}.parquet", client.id));
        write_proxy(&proxy, &client.proxy, schema, false)?;
    }
    let trusted = scenario.clients.iter().map(|client| (&*client.id, &*client.members.root));
    write_people_of(&folder.join("trusted.csv"), people, trusted)?;
    let tested: Vec<usize> =
        scenario.judged_clients().flat_map(|client| client.members.test.iter().copied()).collect();
    write_people(&folder.join("test.csv"), people, &tested)
}

fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    Ok(write_atomically(path, false, |writer| writer.write_all(text.as_bytes()))?)
}
