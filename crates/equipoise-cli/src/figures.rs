//! The figures that `check`, `evaluate` and `proxy` have in common, in JSON and as text.

use equipoise_core::{Condition, Fairness, GroupMetrics, Metrics};
use serde::Serialize;

use crate::formatting::{figure, gap_text, table, with_interval};

/// The worst gap of a criterion and the accuracy of a model, as plain numbers.
#[derive(Serialize)]
pub(crate) struct Headline {
    /// The reference group's rate minus the other's if the pair has the reference group, otherwise the higher minus
    /// the lower.
    gap: Option<f64>,
    gap_low: Option<f64>,
    gap_high: Option<f64>,
    /// The two groups compared.
    gap_groups: Option<[String; 2]>,
    accuracy: Option<f64>,
    balanced_accuracy: Option<f64>,
}

impl Headline {
    pub(crate) fn of(metrics: &Metrics, fairness: Fairness) -> Self {
        let gap = metrics.gap(fairness);
        Self {
            gap: gap.as_ref().map(|gap| gap.value),
            gap_low: gap.as_ref().map(|gap| gap.low),
            gap_high: gap.as_ref().map(|gap| gap.high),
            gap_groups: gap.map(|gap| gap.groups),
            accuracy: metrics.accuracy.map(|e| e.value),
            balanced_accuracy: metrics.balanced_accuracy.map(|e| e.value),
        }
    }
}

/// The worst gaps, and the groups they compare.
pub(crate) fn gap_lines(metrics: &Metrics) -> Vec<Vec<String>> {
    let line = |condition: Condition| {
        let gap = metrics.gaps.of(condition);
        let groups = gap.map_or(String::new(), |gap| {
            let [first, second] = &gap.groups;
            format!("{first} minus {second}")
        });
        vec![format!("gap in {}", condition.rate_name()), gap_text(gap), groups]
    };
    Condition::ALL.map(line).to_vec()
}

/// All figures of a model on a table.
pub(crate) fn describe(metrics: &Metrics) -> String {
    let line = |name: &str, value: String| vec![name.to_string(), value, String::new()];
    let mut overall = vec![
        line("rows", metrics.rows.to_string()),
        line("accuracy", with_interval(metrics.accuracy)),
        line("balanced accuracy", with_interval(metrics.balanced_accuracy)),
        line("AUC", with_interval(metrics.auc)),
        line("calibration", with_interval(metrics.calibration)),
    ];
    overall.extend(gap_lines(metrics));
    let ratio = with_interval(metrics.selection_ratio);
    overall.push(vec![
        "selection ratio".to_owned(),
        ratio,
        "lowest rate as a share of the highest; the 80 % rule asks for 0.8".to_owned(),
    ]);
    let mut text = table(&[], overall, &[]) + "[ ] is a 95 % interval\n\n" + &groups(metrics);
    for reason in metrics.missing() {
        text += &format!("\n{reason}");
    }
    text
}

/// The rates of each group.
fn groups(metrics: &Metrics) -> String {
    let row = |group: &GroupMetrics| {
        vec![
            group.name.clone(),
            group.rows.to_string(),
            figure(group.base_rate),
            figure(group.selection_rate),
            figure(group.true_positive_rate),
            figure(group.false_positive_rate),
            figure(group.accuracy),
            figure(group.balanced_accuracy),
            figure(group.auc),
            figure(group.calibration),
        ]
    };
    let header = [
        "group",
        "rows",
        "base rate",
        "selected",
        "true pos.",
        "false pos.",
        "accuracy",
        "balanced",
        "AUC",
        "calibration",
    ];
    table(&header, metrics.groups.iter().map(row).collect(), &[1, 2, 3, 4, 5, 6, 7, 8, 9])
}

/// What a client learns about its proxy: gap and accuracy on its own data of the labels, of a model of the data, and of
/// the proxy's model; and the accuracy of models made like the proxy's on rows that they were not made of.
pub(crate) fn compare_with_data(
    fairness: Fairness,
    labels: &Metrics,
    data: &Metrics,
    proxy: &Metrics,
    held_out: Option<&Metrics>,
) -> String {
    let gaps = fairness.conditions().map(|(condition, _)| {
        let gap = |metrics: &Metrics| gap_text(metrics.gaps.of(condition));
        // The labels decide who is positive, so they have only a selection rate.
        let of_labels = if condition == Condition::All { gap(labels) } else { "—".to_owned() };
        vec![format!("gap in {}", condition.rate_name()), of_labels, gap(data), gap(proxy)]
    });
    let line = |name: &str, figure: fn(&Metrics) -> String| {
        vec![name.to_owned(), "—".to_owned(), figure(data), figure(proxy)]
    };
    let mut rows: Vec<Vec<String>> = gaps.collect();
    rows.push(line("accuracy", |m| figure(m.accuracy)));
    if let Some(held_out) = held_out {
        let name = "accuracy, cross-validated".to_owned();
        rows.push(vec![name, "—".to_owned(), "—".to_owned(), figure(held_out.accuracy)]);
    }
    rows.push(line("balanced accuracy", |m| figure(m.balanced_accuracy)));
    let header = ["on the client's data", "labels", "model of the data", "model of the proxy"];
    table(&header, rows, &[1, 2, 3])
}
