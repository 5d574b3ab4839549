//! `equipoise evaluate`: accuracy and fairness of a model on a table.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use equipoise_core::{GroupMetrics, Metrics};
use equipoise_data::{Model, Purpose, Schema, read_rows};

use crate::formatting::{difference, rate, table};
use crate::output::{Answer, Output};

/// Measure a model on a table: accuracy and fairness
///
/// Encodes the rows with the model's schema and prints accuracy, balanced accuracy and AUC, the
/// differences between the groups with their 95 % confidence intervals, and the rates of each group. SPD is
/// the difference in selection rates and EOD in true positive rates, privileged group minus the rest.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise evaluate outcome/model.json test.csv
  equipoise evaluate outcome/model.json test.csv --json")]
pub(crate) struct EvaluateArgs {
    /// The model, a model.json file
    model: PathBuf,
    /// Table of raw rows with labels
    data: PathBuf,
}

pub(crate) fn run(args: &EvaluateArgs, output: &Output) -> anyhow::Result<Answer> {
    let model = Model::read(&args.model)?;
    let data = read_rows(&args.data, model.schema(), Purpose::Data)?;
    data.warnings.iter().for_each(|warning| output.warn(warning));
    let metrics =
        Metrics::of(model.theta(), &data.rows).with_context(|| args.data.display().to_string())?;
    output.result(&metrics, || text(&metrics, model.schema()))?;
    Ok(Answer::Done)
}

/// SPD and EOD, and what they compare.
pub(crate) fn difference_lines(metrics: &Metrics, schema: &Schema) -> Vec<Vec<String>> {
    let [privileged, _] = group_names(schema);
    let line = |name: &str, value: String, what: &str| {
        vec![name.to_string(), format!("{value}  {what}, {privileged} minus the rest")]
    };
    vec![
        line("SPD", difference(metrics.spd, metrics.spd_standard_error), "selection rate"),
        line("EOD", difference(metrics.eod, metrics.eod_standard_error), "true positive rate"),
    ]
}

fn text(metrics: &Metrics, schema: &Schema) -> String {
    let line = |name: &str, value: String| vec![name.to_string(), value];
    let mut overall = vec![
        line("rows", metrics.rows.to_string()),
        line("accuracy", rate(metrics.accuracy)),
        line("balanced accuracy", rate(metrics.balanced_accuracy)),
        line("AUC", rate(metrics.auc)),
    ];
    overall.extend(difference_lines(metrics, schema));
    let [privileged, others] = group_names(schema);
    let groups = vec![
        group_row(privileged, &metrics.groups.privileged),
        group_row(others, &metrics.groups.unprivileged),
    ];
    let header =
        ["group", "rows", "base rate", "selected", "true pos. rate", "false pos. rate", "accuracy"];
    let mut text = format!(
        "{}± is 1.96 standard errors\n\n{}",
        table(&[], overall, &[]),
        table(&header, groups, &[1, 2, 3, 4, 5, 6])
    );
    for gap in metrics.gaps() {
        text += &format!("\n{gap}");
    }
    text
}

fn group_row(name: String, group: &GroupMetrics) -> Vec<String> {
    vec![
        name,
        group.rows.to_string(),
        rate(group.base_rate),
        rate(group.selection_rate),
        rate(group.true_positive_rate),
        rate(group.false_positive_rate),
        rate(group.accuracy),
    ]
}

/// The privileged group, then the other.
fn group_names(schema: &Schema) -> [String; 2] {
    let (column, privileged) = (&schema.sensitive.column, &schema.sensitive.privileged);
    [format!("{column} = {privileged}"), format!("{column} ≠ {privileged}")]
}
