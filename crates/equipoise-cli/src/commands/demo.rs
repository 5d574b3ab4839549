//! `equipoise demo`: a whole round on a synthetic population, every defense on the same proxies.

mod summary;

use std::path::PathBuf;

use clap::Args;
use equipoise_core::{Choice, Defense, Metrics, Settings};
use equipoise_data::{OutputFolder, write_json};
use equipoise_lab::{Demo, DemoSettings};
use equipoise_report::defend::{defend, write_files};
use equipoise_report::{Measured, OutcomePage};

use crate::output::{Answer, Output};
use crate::progress::Bar;

/// Run a whole round on a synthetic population
///
/// Generates about 20,000 loan applicants from two groups, splits them among clients, and ranks the clients by
/// how unfair a model trained on their own rows is. The most unfair clients are the unreliable ones: they send
/// their rows unchanged. The others send fair proxies. Every defense is then run on this round and measured on
/// the test rows of the reliable clients. All files are kept, so that each step can be repeated with the other
/// commands.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise demo --unreliable 0.4 --seed 7 -o loans
  equipoise defend --proxies loans/proxies --trusted loans/trusted.csv \\
      --schema loans/schema.toml --fairness sp -o loans/again
  equipoise evaluate loans/again/model.json loans/test.csv")]
pub(crate) struct DemoArgs {
    /// Number of clients to split the population among
    #[arg(long, value_name = "K", default_value_t = 5)]
    clients: usize,
    /// Share of unreliable clients
    #[arg(long, value_name = "SHARE", default_value_t = 0.6)]
    unreliable: f64,
    /// Share of each client's training rows that the server trusts
    #[arg(long, value_name = "SHARE", default_value_t = 0.015)]
    root_share: f64,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Folder to write to [default: equipoise-demo, replacing an earlier demo]
    #[arg(short, long = "output", alias = "out", value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the folder if it holds earlier output
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &DemoArgs, output: &Output) -> anyhow::Result<Answer> {
    let settings = DemoSettings {
        n_clients: args.clients,
        unreliable_share: args.unreliable,
        root_share: args.root_share,
        seed: args.seed,
        ..DemoSettings::default()
    };
    let (path, force) = match &args.out {
        Some(path) => (path.clone(), args.force),
        None => (PathBuf::from("equipoise-demo"), true),
    };
    let folder = OutputFolder::create(&path, force)?;
    let demo = {
        let mut bar = Bar::new(output);
        Demo::build(settings, folder.path(), &mut |done, total| {
            bar.show(done, total, || "making fair proxies".to_owned());
        })?
    };
    let clients = &demo.scenario.clients;
    let unreliable: Vec<&str> =
        clients.iter().filter(|client| !client.reliable).map(|client| client.id.as_str()).collect();
    let (mut outcomes, mut measured) = (Vec::new(), Vec::new());
    for &defense in Defense::ALL {
        let settings = Settings { defense, ..Settings::new(demo.settings.fairness) }.validate()?;
        let outcome = defend(&demo.schema, &demo.loaded, &settings, &mut Bar::new(output))?;
        let (rows, metrics) =
            ("the test rows".to_owned(), Metrics::of(&outcome.theta, &demo.test)?);
        measured.push(Measured { defense, rows, metrics });
        outcomes.push(outcome);
    }
    for outcome in &outcomes {
        let defense = outcome.settings.defense;
        let is_shown = |m: &&Measured| [defense, Defense::Pooled].contains(&m.defense);
        let mut measured: Vec<_> = measured.iter().filter(is_shown).cloned().collect();
        measured.sort_by_key(|m| m.defense != defense);
        let page = OutcomePage::new(outcome, &demo.schema)?;
        let page = OutcomePage { unreliable: &unreliable, measured, ..page };
        let subfolder = folder.path().join(defense.name());
        std::fs::create_dir(&subfolder)?;
        write_files(&page, &subfolder)?;
    }
    let runs: Vec<_> = outcomes.iter().zip(measured.iter().map(|m| &m.metrics)).collect();
    let summary = summary::Summary::new(&path, &demo, &runs);
    write_json(&folder.path().join("demo.json"), &summary, false)?;
    folder.commit()?;
    output.result(&summary, || summary::text(&demo, &runs, &path))?;
    Ok(Answer::Done)
}
