//! Rates of labels counted by hand, and corrections that find the rates of decisions.
#![allow(clippy::unwrap_used)]

use super::super::super::{EncodedColumns, ProxySettings};
use super::*;
use crate::rows::Layout;

/// One column with two bins, two groups of 100 rows. Group 0: 20 of 60 rows positive in the low bin, 30 of 40 in the high one. Group 1:
/// 10 of 20 and 72 of 80.
fn example() -> (Rows, Cells) {
    let parts =
        [(false, -0.3, 60, 20), (false, 0.3, 40, 30), (true, -0.3, 20, 10), (true, 0.3, 80, 72)];
    let (mut x, mut groups, mut positive) = (Vec::new(), Vec::new(), Vec::new());
    for (group, value, n_rows, n_positive) in parts {
        for i in 0..n_rows {
            x.push(value);
            groups.push(group);
            positive.push(i < n_positive);
        }
    }
    let rows = Rows::new(Layout::two_groups(1, true), &x, &groups, &positive).unwrap();
    let cells = Cells::of(&rows, &EncodedColumns::numbers(1));
    assert_eq!(cells.len(), 2);
    (rows, cells)
}

fn aims(fairness: &str, remaining_gap: f64) -> Vec<Aim> {
    let (rows, cells) = example();
    let fairness: Fairness = fairness.parse().unwrap();
    let scores: Vec<f64> = (0..200).map(|i| rows.x(i)[0]).collect();
    let goal = Goal::new(&rows, &scores, &ProxySettings::new(fairness));
    Aims::new(&rows, &cells, &goal, fairness, remaining_gap).0
}

#[test]
fn rates_are_those_counted_by_hand() {
    // All: 50 and 82 of 100.
    let all = aims("sp", 0.0);
    assert!(all.iter().all(|aim| (aim.rate - 0.66).abs() < 1e-12));
    assert_eq!(all[1].cells, [0.2, 0.8]);
    // Positives: 20 · 20/60 + 30 · 30/40 = 29 1/6 of 50, and 10 · 10/20 + 72 · 72/80 = 69.8 of 82.
    let (first, second) = (20.0 / 3.0 + 22.5, 5.0 + 64.8);
    let together = (first + second) / 132.0;
    let positives = aims("eo", 0.0);
    assert!(positives.iter().all(|aim| (aim.rate - together).abs() < 1e-12));
    assert_eq!(positives[0].cells, [0.4, 0.6]);
    let half = aims("eo", 0.5);
    assert!((half[0].rate - 0.5 * (together + first / 50.0)).abs() < 1e-12);
    assert!((half[1].rate - 0.5 * (together + second / 82.0)).abs() < 1e-12);
    // Negatives: 40 · 1/3 + 10 · 3/4 = 20 5/6 of 50, and 10 · 1/2 + 8 · 9/10 = 12.2 of 18.
    let negatives = aims("fpr", 0.0);
    assert!((negatives[0].rate - (125.0 / 6.0 + 12.2) / 68.0).abs() < 1e-12);
    assert_eq!(aims("equalized-odds", 0.0).len(), 4);
}

/// A model that selects 80 % of group 0 at its first rate of labels, and 0.6 more for each unit of labels.
#[test]
fn corrections_find_the_goal() {
    let (rows, _) = example();
    let mut aims = Aims(aims("sp", 0.0));
    let start = aims.0[0].rate;
    let goal = aims.0[0].goal;
    for _ in 0..4 {
        let selected = 0.8 + 0.6 * (aims.0[0].rate - start);
        // Scores of 100 rows, of which this share is above 0.
        let scores: Vec<f64> = (0..200).map(|i| selected - (f64::from(i) + 0.5) / 100.0).collect();
        aims.correct(&Rates::of(&rows, &scores, 0.0));
    }
    let found = 0.8 + 0.6 * (aims.0[0].rate - start);
    assert!((found - goal).abs() < 0.01, "{found}, {goal}");
}
