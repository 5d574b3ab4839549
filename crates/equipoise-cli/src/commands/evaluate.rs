//! `equipoise evaluate`: accuracy and fairness of a model on a table.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use equipoise_core::{
    Fairness, Judgement, Metrics, Requirements, Verdict, Warning, describe_verdict,
    warn_if_no_better_than_constant,
};
use equipoise_data::{Model, Purpose, read_rows};
use serde::Serialize;

use crate::delimiter_args::DelimiterArgs;
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
  equipoise evaluate outcome/model.json test.csv --threshold 0.3 --json
  equipoise evaluate outcome/model.json test.csv --require gap=0.05 --fairness eo")]
pub(crate) struct EvaluateArgs {
    /// The model, a model.json file
    model: PathBuf,
    /// Table of raw rows with labels (.csv, .csv.gz or .parquet)
    data: PathBuf,
    #[command(flatten)]
    delimiter: DelimiterArgs,
    /// Fairness criterion, or a mixture such as sp:0.5,eo:0.5: its worst gap is `gap` in JSON and in --require
    #[arg(long, value_name = "CRITERION", default_value = "sp")]
    fairness: Fairness,
    /// Select rows whose predicted probability is above this
    #[arg(long, value_name = "P", default_value_t = 0.5, allow_negative_numbers = true)]
    threshold: f64,
    /// What the model must achieve on these rows, such as gap=0.05,accuracy=0.75 [default: nothing]
    ///
    /// gap: the worst gap of --fairness between two groups, at most; accuracy, balanced-accuracy: at least.
    /// A missed requirement gives exit code 1; if the rows are too few to tell, the exit code is 0.
    #[arg(long, value_name = "REQUIREMENTS")]
    require: Option<Requirements>,
}

#[derive(Serialize)]
struct Document<'a> {
    rows: usize,
    fairness: Fairness,
    threshold: f64,
    #[serde(flatten)]
    headline: Headline,
    verdict: Verdict,
    judgements: &'a [Judgement],
    warnings: &'a [Warning],
    metrics: &'a Metrics,
}

pub(crate) fn run(args: &EvaluateArgs, output: &Output) -> anyhow::Result<Answer> {
    let threshold = args.threshold;
    if !(threshold > 0.0 && threshold < 1.0) {
        bail!("--threshold must be above 0 and below 1, found {threshold}");
    }
    let model = Model::read(&args.model)?;
    let data = read_rows(args.delimiter.of(&args.data), model.schema(), Purpose::Data)?;
    let scores = model.score(&data.rows).with_context(|| args.data.display().to_string())?;
    let log_odds = (threshold / (1.0 - threshold)).ln();
    let metrics = Metrics::of_scores(&scores, &data.rows, log_odds);
    let constant = warn_if_no_better_than_constant(&scores, &data.rows, &metrics);
    let warnings: Vec<Warning> = constant.into_iter().chain(data.warnings).collect();
    warnings.iter().for_each(|warning| output.warn(warning));
    let judgements = metrics.judge(args.require.unwrap_or_default(), args.fairness);
    let verdict = Verdict::of(&judgements);
    let document = Document {
        rows: metrics.rows,
        fairness: args.fairness,
        threshold,
        headline: Headline::of(&metrics, args.fairness),
        verdict,
        judgements: &judgements,
        warnings: &warnings,
        metrics: &metrics,
    };
    output.result(&document, || {
        let sentence = describe_verdict(&judgements, "these rows");
        let sentence = sentence.map_or_else(String::new, |sentence| sentence + "\n\n");
        sentence + &figures::describe(&metrics)
    })?;
    Ok(Answer::holds(verdict != Verdict::Fail))
}
