//! `equipoise experiment`: the paper's grid of experiments, on the paper's datasets or your own.

mod options;

use std::path::PathBuf;
use std::sync::Mutex;

use clap::Args;
use equipoise_core::Choice;
use equipoise_lab::{CellSummary, Results, run_experiment, summarise};
use serde::Serialize;

use crate::formatting::{number, table};
use crate::invocation;
use crate::output::{Answer, Output};
use crate::progress::Bar;
use crate::shell::command_line;
use crate::source_args::SourceArgs;

/// Reproduce the paper's experiments, or run them on your own data
///
/// Splits each dataset among clients, makes the most unfair clients unreliable, and runs every defense on the same
/// rounds for several seeds. Each finished cell of the grid (one dataset, criterion, scenario, share of unreliable
/// clients and seed) is saved immediately, so the same command resumes an interrupted run, or adds ablations to a
/// finished run.
///
/// Writes report.html (the paper's tables and figures next to ours), RESULTS.md (the same as text), tables/ (each table
/// as CSV), results.csv (every run, without timings), ablations.csv, traces.csv and results.jsonl (used to resume).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise data fetch all    # download the paper's two datasets to data/
  equipoise experiment --ablations all -o results
  equipoise experiment --dataset law-school --fairness sp --seeds 2 -o quick
  equipoise experiment --dataset synthetic --clients 10 -o synthetic
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ablations: Vec<CellSummary>,
}

pub(crate) fn run(args: &ExperimentArgs, output: &Output) -> anyhow::Result<Answer> {
    let settings = args.options.resolve();
    let requested = settings.datasets.len() * settings.fairness.len();
    if settings.combinations().len() < requested {
        output.note(
            "as in the paper, dutch is not run with eo, because its raw rows are nearly fair",
        );
    }
    let sources = args.sources.resolve();
    let experiment = {
        let bar = Mutex::new(Bar::new(output));
        let ablations = args.options.ablations();
        run_experiment(&settings, &ablations, &sources, &args.output, &|done, total| {
            if let Ok(mut bar) = bar.lock() {
                bar.show_with_time_left(done, total, "cells");
            }
        })?
    };
    let results =
        Results { experiment: &experiment, command: &command_line(invocation::command_line()) };
    let page = results.write(&args.output)?;
    let summaries = summarise(&experiment.grid, &settings.variants);
    let document = Document {
        cells: &summaries,
        ablations: summarise(&experiment.ablation_cells, &settings.variants),
    };
    output.note(format!("wrote {}", page.display()));
    output.result(&document, || describe(&summaries))
}

fn describe(summaries: &[CellSummary]) -> String {
    let rows = summaries.iter().map(|cell| {
        vec![
            cell.dataset.clone(),
            cell.fairness.name().to_owned(),
            cell.scenario.name().to_owned(),
            format!("{:.0} %", 100.0 * cell.unreliable),
            cell.defense.to_owned(),
            format!("{:.2} ± {:.2}", cell.accuracy_mean, cell.accuracy_std),
            format!("{:.2}", cell.balanced_accuracy_mean),
            format!("{:.4} ± {:.4}", cell.fairness_mean, cell.fairness_std),
            number(cell.seconds),
        ]
    });
    let header =
        "dataset,fairness,scenario,unreliable,defense,accuracy %,balanced %,|SPD| or |EOD|,seconds";
    let header: Vec<_> = header.split(',').collect();
    table(&header, rows.collect(), &[3, 5, 6, 7, 8]) + "Mean ± standard deviation over the seeds.\n"
}
