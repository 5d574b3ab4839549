//! `equipoise defend`: the coordinator's side, from proxies and root to one model.

pub(crate) mod memory_args;
mod report;
pub(crate) mod settings_args;

use std::path::{Path, PathBuf};

use clap::Args;
use equipoise_core::{Defense, Error, Termination};
use equipoise_data::{OutputFolder, Overlaps, Schema, load_round};
use equipoise_defend::{Defended, Timing, defend, write_files};

use crate::output::{Answer, Output};
use crate::progress::Bar;

/// Weigh the proxies by the root and publish one model
///
/// Reads one proxy and one root per client, finds the weights whose model is accurate and fair on the
/// root, and writes outcome.json, model.json, weights.csv and report.html, a page for
/// people, into a new folder. Exit code 1 means that
/// the steps ran out before the weights were stationary; the folder is written all the same.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise defend --proxies proxies --root roots --schema schema.toml --fairness sp -o outcome")]
pub(crate) struct DefendArgs {
    /// Folder of proxies, one table per client, named by the client
    #[arg(long, value_name = "DIR")]
    proxies: PathBuf,
    /// Folder of roots, tables of raw rows, one per client
    #[arg(long, value_name = "DIR")]
    root: PathBuf,
    /// The schema that all agreed on
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    #[command(flatten)]
    settings: settings_args::SettingsArgs,
    #[command(flatten)]
    memory: memory_args::MemoryArgs,
    /// Folder to write to; it must not exist
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Replace the folder if it is an earlier output
    #[arg(long)]
    force: bool,
}

/// Runs the command.
pub(crate) fn run(args: &DefendArgs, output: &Output) -> anyhow::Result<Answer> {
    let settings = args.settings.resolve()?;
    // Made and dropped: what cannot be written is refused before the solve and not after it.
    drop(OutputFolder::create(&args.output, args.force)?);
    let schema = Schema::read(&args.schema)?;
    let loaded = load_round(&args.proxies, &args.root, &schema, &args.memory.resolve())?;
    let warnings = loaded.proxy_warnings.iter().chain(&loaded.root_warnings);
    warnings.for_each(|warning| output.warn(warning));
    warn_of_overlaps(&loaded.overlaps, output);

    let solved = {
        let mut bar = Bar::new(output);
        defend(schema, &loaded, &settings, Vec::new(), Timing::Recorded, &mut bar)
    };
    let defended = solved.map_err(|error| {
        let equipoise_defend::Error::Solve(error) = error else { return error.into() };
        let of_root = matches!(error, Error::RootGroup { .. } | Error::RootPositives { .. });
        let place = if of_root { &args.root } else { &args.proxies };
        anyhow::Error::from(error).context(place.display().to_string())
    })?;
    write(&args.output, args.force, &defended)?;
    let Defended { outcome, file, model, .. } = &defended;

    outcome.warnings.iter().for_each(|warning| output.warn(warning));
    let rho_max = settings.outer.rho.max;
    if settings.defense == Defense::Bilevel && outcome.rho > 0.0 && outcome.rho < rho_max {
        output.note(format!(
            "the steps ended at ρ = {}, before --rho-max {rho_max}: fairness counts for less than \
             it would with more --iterations",
            outcome.rho
        ));
    }
    output.note(format!("wrote {}", args.output.display()));
    let report = report::Report::new(&args.output, file);
    output.result(&report, || report::in_words(file, model.schema()))?;
    Ok(Answer::holds(outcome.termination != Termination::IterationLimit))
}

/// Rows that clients have in common.
fn warn_of_overlaps(overlaps: &Overlaps, output: &Output) {
    overlaps.listed.iter().for_each(|overlap| output.warn(overlap));
    if overlaps.more > 0 {
        output.warn(format!("{} more pairs of clients share rows", overlaps.more));
    }
}

/// All files, or none of them.
fn write(path: &Path, force: bool, defended: &Defended) -> anyhow::Result<()> {
    let folder = OutputFolder::create(path, force)?;
    write_files(folder.path(), &defended.file, &defended.model, &defended.page)?;
    folder.commit()?;
    Ok(())
}
