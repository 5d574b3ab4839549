//! Rates of labels counted by hand, and corrections that find the rates of decisions.
#![allow(clippy::unwrap_used)]

use super::super::super::{EncodedColumns, ProxySettings};
use super::*;
use crate::fairness::Fairness;
use crate::rows::Layout;

/// One column with two bins, two groups of 100 rows. Group 0: 20 of 60 rows positive in the low bin, 30 of 40 in the high one. Group 1:
/// 10 of 20 and 72 of 80.
fn example() -> Rows {
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
    Rows::new(Layout::two_groups(1, true), &x, &groups, &positive).unwrap()
}

fn aims(remaining_gap: f64) -> Vec<Aim> {
    let rows = example();
    let scores: Vec<f64> = (0..200).map(|i| rows.x(i)[0]).collect();
    let goal = Goal::new(&rows, &scores, &ProxySettings::new(Fairness::SP));
    let cells = Cells::of(&rows, &EncodedColumns::numbers(1));
    Aims::new(&rows, &cells, &goal, remaining_gap).0
}

#[test]
fn rates_are_those_counted_by_hand() {
    // 50 and 82 of 100.
    let all = aims(0.0);
    assert!(all.iter().all(|aim| (aim.rate - 0.66).abs() < 1e-12));
    assert_eq!(all[1].cells, [0.2, 0.8]);
    let half = aims(0.5);
    assert!((half[0].rate - 0.58).abs() < 1e-12 && (half[1].rate - 0.74).abs() < 1e-12);
}

/// A model that selects 80 % of group 0 at its first rate of labels, and 0.6 more for each unit of labels.
#[test]
fn corrections_find_the_goal() {
    let rows = example();
    let mut aims = Aims(aims(0.0));
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
