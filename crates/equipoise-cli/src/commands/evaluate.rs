//! `equipoise evaluate`: accuracy and fairness of a model on a table.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use equipoise_core::{Fairness, Metrics};
use equipoise_data::{Model, Purpose, read_rows};
use serde::Serialize;

use crate::figures::{self, Headline};
use crate::output::{Answer, Output};

/// Measure a model on a table: accuracy and fairness
///
/// Encodes the rows with the model's schema and prints accuracy, balanced accuracy, AUC, calibration, the worst gaps
/// between groups in selection rate, true positive rate and false positive rate, and the figures of each group, with
/// 95 % intervals. A gap is the rate of the reference group minus that of another; between two other groups, it is the
/// higher minus the lower.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise evaluate outcome/model.json test.csv
  equipoise evaluate outcome/model.json test.csv --threshold 0.3 --json")]
pub(crate) struct EvaluateArgs {
    /// The model, a model.json file
    model: PathBuf,
    /// Table of raw rows with labels
    data: PathBuf,
    /// Fairness criterion whose worst gap is `gap` in JSON, or a mixture
    #[arg(long, value_name = "CRITERION", default_value = "sp")]
    fairness: Fairness,
    /// Select rows whose predicted probability is above this
    #[arg(long, value_name = "P", default_value_t = 0.5, allow_negative_numbers = true)]
    threshold: f64,
}

#[derive(Serialize)]
struct Document<'a> {
    rows: usize,
    fairness: Fairness,
    threshold: f64,
    #[serde(flatten)]
    headline: Headline,
    metrics: &'a Metrics,
}

pub(crate) fn run(args: &EvaluateArgs, output: &Output) -> anyhow::Result<Answer> {
    let threshold = args.threshold;
    if !(threshold > 0.0 && threshold < 1.0) {
        bail!("--threshold must be above 0 and below 1, found {threshold}");
    }
    let model = Model::read(&args.model)?;
    let data = read_rows(&args.data, model.schema(), Purpose::Data)?;
    data.warnings.iter().for_each(|warning| output.warn(warning));
    let scores = model.score(&data.rows).with_context(|| args.data.display().to_string())?;
    let log_odds = (threshold / (1.0 - threshold)).ln();
    let metrics = Metrics::of_scores(&scores, &data.rows, log_odds);
    let document = Document {
        rows: metrics.rows,
        fairness: args.fairness,
        threshold,
        headline: Headline::of(&metrics, args.fairness),
        metrics: &metrics,
    };
    output.result(&document, || figures::describe(&metrics))?;
    Ok(Answer::Done)
}
