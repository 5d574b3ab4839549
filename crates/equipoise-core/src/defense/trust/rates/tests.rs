#![allow(clippy::unwrap_used)]
use super::*;
use crate::row_sample::SamplePlan;
use crate::test_rows::{layout, random_rows_of};

fn index(fairness: &str, n_groups: usize) -> RateIndex {
    RateIndex::new(fairness.parse().unwrap(), n_groups)
}

fn sample(rows: &Rows) -> RowSample {
    let mut sampler = SamplePlan::new(rows.layout().clone(), 1).sampler(0).unwrap();
    sampler.add(rows);
    RowSample::of_parts(rows.layout(), &[sampler.finish()]).unwrap()
}

/// The mean of `σ(k z)` over the rows of a group that a condition includes.
fn rate(rows: &Rows, theta: &[f64], condition: Condition, group: usize, slope: f64) -> f64 {
    let decisions: Vec<f64> = (0..rows.len())
        .filter(|&i| rows.group(i) == group && condition.includes(rows.is_positive(i)))
        .map(|i| 1.0 / (1.0 + (-slope * dot(rows.a(i), theta)).exp()))
        .collect();
    decisions.iter().sum::<f64>() / decisions.len() as f64
}

#[test]
fn rates_on_a_whole_table_are_means_over_its_groups() {
    let rows = random_rows_of(&layout(3, 2, true, true), 3, 400);
    let theta = [0.8, -0.3, 0.2, 0.5, -0.1];
    let sample = sample(&rows);
    assert_eq!(sample.rows().len(), 400);
    for fairness in ["sp", "eo", "equalized-odds", "fpr", "sp:0.5,eo:0.5"] {
        let index = index(fairness, 3);
        let scores: Vec<f64> = (0..400).map(|i| dot(sample.rows().a(i), &theta)).collect();
        let found = soft_rates(&sample, &scores, &index, 3.0);
        for (slope, found) in [1.0, 3.0].into_iter().zip(found) {
            for ((condition, group), found) in index.iter().zip(found) {
                let expected = rate(&rows, &theta, condition, group, slope);
                assert!((found.unwrap() - expected).abs() < 1e-12, "{fairness}, group {group}");
            }
        }
    }
}

#[test]
fn a_cell_counts_by_its_rows_and_not_by_its_sample() {
    let rows = random_rows_of(&layout(2, 1, true, true), 4, 30_000);
    let sample = sample(&rows);
    assert!(sample.rows().len() < 5000);
    let (theta, index) = ([1.2, 0.3, -0.4], index("sp", 2));
    let scores: Vec<f64> =
        (0..sample.rows().len()).map(|i| dot(sample.rows().a(i), &theta)).collect();
    let [_, steep] = soft_rates(&sample, &scores, &index, 3.0);
    for (group, found) in steep.iter().enumerate() {
        let expected = rate(&rows, &theta, Condition::All, group, 3.0);
        // 2,048 sampled rows of a group; the error of a rate is at most 0.011.
        assert!((found.unwrap() - expected).abs() < 0.035, "{found:?}, expected {expected}");
    }
}

#[test]
fn a_missing_group_has_no_rate_and_no_contrast() {
    let groups = [0u8, 0, 2, 2, 2];
    let positive = [true, false, true, true, false];
    let rows = Rows::new(layout(3, 1, false, false), &[1.0; 5], &groups, &positive).unwrap();
    let sample = sample(&rows);
    let index = index("equalized-odds", 3);
    let [soft, _] = soft_rates(&sample, &[0.0; 5], &index, 3.0);
    // Positives: 1, 0 and 2 rows; negatives: 1, 0 and 1. A rate needs two.
    assert_eq!(soft, [None, None, Some(0.5), None, None, None]);
    assert_eq!(index.counts(sample.cell_counts()), [1, 0, 2, 1, 0, 1]);
    let contrasts = index.contrasts(&[Some(0.2), None, Some(0.6), None, None, None]);
    for (found, expected) in contrasts.iter().zip([-0.2, 0.0, 0.2, 0.0, 0.0, 0.0]) {
        assert!((found - expected).abs() < 1e-15);
    }
}
