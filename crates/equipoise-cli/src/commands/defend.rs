//! `equipoise defend`: the coordinator's side, from proxies and trusted rows to one model.

mod report;
pub(crate) mod settings_args;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::bail;
use clap::Args;
use equipoise_core::{About, Defense, Error, Termination, Verdict, Warning, can_sweep, sweep};
use equipoise_data::{
    Absent, OutputFolder, Schema, Trusted, check_origins, load_round_with, read_folder,
};
use equipoise_report::OutcomePage;
use equipoise_report::defend::{self, absence_warning, write_files};

use crate::output::{Answer, Output};
use crate::progress::Bar;

/// Weight the proxies using trusted rows, and produce one model
///
/// Reads one proxy per client and the trusted rows, finds client weights that make the model accurate and fair on the
/// trusted rows (the root), and writes outcome.json, model.json, weights.csv and report.html to a new folder. Exit code 1
/// means that the model misses a requirement (--require), or that the solver ran out of steps before the weights
/// became stationary; the folder is still written.
///
/// Trust about 1 % of each client's rows, chosen at random, and in all at least 50 rows of every group. The more rows,
/// the smaller the bias that stands out from chance: docs/FAIRNESS.md has the figures.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise defend --proxies proxies --trusted trusted.csv --schema schema.toml \\
      --fairness sp --require gap=0.05,accuracy=0.75 -o outcome")]
pub(crate) struct DefendArgs {
    /// Folder of proxies, one table per client, named after the client
    #[arg(long, value_name = "DIR")]
    proxies: PathBuf,
    /// Table of trusted raw rows, or folder with one per client
    ///
    /// In a table, the column `client` says whose a row is, unless the schema has a column of that name. Cells may be
    /// empty, and the column may be absent. Clients without trusted rows take part too.
    #[arg(long, value_name = "FILE|DIR")]
    trusted: PathBuf,
    /// The schema that all parties agreed on
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    /// Go on without clients that have trusted rows but no proxy, as a network round does, and name them in the outcome
    ///
    /// Their trusted rows are not used.
    #[arg(long)]
    allow_missing: bool,
    #[command(flatten)]
    settings: settings_args::SettingsArgs,
    /// Also compute the trade-off between accuracy and fairness, as a table and a chart (bilevel and tilt only)
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
            "--sweep needs --defense bilevel or tilt: {} has no strength to vary",
            settings.defense
        );
    }
    // Fail before the solve, not after it, if the folder cannot be written.
    drop(OutputFolder::create(&args.output, args.force)?);
    let schema = Schema::read(&args.schema)?;
    let about_origins = check_origins(&read_folder(&args.proxies)?, &schema, settings.fairness)?;
    let absent = if args.allow_missing { Absent::LeaveOut } else { Absent::Refuse };
    let trusted = Trusted::Path(args.trusted.clone());
    let mut loaded = load_round_with(&args.proxies, trusted, &schema, absent)?;
    loaded.warnings.splice(0..0, about_origins);
    loaded.warnings.extend(loaded.absent.iter().map(|client| absence_warning(client)));
    let started = Instant::now();
    let outcome = defend::defend(&schema, &loaded, &settings, &mut Bar::new(output));
    let took = started.elapsed();
    let mut outcome = outcome.map_err(|error| {
        // What is unusual about the tables may be the cause.
        let about_tables = loaded.warnings.iter().cloned().chain(loaded.overlaps.warning());
        about_tables.for_each(|warning| output.warn(warning));
        let defend::Error::Solve(error) = error else { return error.into() };
        let inputs = match error {
            Error::RootGroup { .. }
            | Error::RootCondition { .. }
            | Error::UnassignedRows { .. } => &args.trusted,
            _ => &args.proxies,
        };
        anyhow::Error::from(error).context(inputs.display().to_string())
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
