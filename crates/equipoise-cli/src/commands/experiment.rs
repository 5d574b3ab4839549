//! `equipoise experiment`: the paper's grid, or a part of it, on the paper's datasets.

mod options;

use std::path::PathBuf;
use std::sync::Mutex;

use clap::Args;
use equipoise_lab::{
    CellSummary, ExperimentSettings, json_name, run_experiment, summarise, write_results_csv,
};
use serde::Serialize;

use crate::answer::Answer;
use crate::figures::{number, table};
use crate::output::Output;
use crate::progress::Bar;

/// Reproduce the paper's experiments
///
/// Splits each dataset among clients, makes the most unfair of them unreliable, and runs every defense on
/// the same rounds, for several seeds. Finished cells are kept in the folder at once: the same command
/// continues an interrupted run. results.csv holds every single run, without timings; its bytes do not
/// depend on the number of threads.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise data fetch law-school --to data
  equipoise experiment --dataset law-school --fairness sp --scenario ideal --seeds 2 \\
      --data data -o results")]
pub(crate) struct ExperimentArgs {
    /// Folder with law_school.csv and dutch.csv; `data fetch all` gets them
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    #[command(flatten)]
    options: options::ExperimentOptions,
    /// Folder for the results; an interrupted run in it is continued
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// The results in JSON.
#[derive(Serialize)]
struct Document<'a> {
    cells: &'a [CellSummary],
}

/// Runs the command.
pub(crate) fn run(args: &ExperimentArgs, output: &Output) -> anyhow::Result<Answer> {
    let settings: ExperimentSettings = args.options.resolve();
    let cells = {
        let bar = Mutex::new(Bar::new(output));
        run_experiment(&settings, &args.data, &args.output, &|done, of| {
            if let Ok(mut bar) = bar.lock() {
                bar.show(done, of, || "cells".to_owned());
            }
        })?
    };
    write_results_csv(&args.output.join("results.csv"), &cells)?;
    let summaries = summarise(&cells, &settings.variants);
    output.note(format!("wrote {}", args.output.join("results.csv").display()));
    output.result(&Document { cells: &summaries }, || in_words(&summaries))?;
    Ok(Answer::Done)
}

fn in_words(summaries: &[CellSummary]) -> String {
    let rows = summaries.iter().map(|cell| {
        vec![
            cell.dataset.clone(),
            json_name(&cell.fairness),
            json_name(&cell.scenario),
            format!("{:.0} %", 100.0 * cell.unreliable),
            cell.defense.to_owned(),
            format!("{:.2} ± {:.2}", cell.accuracy_mean, cell.accuracy_std),
            format!("{:.2}", cell.balanced_accuracy_mean),
            format!("{:.4} ± {:.4}", cell.fairness_mean, cell.fairness_std),
            number(cell.seconds),
        ]
    });
    let header = [
        "dataset",
        "fairness",
        "scenario",
        "unreliable",
        "defense",
        "accuracy %",
        "balanced %",
        "|SPD| or |EOD|",
        "seconds",
    ];
    let text = table(&header, rows.collect(), &[3, 5, 6, 7, 8]);
    text + "Means over the seeds, ± their standard deviation.\n"
}
