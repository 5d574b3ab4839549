//! `equipoise experiment`: the paper's grid of experiments, on the paper's datasets or your own.

mod options;

use std::path::PathBuf;
use std::sync::Mutex;

use clap::Args;
use equipoise_core::Choice;
use equipoise_lab::{CellSummary, Experiment, FailedCells, Results, run_experiment, summarise};
use serde::Serialize;

use crate::formatting::{count, number, table};
use crate::invocation;
use crate::output::{Answer, Output};
use crate::progress::Bar;
use crate::shell::command_line;
use crate::source_args::SourceArgs;

/// Reproduce the paper's experiments, or run them on your own data
///
/// Splits each dataset among clients, makes the most unfair clients unreliable, and runs every defense on the same
/// rounds for several seeds. Each finished cell of the grid (one dataset, criterion, scenario, share of unreliable
/// clients and seed) is saved immediately, so the same command resumes an interrupted run. A cell that cannot be run, for example because the root has no positive row of a group, is listed with
/// the reason; the others continue, and the exit code is 1.
///
/// With --dataset csv, your own table is split instead of the paper's datasets, and the defaults are those of `proxy` and
/// `defend`: their generator, their defense, and a root of 1 %.
///
/// Writes report.html (the paper's tables and figures next to ours), results.csv (every run, without timings) and
/// results.jsonl (used to resume).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise data fetch all    # download the paper's two datasets to data/
  equipoise experiment -o results
  equipoise experiment --dataset law-school --fairness sp --seeds 2 -o quick
  equipoise experiment --dataset synthetic --clients 10 -o synthetic
  equipoise experiment --dataset law-school --people 4000 --split sizes \\
      --profile default -o small
  equipoise experiment --dataset csv --data people.csv \\
      --schema schema.toml -o own")]
pub(crate) struct ExperimentArgs {
    #[command(flatten)]
    sources: SourceArgs,
    #[command(flatten)]
    options: options::ExperimentOptions,
    /// Folder for the results; resumes a run that was interrupted there
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// The results in JSON.
#[derive(Serialize)]
struct Document<'a> {
    cells: &'a [CellSummary],
    /// The cells that could not be run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<FailedCells>,
}

pub(crate) fn run(args: &ExperimentArgs, output: &Output) -> anyhow::Result<Answer> {
    let datasets = args.options.datasets();
    let settings = args.options.resolve(args.sources.n_people(datasets));
    let requested = settings.datasets.len() * settings.fairness.len();
    if settings.combinations().len() < requested {
        output.note(
            "as in the paper, dutch is not run with eo, because its raw rows are nearly fair",
        );
    }
    let sources = args.sources.resolve(datasets)?;
    let experiment = {
        let bar = Mutex::new(Bar::new(output));
        run_experiment(&settings, &sources, &args.output, &|done, total| {
            if let Ok(mut bar) = bar.lock() {
                bar.show_with_time_left(done, total, "cells");
            }
        })?
    };
    let results =
        Results { experiment: &experiment, command: &command_line(invocation::command_line()) };
    let page = results.write(&args.output)?;
    let summaries = summarise(&experiment.grid, &settings.variants);
    let document = Document { cells: &summaries, failed: experiment.failed_cells() };
    warn_about(&document.failed, &experiment, output);
    output.note(format!("wrote {}", page.display()));
    output.result(&document, || describe(&summaries, &experiment))?;
    Ok(Answer::holds(document.failed.is_empty()))
}

/// Maximum number of reasons listed in the terminal.
const MAX_LISTED: usize = 10;

/// Lists the cells that could not be run, by split.
fn warn_about(failed: &[FailedCells], experiment: &Experiment, output: &Output) {
    for split in failed.iter().take(MAX_LISTED) {
        let FailedCells { dataset, fairness, seed, cells, problem } = split;
        let dataset = experiment.dataset_title(dataset);
        let cells = count(cells.len(), "cell");
        output.warn(format!(
            "{dataset}, {}, seed {seed}, {cells} not run: {problem}",
            fairness.name()
        ));
    }
    if failed.is_empty() {
        return;
    }
    let (n_failed, n_cells) =
        (failed.iter().map(|split| split.cells.len()).sum::<usize>(), experiment.grid.len());
    output.warn(format!(
        "{n_failed} of {n_cells} cells could not be run; report.html lists them all"
    ));
}

fn describe(summaries: &[CellSummary], experiment: &Experiment) -> String {
    let rows = summaries.iter().map(|cell| {
        let figures = &cell.figures;
        vec![
            experiment.dataset_title(&cell.dataset).to_owned(),
            cell.fairness.name().to_owned(),
            cell.scenario.name().to_owned(),
            format!("{:.0} %", 100.0 * cell.unreliable),
            cell.defense.to_owned(),
            format!("{:.2} ± {:.2}", figures.accuracy.mean, figures.accuracy.std),
            format!("{:.2}", figures.balanced.mean),
            format!("{:.4} ± {:.4}", figures.gap.mean, figures.gap.std),
            number(figures.seconds.mean),
        ]
    });
    let header =
        "dataset,fairness,scenario,unreliable,defense,accuracy %,balanced %,|SPD| or |EOD|,seconds";
    let header: Vec<_> = header.split(',').collect();
    table(&header, rows.collect(), &[3, 5, 6, 7, 8]) + "Mean ± standard deviation over the seeds.\n"
}
