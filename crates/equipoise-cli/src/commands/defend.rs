//! `equipoise defend`: the coordinator's side, from proxies and root to one model.

mod memory_args;
pub(crate) mod page;
mod report;
mod settings_args;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use equipoise_core::{Defense, Error, Termination, solve};
use equipoise_data::{
    ColumnValues, Model, OutcomeFile, OutputColumn, OutputFolder, Schema, load_round,
    write_atomically, write_table,
};

use self::page::PageContext;
use crate::answer::Answer;
use crate::output::Output;
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

    let (solved, seconds) = {
        let mut bar = Bar::new(output);
        let started = Instant::now();
        let solved = solve(&loaded.round, &settings, &mut bar);
        (solved, started.elapsed().as_secs_f64())
    };
    let outcome = solved.map_err(|error| {
        let of_root = matches!(error, Error::RootGroup { .. } | Error::RootPositives { .. });
        let place = if of_root { &args.root } else { &args.proxies };
        anyhow::Error::from(error).context(place.display().to_string())
    })?;
    let file =
        OutcomeFile::new(&schema, &loaded.round, &outcome, loaded.outcome_warnings(), seconds)?;
    let measured = page::measured_on_root(&loaded.round, &file)?;
    let page = page::render(&file, &outcome, PageContext { unreliable: &[], measured });
    let model = Model::new(schema, outcome.theta)?;
    write(&args.output, args.force, &file, &model, &page)?;

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
    let report = report::Report::new(&args.output, &file);
    output.result(&report, || report::in_words(&file, model.schema()))?;
    Ok(Answer::holds(outcome.termination != Termination::IterationLimit))
}

/// All files, or none of them.
fn write(
    path: &Path,
    force: bool,
    file: &OutcomeFile,
    model: &Model,
    page: &str,
) -> anyhow::Result<()> {
    let folder = OutputFolder::create(path, force)?;
    write_files(folder.path(), file, model, page)?;
    folder.commit()?;
    Ok(())
}

/// outcome.json, model.json, weights.csv and report.html, into a folder that exists.
pub(crate) fn write_files(
    folder: &Path,
    file: &OutcomeFile,
    model: &Model,
    page: &str,
) -> anyhow::Result<()> {
    write_atomically(&folder.join("report.html"), false, |out| out.write_all(page.as_bytes()))?;
    file.write(&folder.join("outcome.json"), false)?;
    model.write(&folder.join("model.json"), false)?;
    let clients = &file.clients;
    let ids = clients.iter().map(|client| client.id.clone()).collect();
    let weights = clients.iter().map(|client| client.weight).collect();
    let rows = clients.iter().map(|client| client.proxy_rows as u64).collect();
    let columns = [
        OutputColumn::new("client", ColumnValues::Texts(ids)),
        OutputColumn::new("weight", ColumnValues::Numbers(weights)),
        OutputColumn::new("rows", ColumnValues::Counts(rows)),
    ];
    write_table(&folder.join("weights.csv"), &columns, false)?;
    Ok(())
}
