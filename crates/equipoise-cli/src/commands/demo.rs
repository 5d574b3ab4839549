//! `equipoise demo`: a whole round on a made-up population, every defense on the same proxies.

mod story;

use std::path::PathBuf;

use clap::Args;
use equipoise_core::Defense;
use equipoise_data::{Model, OutcomeFile, OutputFolder, write_json};
use equipoise_defend::page::{self, PageContext};
use equipoise_defend::{Timing, write_files};
use equipoise_lab::{DefenseRun, Demo, DemoSettings};
use equipoise_report::Measured;

use crate::output::{Answer, Output};
use crate::progress::Bar;

/// See a whole round happen on a made-up population
///
/// Makes about 20,000 loan applicants of two groups, shares them among clients, and ranks the clients by
/// how unfair a model of their own rows is. The worst are unreliable: they send their rows as they are. The
/// others send fair proxies. Every defense then meets the same round and is judged on the test rows of the
/// reliable clients. All files are kept, so that each step can be done again by hand.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise demo --unreliable 0.4 --seed 7 --out loans
  equipoise defend --proxies loans/proxies --root loans/root --schema loans/schema.toml \\
      --fairness sp -o loans/again
  equipoise evaluate loans/again/model.json loans/test.csv")]
pub(crate) struct DemoArgs {
    /// Clients that the people are shared among
    #[arg(long, value_name = "K", default_value_t = 5)]
    clients: usize,
    /// Share of clients that are unreliable
    #[arg(long, value_name = "SHARE", default_value_t = 0.6)]
    unreliable: f64,
    /// Share of each client's training rows that the server holds as root
    #[arg(long, value_name = "SHARE", default_value_t = 0.015)]
    root_share: f64,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Folder to write to [default: equipoise-demo, where an earlier demo is replaced]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the folder if it is an earlier output
    #[arg(long)]
    force: bool,
}

/// Runs the command.
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
        Demo::build(settings, folder.path(), &mut |done, of| {
            bar.show(done, of, || "making fair proxies".to_owned());
        })?
    };
    let mut runs = Vec::new();
    for defense in Defense::ALL {
        runs.push(demo.defend(defense, &mut Bar::new(output))?);
    }
    runs.iter().try_for_each(|run| write_run(&demo, run, &runs, &folder))?;
    let story = story::Story::new(&path, &demo, &runs);
    write_json(&folder.path().join("demo.json"), &story, false)?;
    folder.commit()?;
    output.result(&story, || story::in_words(&demo, &runs, &path))?;
    Ok(Answer::Done)
}

/// A folder per defense, as `defend` writes it; the page compares with the pooled model on the test rows.
fn write_run(
    demo: &Demo,
    run: &DefenseRun,
    runs: &[DefenseRun],
    folder: &OutputFolder,
) -> anyhow::Result<()> {
    let place = folder.path().join(run.defense.name());
    std::fs::create_dir(&place)?;
    let file = OutcomeFile::new(&demo.schema, &demo.round, &run.outcome, Vec::new(), run.seconds)?;
    let model = Model::new(demo.schema.clone(), run.outcome.theta.clone())?;
    let compared = runs
        .iter()
        .filter(|other| other.defense == Defense::Pooled && other.defense != run.defense);
    let measured = std::iter::once(run)
        .chain(compared)
        .map(|run| Measured {
            name: format!("{} on the test rows", run.defense),
            metrics: run.metrics.clone(),
        })
        .collect();
    let unreliable: Vec<&str> = demo
        .scenario
        .clients
        .iter()
        .filter(|client| !client.reliable)
        .map(|client| client.id.as_str())
        .collect();
    let context = PageContext {
        unreliable: &unreliable,
        measured,
        notes: Vec::new(),
        timing: Timing::Recorded,
    };
    let page = page::render(&file, &run.outcome, context);
    Ok(write_files(&place, &file, &model, &page)?)
}
