//! Sampled rows have the moments of the data, in the right numbers, whatever the number of threads.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::groups::Groups;
use crate::linalg::symmetric_entry;
use crate::rows::Layout;
use crate::test_rows::{layout, random_rows_of};

#[test]
fn moments_agree_with_those_summed_row_by_row() {
    let data = random_rows_of(&layout(3, 4, true, true), 4, 3000);
    let everyone = Moments::of(&data, |_| true);
    let mut parts = Vec::new();
    for cell in 0..6 {
        let members: Vec<usize> = (0..data.len())
            .filter(|&i| 2 * data.group(i) + usize::from(data.is_positive(i)) == cell)
            .collect();
        let expected = Moments::of(&data, |i| members.binary_search(&i).is_ok());
        let found = moments(&data, &members);
        let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(same(&found.mean, &expected.mean) && same(&found.covariance, &expected.covariance));
        parts.push(found);
    }
    let pooled = Moments::pooled(&parts);
    for i in 0..4 {
        assert!((pooled.mean[i] - everyone.mean[i]).abs() < 1e-12);
        for j in 0..=i {
            let entry = |moments: &Moments| symmetric_entry(&moments.covariance, i, j);
            assert!((entry(&pooled) - entry(&everyone)).abs() < 1e-12);
        }
    }
}

#[test]
fn a_sample_has_the_moments_of_its_cell() {
    let data = random_rows_of(&layout(2, 3, true, true), 5, 4000);
    let model = SmoothedModel::of(&data).unwrap();
    let sampled = model.sample(200_000, 1);
    let n_rows = sampled.groups.len() as f64;
    let mean = |k: usize| sampled.x.iter().skip(k).step_by(3).sum::<f64>() / n_rows;
    let everyone = Moments::of(&data, |_| true);
    for k in 0..3 {
        // Shrinking moves a mean by at most 20 of 4000 rows' worth; the standard error is below 0.004.
        assert!((mean(k) - everyone.mean[k]).abs() < 0.03, "{} {}", mean(k), everyone.mean[k]);
    }
}

#[test]
fn every_group_of_the_data_has_rows_for_both_labels() {
    let groups = Groups::new(["a", "b", "c"].map(str::to_owned).to_vec(), 0).unwrap();
    let layout = Layout { n_x: 1, groups, as_feature: true, intercept: true };
    let x: Vec<f64> = (0..1000).map(|i| f64::from(i % 17)).collect();
    let group: Vec<u8> = (0..1000).map(|i| u8::from(i == 7)).collect();
    let positive: Vec<bool> = (0..1000).map(|i| i % 3 == 0).collect();
    let data = Rows::new(layout, &x, &group, &positive).unwrap();
    let model = SmoothedModel::of(&data).unwrap();
    for n_rows in [4, 10, 1000] {
        let sampled = model.sample(n_rows, 3);
        let count = |group: u8| sampled.groups.iter().filter(|&&g| g == group).count();
        assert_eq!((count(0), count(1), count(2)), (n_rows - 2, 2, 0));
        assert_eq!(sampled.x.len(), n_rows);
    }
}
