//! `equipoise evaluate`: accuracy and fairness of a model on a table.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use equipoise_core::{Condition, GroupMetrics, Metrics};
use equipoise_data::{Model, Purpose, read_rows};

use crate::formatting::{figure, gap_text, table, with_interval};
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
    output.result(&metrics, || text(&metrics))?;
    Ok(Answer::Done)
}

/// The worst gaps, and the groups they compare.
pub(crate) fn gap_lines(metrics: &Metrics) -> Vec<Vec<String>> {
    let line = |condition: Condition| {
        let gap = metrics.gaps.of(condition);
        let groups = gap.map_or(String::new(), |gap| {
            let [first, second] = &gap.groups;
            format!("  {first} minus {second}")
        });
        vec![format!("gap in {}", condition.rate_name()), gap_text(gap) + &groups]
    };
    Condition::ALL.map(line).to_vec()
}

fn text(metrics: &Metrics) -> String {
    let line = |name: &str, value: String| vec![name.to_string(), value];
    let mut overall = vec![
        line("rows", metrics.rows.to_string()),
        line("accuracy", with_interval(metrics.accuracy)),
        line("balanced accuracy", with_interval(metrics.balanced_accuracy)),
        line("AUC", with_interval(metrics.auc)),
    ];
    overall.extend(gap_lines(metrics));
    let groups = metrics.groups.iter().map(group_row).collect();
    let header =
        ["group", "rows", "base rate", "selected", "true pos. rate", "false pos. rate", "accuracy"];
    let mut text = format!(
        "{}[ ] is a 95 % interval\n\n{}",
        table(&[], overall, &[]),
        table(&header, groups, &[1, 2, 3, 4, 5, 6])
    );
    for reason in metrics.missing() {
        text += &format!("\n{reason}");
    }
    text
}

fn group_row(group: &GroupMetrics) -> Vec<String> {
    vec![
        group.name.clone(),
        group.rows.to_string(),
        figure(group.base_rate),
        figure(group.selection_rate),
        figure(group.true_positive_rate),
        figure(group.false_positive_rate),
        figure(group.accuracy),
    ]
}
