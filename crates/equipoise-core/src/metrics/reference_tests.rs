//! All figures against fairlearn, scikit-learn and statsmodels: `bench/reference/fairness_figures.py` writes the file.
#![allow(clippy::unwrap_used)]

use serde_json::Value;

use super::*;
use crate::fairness::Criterion;
use crate::groups::Groups;
use crate::rows::Layout;

const REFERENCE: &str = include_str!("../../tests/fixtures/fairness_figures.json");

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

/// The table's rows, with the log-odds of its scores, and the metrics of its decisions.
fn measure(table: &Value) -> Metrics {
    let n_groups = table["n_groups"].as_u64().unwrap() as usize;
    let names = (0..n_groups).map(|g| format!("g{g}")).collect();
    let groups = Groups::new(names, 0).unwrap();
    let layout = Layout { n_x: 1, groups, as_feature: true, intercept: true };
    let group: Vec<u8> = numbers(&table["group"]).iter().map(|&g| g as u8).collect();
    let label: Vec<bool> = numbers(&table["label"]).iter().map(|&y| y == 1.0).collect();
    let scores: Vec<f64> = numbers(&table["score"]).iter().map(|p| (p / (1.0 - p)).ln()).collect();
    let rows = Rows::new(layout, &scores, &group, &label).unwrap();
    let selected: Vec<bool> = numbers(&table["selected"]).iter().map(|&d| d == 1.0).collect();
    // The threshold between the highest score rejected and the lowest selected.
    let highest = |wanted: bool| scores.iter().zip(&selected).filter(move |(_, s)| **s == wanted);
    let rejected = highest(false).map(|(score, _)| *score).fold(f64::NEG_INFINITY, f64::max);
    let accepted = highest(true).map(|(score, _)| *score).fold(f64::INFINITY, f64::min);
    assert!(rejected < accepted, "decisions follow the scores");
    Metrics::of_scores(&scores, &rows, 0.5 * (rejected + accepted))
}

fn assert_close(found: Option<f64>, expected: &Value, what: &str) {
    let (found, expected) = (found.unwrap(), expected.as_f64().unwrap());
    assert!((found - expected).abs() < 1e-12, "{what}: {found} against {expected}");
}

#[test]
fn figures_agree_with_fairlearn() {
    let reference: Value = serde_json::from_str(REFERENCE).unwrap();
    for table in reference["tables"].as_array().unwrap() {
        let (metrics, figures) = (measure(table), &table["figures"]);
        let value = |estimate: Option<Estimate>| estimate.map(|e| e.value);
        let overall = &figures["overall"];
        assert_close(value(metrics.accuracy), &overall["accuracy"], "accuracy");
        assert_close(value(metrics.balanced_accuracy), &overall["balanced_accuracy"], "balanced");
        assert_close(value(metrics.auc), &overall["auc"], "AUC");
        for (group, expected) in metrics.groups.iter().zip(figures["by_group"].as_array().unwrap())
        {
            assert_eq!(group.rows as f64, expected["rows"].as_f64().unwrap());
            for (name, found) in [
                ("base_rate", group.base_rate),
                ("selection_rate", group.selection_rate),
                ("true_positive_rate", group.true_positive_rate),
                ("false_positive_rate", group.false_positive_rate),
                ("accuracy", group.accuracy),
                ("balanced_accuracy", group.balanced_accuracy),
                ("auc", group.auc),
            ] {
                assert_close(value(found), &expected[name], name);
            }
            let promised = value(group.calibration).unwrap() + value(group.base_rate).unwrap();
            assert_close(Some(promised), &expected["mean_score"], "mean score");
        }
        for (name, criterion) in [
            ("demographic_parity_difference", Criterion::Sp),
            ("equal_opportunity_difference", Criterion::Eo),
            ("equalized_odds_difference", Criterion::EqualizedOdds),
            ("false_positive_rate_difference", Criterion::Fpr),
        ] {
            let gap = metrics.gap(criterion.into()).unwrap();
            assert_close(Some(gap.size()), &figures[name], name);
            assert!(gap.low <= gap.value && gap.value <= gap.high, "{gap:?}");
        }
        let ratio = value(metrics.selection_ratio);
        assert_close(ratio, &figures["demographic_parity_ratio"], "ratio");
    }
}
