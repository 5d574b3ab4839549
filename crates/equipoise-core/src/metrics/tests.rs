#![allow(clippy::unwrap_used)]
use super::*;
use crate::rows::Layout;

/// Metrics of rows whose only feature is their score.
fn scored(cases: &[(f64, bool, bool)]) -> Metrics {
    let layout = Layout::two_groups(1, false);
    let x: Vec<f64> = cases.iter().map(|c| c.0).collect();
    let s: Vec<bool> = cases.iter().map(|c| c.1).collect();
    let y: Vec<bool> = cases.iter().map(|c| c.2).collect();
    Metrics::of(&[1.0, 0.0], &Rows::new(layout, &x, &s, &y).unwrap()).unwrap()
}

#[test]
fn metrics_agree_with_a_hand_counted_table() {
    // (score, privileged, positive): 4 privileged rows, 3 others.
    let m = scored(&[
        (2.0, true, true),
        (1.0, true, false),
        (-1.0, true, true),
        (3.0, true, true),
        (-2.0, false, true),
        (0.5, false, true),
        (-3.0, false, false),
    ]);
    let close =
        |found: Option<Estimate>, expected: f64| (found.unwrap().value - expected).abs() < 1e-15;
    let gap = |gap: &Option<Gap>| gap.as_ref().map(Gap::estimate);
    assert_eq!(m.rows, 7);
    assert!(close(m.accuracy, 4.0 / 7.0));
    assert!(close(m.balanced_accuracy, 0.5 * (3.0 / 5.0 + 1.0 / 2.0)));
    assert!(close(gap(&m.gaps.sp), 3.0 / 4.0 - 1.0 / 3.0));
    assert!(close(gap(&m.gaps.eo), 2.0 / 3.0 - 1.0 / 2.0));
    // Of 5 × 2 pairs, the positive is above in 2 (2.0, 3.0 beat both), .5, −1, −2 beat one each.
    assert!(close(m.auc, 7.0 / 10.0));
    let other = &m.groups[0];
    assert_eq!(other.rows, 3);
    assert!(close(other.base_rate, 2.0 / 3.0));
    assert!(close(other.selection_rate, 1.0 / 3.0));
    assert!(close(other.true_positive_rate, 0.5));
    assert!(close(other.false_positive_rate, 0.0));
    assert!(close(other.accuracy, 2.0 / 3.0));
    assert_eq!(m.missing().len(), 0, "{:?}", m.missing());
}

#[test]
fn tied_scores_count_half_and_a_score_of_zero_is_not_selected() {
    let m = scored(&[(0.0, true, true), (0.0, true, false), (0.0, false, true)]);
    assert_eq!(m.auc.unwrap().value, 0.5);
    assert_eq!(m.groups[1].selection_rate.unwrap().value, 0.0);
}

#[test]
fn missing_groups_and_classes_give_none_and_a_reason() {
    let m = scored(&[(1.0, true, true), (-1.0, true, true)]);
    assert_eq!((&m.gaps, m.auc, m.balanced_accuracy), (&Gaps::default(), None, None));
    assert_eq!(m.accuracy.unwrap().value, 0.5);
    assert_eq!(m.groups[0].selection_rate, None);
    assert_eq!(m.missing().len(), 3, "{:?}", m.missing());
    assert_eq!(scored(&[]).accuracy, None);
}
