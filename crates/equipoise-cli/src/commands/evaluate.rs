//! `equipoise evaluate`: accuracy and fairness of a model on a table.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::Args;
use equipoise_core::{
    Fairness, Judgement, Metrics, Requirements, Verdict, Warning, describe_verdict,
    warn_if_no_better_than_constant,
};
use equipoise_data::{EncodedTable, Model, Purpose, read_rows};
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
    /// [default: the criterion that the model was made for]
    #[arg(long, value_name = "CRITERION")]
    fairness: Option<Fairness>,
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
pub(crate) struct Document<'a> {
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

/// What a model is measured by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    pub(crate) fairness: Fairness,
    pub(crate) threshold: f64,
    pub(crate) require: Requirements,
}

impl Options {
    pub(crate) fn check_range(&self) -> anyhow::Result<()> {
        log_odds(self.threshold).map(|_| ())
    }
}

/// The score of a row whose predicted probability is this threshold.
pub(crate) fn log_odds(threshold: f64) -> anyhow::Result<f64> {
    ensure!(
        threshold > 0.0 && threshold < 1.0,
        "--threshold must be above 0 and below 1, found {threshold}"
    );
    Ok((threshold / (1.0 - threshold)).ln())
}

/// A model that was measured on a table.
pub(crate) struct Evaluated {
    options: Options,
    metrics: Metrics,
    judgements: Vec<Judgement>,
    warnings: Vec<Warning>,
}

impl Evaluated {
    pub(crate) fn new(
        model: &Model,
        data: EncodedTable,
        options: Options,
    ) -> Result<Self, equipoise_data::Error> {
        let scores = model.score(&data.rows)?;
        let log_odds = (options.threshold / (1.0 - options.threshold)).ln();
        let metrics = Metrics::of_scores(&scores, &data.rows, log_odds);
        let constant = warn_if_no_better_than_constant(&scores, &data.rows, &metrics);
        let warnings = constant.into_iter().chain(data.warnings).collect();
        let judgements = metrics.judge(options.require, options.fairness);
        Ok(Self { options, metrics, judgements, warnings })
    }

    pub(crate) fn document(&self) -> Document<'_> {
        Document {
            rows: self.metrics.rows,
            fairness: self.options.fairness,
            threshold: self.options.threshold,
            headline: Headline::of(&self.metrics, self.options.fairness),
            verdict: Verdict::of(&self.judgements),
            judgements: &self.judgements,
            warnings: &self.warnings,
            metrics: &self.metrics,
        }
    }
}

/// The criterion asked for, or else the one that the model was made for. Models of earlier versions do not name theirs.
pub(crate) fn criterion_of(model: &Model, asked: Option<Fairness>) -> Fairness {
    asked.or(model.fairness()).unwrap_or(Fairness::SP)
}

pub(crate) fn run(args: &EvaluateArgs, output: &Output) -> anyhow::Result<Answer> {
    let require = args.require.unwrap_or_default();
    let model = Model::read(&args.model)?;
    let fairness = criterion_of(&model, args.fairness);
    let options = Options { fairness, threshold: args.threshold, require };
    options.check_range()?;
    let data = read_rows(args.delimiter.of(&args.data), model.schema(), Purpose::Data)?;
    let evaluated =
        Evaluated::new(&model, data, options).with_context(|| args.data.display().to_string())?;
    evaluated.warnings.iter().for_each(|warning| output.warn(warning));
    let document = evaluated.document();
    output.result(&document, || {
        let sentence = describe_verdict(&evaluated.judgements, "these rows");
        let sentence = sentence.map_or_else(String::new, |sentence| sentence + "\n\n");
        sentence + &figures::describe(&evaluated.metrics)
    })?;
    Ok(Answer::holds(document.verdict != Verdict::Fail))
}
