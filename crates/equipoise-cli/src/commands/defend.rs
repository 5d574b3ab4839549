//! `equipoise defend`: the coordinator's side, from proxies and root to one model.

mod report;
pub(crate) mod settings_args;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{anyhow, bail};
use clap::Args;
use equipoise_core::{About, Defense, Error, Termination, Verdict, Warning, can_sweep, sweep};
use equipoise_data::{
    LoadedRound, OutputFolder, Schema, check_origins, load_round, load_round_of_present,
    read_folder,
};
use equipoise_report::OutcomePage;
use equipoise_report::defend::{self, absence_warning, write_files};

use crate::output::{Answer, Output};
use crate::progress::Bar;

/// Weight the proxies using the root, and produce one model
///
/// Reads one proxy and one root per client, finds client weights that make the model accurate and fair on
/// the root, and writes outcome.json, model.json, weights.csv and report.html to a new folder. Exit code 1
/// means that the model misses a requirement (--require), or that the solver ran out of steps before the weights
/// became stationary; the folder is still written.
///
/// As root, collect about 1 % of each client's rows at random, and in all at least 50 rows of every group. The more rows,
/// the smaller the bias that stands out from chance: docs/FAIRNESS.md has the figures.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise defend --proxies proxies --root roots --schema schema.toml \\
      --fairness sp --require gap=0.05,accuracy=0.75 -o outcome")]
pub(crate) struct DefendArgs {
    /// Folder of proxies, one table per client, named after the client
    #[arg(long, value_name = "DIR")]
    proxies: PathBuf,
    /// Folder of roots, one table of raw rows per client
    #[arg(long, value_name = "DIR")]
    root: PathBuf,
    /// The schema that all parties agreed on
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    /// Go on without clients that have a root but no proxy, as a network round does, and name them in the outcome
    ///
    /// Their roots are not used. A proxy without a root is still an error: nobody trusts a sample of that client, so it could
    /// not take part in a network round either.
    #[arg(long)]
    allow_missing: bool,
    #[command(flatten)]
    settings: settings_args::SettingsArgs,
    /// Also compute the trade-off between accuracy and fairness, as a table and a chart (bilevel and trust only)
    #[arg(long)]
    sweep: bool,
    /// Folder to write to; it must not exist
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Replace the folder if it holds earlier output
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &DefendArgs, output: &Output) -> anyhow::Result<Answer> {
    let settings = args.settings.resolve()?;
    if args.sweep && !can_sweep(settings.defense) {
        bail!(
            "--sweep needs --defense bilevel or trust: {} has no strength to vary",
            settings.defense
        );
    }
    // Fail before the solve, not after it, if the folder cannot be written.
    drop(OutputFolder::create(&args.output, args.force)?);
    let schema = Schema::read(&args.schema)?;
    let about_origins = check_origins(&read_folder(&args.proxies)?, &schema, settings.fairness)?;
    let (mut loaded, absent) = load(args, &schema)?;
    loaded.warnings.splice(0..0, about_origins);
    loaded.warnings.extend(absent.iter().map(|client| absence_warning(client)));
    let started = Instant::now();
    let outcome = defend::defend(&schema, &loaded, &settings, &mut Bar::new(output));
    let took = started.elapsed();
    let mut outcome = outcome.map_err(|error| {
        // What is unusual about the tables may be the cause.
        let about_tables = loaded.warnings.iter().cloned().chain(loaded.overlaps.warning());
        about_tables.for_each(|warning| output.warn(warning));
        let defend::Error::Solve(error) = error else { return error.into() };
        let is_about_root = matches!(error, Error::RootGroup { .. } | Error::RootCondition { .. });
        let folder = if is_about_root { &args.root } else { &args.proxies };
        anyhow::Error::from(error).context(folder.display().to_string())
    })?;
    outcome.about = about();
    if args.sweep {
        outcome.sweep = sweep(&loaded.round, &settings, |_, _| {})?;
    }
    let folder = OutputFolder::create(&args.output, args.force)?;
    write_files(&OutcomePage::new(&outcome, &schema)?, folder.path())?;
    folder.commit()?;

    outcome.warnings.iter().for_each(|warning| output.warn(named(warning, &loaded.warnings)));
    let rho_max = settings.outer.rho.max;
    if settings.defense == Defense::Bilevel && outcome.rho > 0.0 && outcome.rho < rho_max {
        output.note(format!(
            "the solve stopped at ρ = {}, below --rho-max {rho_max}. More --iterations would give fairness \
             more weight",
            outcome.rho
        ));
    }
    output.note(format!("wrote {}", args.output.display()));
    let document = report::document(&args.output, &outcome)?;
    output.result(&document, || report::text(&outcome, took))?;
    let is_stationary = outcome.termination != Termination::IterationLimit;
    Ok(Answer::holds(is_stationary && outcome.verdict != Verdict::Fail))
}

/// The round, and the clients that are absent from it.
fn load(args: &DefendArgs, schema: &Schema) -> anyhow::Result<(LoadedRound, Vec<String>)> {
    let loaded = match args.allow_missing {
        true => load_round_of_present(&args.proxies, &args.root, schema),
        false => load_round(&args.proxies, &args.root, schema).map(|loaded| (loaded, Vec::new())),
    };
    loaded.map_err(|error| match &error {
        equipoise_data::Error::Unmatched { without_root, .. }
            if without_root.is_empty() && !args.allow_missing =>
        {
            anyhow!("{error} If they did not submit, use --allow-missing to go on without them.")
        }
        _ => error.into(),
    })
}

/// Who runs this and when. The round has no name here.
fn about() -> About {
    let name = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|key| std::env::var(key).ok());
    let date = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    About { round: None, run_by: name.filter(|name| !name.is_empty()), date: Some(date) }
}

/// The warning with the file it is about, which the outcome does not store.
fn named(warning: &Warning, loaded: &[Warning]) -> Warning {
    let is_same = |other: &&Warning| Warning { file: None, ..(*other).clone() } == *warning;
    loaded.iter().find(is_same).unwrap_or(warning).clone()
}
