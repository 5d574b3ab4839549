//! Thresholds are as good as any that brute force can find.
#![allow(clippy::unwrap_used)]

use super::super::super::ProxySettings;
use super::super::super::blocks::scores;
use super::super::goal::Rates;
use super::*;
use crate::test_rows::{layout, random_rows_of};

const CRITERIA: [&str; 5] = ["sp", "eo", "fpr", "equalized-odds", "sp:0.3,eo:0.7"];

fn model(n: usize) -> Vec<f64> {
    (0..n).map(|k| 0.8 - 0.3 * k as f64).collect()
}

/// `Σ_C ω_C (rate_C − goal_C)²` of one group if it is cut here.
fn cost(
    data: &Rows,
    scores: &[f64],
    group: usize,
    cut: f64,
    fairness: Fairness,
    goal: &Goal,
) -> f64 {
    let rates = Rates::of(data, scores, cut);
    let of = |(condition, weight): (Condition, f64)| {
        let own = rates.of_group(group, condition)?;
        Some(weight * (own - goal.by_group[group][condition as usize]?).powi(2))
    };
    fairness.conditions().filter_map(of).sum()
}

#[test]
fn no_other_cut_is_closer_to_the_goal() {
    let layout = layout(3, 2, true, true);
    for seed in 0..6 {
        let data = random_rows_of(&layout, seed, 120);
        let scores = scores(&data, &model(layout.n()));
        for criterion in CRITERIA {
            let fairness: Fairness = criterion.parse().unwrap();
            let goal = Goal::new(&data, &scores, &ProxySettings::new(fairness));
            let cuts = group_cuts(&data, &scores, fairness, &goal);
            for (group, &cut) in cuts.iter().enumerate() {
                let found = cost(&data, &scores, group, cut, fairness, &goal);
                // Selection changes only at a score, so trying the scores and one cut below them all tries everything.
                let lowest = scores.iter().chain(&[-1e9]).fold(f64::INFINITY, |lowest, &cut| {
                    lowest.min(cost(&data, &scores, group, cut, fairness, &goal))
                });
                assert!(found <= lowest + 1e-15, "{criterion}, group {group}: {found}, {lowest}");
            }
        }
    }
}

#[test]
fn the_moved_model_has_the_rates_of_the_cuts() {
    let layout = layout(4, 3, true, true);
    let data = random_rows_of(&layout, 3, 900);
    let theta = model(layout.n());
    let before = scores(&data, &theta);
    let goal = Goal::new(&data, &before, &ProxySettings::new(Fairness::SP));
    let cuts = group_cuts(&data, &before, Fairness::SP, &goal);
    let after = scores(&data, &move_cuts(&theta, &layout, &cuts));
    for i in 0..data.len() {
        assert!((after[i] - (before[i] - cuts[data.group(i)])).abs() < 1e-12);
    }
    let rates = Rates::of(&data, &after, 0.0);
    for group in 0..4 {
        let rows = data.cell_counts()[group].iter().sum::<usize>() as f64;
        let goal = goal.by_group[group][0].unwrap();
        assert!(
            (rates.of_group(group, Condition::All).unwrap() - goal).abs() <= 0.5 / rows + 1e-12
        );
    }
}

fn two_groups(scores: &[(f64, bool, bool)]) -> Rows {
    let groups: Vec<bool> = scores.iter().map(|row| row.1).collect();
    let positive: Vec<bool> = scores.iter().map(|row| row.2).collect();
    Rows::new(Layout::two_groups(1, true), &vec![0.0; scores.len()], &groups, &positive).unwrap()
}

#[test]
fn cuts_lie_halfway_between_scores_or_half_a_step_outside() {
    // Group 0 selects none of 2 rows, group 1 both of its 2: the goal is one row each.
    let rows = [(-3.0, false, true), (-1.0, false, true), (1.0, true, true), (2.0, true, false)];
    let scores: Vec<f64> = rows.iter().map(|row| row.0).collect();
    let settings = ProxySettings { remaining_gap: 0.0, ..ProxySettings::new(Fairness::SP) };
    let goal = Goal::new(&two_groups(&rows), &scores, &settings);
    assert_eq!(group_cuts(&two_groups(&rows), &scores, Fairness::SP, &goal), [-2.0, 1.5]);
    // Select nobody and everybody: half of the last distance beyond the last row.
    let goal = Goal { by_group: vec![[Some(1.0); 3], [Some(0.0); 3]], ..goal };
    assert_eq!(group_cuts(&two_groups(&rows), &scores, Fairness::SP, &goal), [-4.0, 2.5]);
}

#[test]
fn equal_scores_are_not_split_and_a_good_threshold_stays() {
    let rows = [(1.0, false, true), (1.0, false, true), (1.0, false, true), (-1.0, true, true)];
    let scores: Vec<f64> = rows.iter().map(|row| row.0).collect();
    let goal = |a: f64| Goal {
        overall: 0.5,
        together: [Some(0.5); 3],
        by_group: vec![[Some(a); 3], [Some(0.0); 3]],
    };
    assert_eq!(group_cuts(&two_groups(&rows), &scores, Fairness::SP, &goal(0.6)), [0.0, 0.0]);
    assert_eq!(group_cuts(&two_groups(&rows), &scores, Fairness::SP, &goal(0.4)), [2.0, 0.0]);
}

#[test]
fn a_group_without_counted_rows_borrows_the_shift_of_the_others() {
    // Group 1 has no positive row. Group 0, with mean 1, is cut at 3: 2 above its mean.
    let rows = [(4.0, false, true), (2.0, false, true), (-3.0, false, false), (5.0, true, false)];
    let scores: Vec<f64> = rows.iter().map(|row| row.0).collect();
    let goal = Goal {
        overall: 0.5,
        together: [Some(0.5); 3],
        by_group: vec![[Some(0.5); 3], [Some(0.5), None, Some(0.5)]],
    };
    let cuts = group_cuts(&two_groups(&rows), &scores, Fairness::EO, &goal);
    assert_eq!(cuts, [3.0, 7.0]);
    // A group without rows is cut at 0.
    let only = Rows::new(Layout::two_groups(1, true), &[0.0; 2], &[false; 2], &[true; 2]).unwrap();
    assert_eq!(group_cuts(&only, &[4.0, 2.0], Fairness::EO, &goal), [3.0, 0.0]);
}
