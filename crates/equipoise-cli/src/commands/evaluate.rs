//! `equipoise evaluate`: accuracy and fairness of a model on a table.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use equipoise_core::{
    Condition, Fairness, GroupMetrics, Judgement, Metrics, Requirements, Verdict, describe_verdict,
};
use equipoise_data::{Model, Purpose, read_rows};
use serde::Serialize;

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
  equipoise evaluate outcome/model.json test.csv --require gap=0.05 --fairness eo --json")]
pub(crate) struct EvaluateArgs {
    /// The model, a model.json file
    model: PathBuf,
    /// Table of raw rows with labels
    data: PathBuf,
    /// What the model must achieve on these rows, such as gap=0.05,accuracy=0.75 [default: nothing]
    ///
    /// gap: the worst gap of --fairness between two groups, at most; accuracy, balanced-accuracy: at least.
    /// A missed requirement gives exit code 1; if the rows are too few to tell, the exit code is 0.
    #[arg(long, value_name = "REQUIREMENTS")]
    require: Option<Requirements>,
    /// Criterion of the required gap: sp, eo, equalized-odds, fpr, or a mixture
    #[arg(long, value_name = "CRITERION", default_value = "sp")]
    fairness: Fairness,
}

/// The metrics, with the verdict on what is required.
#[derive(Serialize)]
struct Document<'a> {
    verdict: Verdict,
    judgements: &'a [Judgement],
    #[serde(flatten)]
    metrics: &'a Metrics,
}

pub(crate) fn run(args: &EvaluateArgs, output: &Output) -> anyhow::Result<Answer> {
    let model = Model::read(&args.model)?;
    let data = read_rows(&args.data, model.schema(), Purpose::Data)?;
    data.warnings.iter().for_each(|warning| output.warn(warning));
    let metrics =
        Metrics::of(model.theta(), &data.rows).with_context(|| args.data.display().to_string())?;
    let judgements = metrics.judge(args.require.unwrap_or_default(), args.fairness);
    let verdict = Verdict::of(&judgements);
    let document = Document { verdict, judgements: &judgements, metrics: &metrics };
    output.result(&document, || {
        let sentence = describe_verdict(&judgements, "these rows");
        sentence.map_or_else(String::new, |sentence| sentence + "\n\n") + &text(&metrics)
    })?;
    Ok(Answer::holds(verdict != Verdict::Fail))
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
