//! Shifts found by hand and by brute force, and gaps that are as exact as half a row of the largest group.
#![allow(clippy::unwrap_used)]

use super::super::super::ProxySettings;
use super::super::super::blocks::scores;
use super::super::goal::Rates;
use super::super::group_cuts::group_cuts;
use super::*;
use crate::rows::Layout;
use crate::test_rows::{layout, random_rows_of};

fn steps(goal: f64, n: usize) -> Steps {
    Steps { goal, n_rows: n as f64, rates: (0..=n).map(|k| k as f64 / n as f64).collect() }
}

#[test]
fn the_shift_by_hand() {
    // 100 rows at 0.504 round to 0.50, and 1,000 rows at 0.504 are exact: a gap of 0.004 instead of 0. Shifted by −0.004,
    // both are exact. By −0.003, the second rounds to 0.501, and the gap of 0.001 is negligible. By −0.002 it is not.
    let groups = [steps(0.504, 100), steps(0.504, 1000)];
    assert!((best_shift(&groups) + 0.003).abs() < 1e-12);
    // The way up is shorter here: 0.51 and 0.509.
    let groups = [steps(0.507, 100), steps(0.507, 1000)];
    assert!((best_shift(&groups) - 0.002).abs() < 1e-12);
    // Both are exact already.
    assert_eq!(best_shift(&[steps(0.5, 100), steps(0.504, 1000)]), 0.0);
    // One group has no gap.
    assert_eq!(best_shift(&[steps(0.504, 100)]), 0.0);
    assert_eq!(best_shift(&[]), 0.0);
}

#[test]
fn equal_scores_are_one_step() {
    let groups = [false; 5];
    let rows = Rows::new(Layout::two_groups(1, true), &[0.0; 5], &groups, &[true; 5]).unwrap();
    let goal = Goal { overall: 0.5, together: [Some(0.5); 3], by_group: vec![[Some(0.5); 3]] };
    let steps = Steps::new(&rows, &[1.0, 2.0, 2.0, 2.0, 3.0], 0, Condition::All, &goal).unwrap();
    assert_eq!(steps.rates, [0.0, 0.2, 0.8, 1.0]);
    // 0.2 and 0.8 are equally close to 0.5, and the first wins.
    assert!((steps.miss(0.0) + 0.3).abs() < 1e-12 && (steps.miss(0.01) - 0.3).abs() < 1e-12);
}

/// Groups of very different sizes: with the shift, the gap is exact to half a row of the largest group, and a price, if few people move.
#[test]
fn gaps_are_exact_to_half_a_row_of_the_largest_group() {
    let layout = layout(2, 3, true, true);
    let theta: Vec<f64> = (0..layout.n()).map(|k| 0.8 - 0.3 * k as f64).collect();
    let (mut without, mut with) = (0f64, 0f64);
    for seed in 0..20 {
        let base = random_rows_of(&layout, seed, 2400);
        // Of group 1, every sixth row stays.
        let mut seen = 0;
        let keep = |i: &usize| {
            seen += base.group(*i);
            base.group(*i) == 0 || seen % 6 == 0
        };
        let data = base.select(&(0..base.len()).filter(keep).collect::<Vec<_>>());
        for criterion in ["sp", "eo", "fpr"] {
            let fairness: Fairness = criterion.parse().unwrap();
            let condition = fairness.conditions().next().unwrap().0;
            let scores = scores(&data, &theta);
            let goal = Goal::new(&data, &scores, &ProxySettings::new(fairness));
            let rates_at = |goal: &Goal| {
                let cuts = group_cuts(&data, &scores, fairness, goal);
                let after: Vec<f64> =
                    (0..data.len()).map(|i| scores[i] - cuts[data.group(i)]).collect();
                let rates = Rates::of(&data, &after, 0.0);
                [0, 1].map(|group| rates.of_group(group, condition).unwrap())
            };
            let wanted = [0, 1].map(|group| goal.by_group[group][condition as usize].unwrap());
            let miss = |found: [f64; 2]| ((found[1] - found[0]) - (wanted[1] - wanted[0])).abs();
            let moved = rates_at(&shifted(&data, &scores, fairness, &goal));
            let cells = data.cell_counts();
            let count = |group: usize| -> usize {
                let labels = [false, true].into_iter().zip(cells[group]);
                labels.filter(|(label, _)| condition.includes(*label)).map(|(_, n)| n).sum()
            };
            let [half_a_row, half_a_small_row] = [0, 1].map(|group| 0.5 / count(group) as f64);
            let unmoved = miss(rates_at(&goal));
            assert!(miss(moved) <= unmoved.max(NEGLIGIBLE) + 1e-9, "{criterion}, seed {seed}");
            // Then the shift at which the smaller group is exact is allowed.
            if half_a_row + half_a_small_row <= MAX_MOVED {
                let most = half_a_row.max(NEGLIGIBLE) + PRICE * half_a_small_row + 1e-9;
                assert!(miss(moved) <= most, "{criterion}, seed {seed}: {}, {most}", miss(moved));
            }
            let moved_by = (0..2).map(|g| (moved[g] - wanted[g]).abs()).fold(0.0, f64::max);
            assert!(moved_by <= MAX_SHIFT + half_a_row, "{moved_by}");
            (without, with) = (without + unmoved, with + miss(moved));
        }
    }
    assert!(with < without, "{with} with, {without} without the shift");
}

#[test]
fn several_conditions_stay_as_they_are() {
    let layout = layout(2, 2, true, true);
    let data = random_rows_of(&layout, 3, 200);
    let scores = scores(&data, &[0.5, -0.2, 0.3, 0.1]);
    let fairness: Fairness = "equalized-odds".parse().unwrap();
    let goal = Goal::new(&data, &scores, &ProxySettings::new(fairness));
    assert_eq!(shifted(&data, &scores, fairness, &goal), goal);
}
