//! Models of parts of the root.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::fairness::Fairness;
use crate::test_rows::random_rows;

#[test]
fn folds_are_stratified_by_group_and_label() {
    let rows = random_rows(3, 203, 2, false);
    let fold = folds(&rows);
    for (s, y) in [(false, false), (false, true), (true, false), (true, true)] {
        let count = |f: usize| {
            let here = |&i: &usize| fold[i] == f && (rows.group(i) == 1) == s;
            (0..rows.len()).filter(here).filter(|&i| rows.is_positive(i) == y).count()
        };
        let counts: Vec<usize> = (0..FOLDS).map(count).collect();
        assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
    }
}

#[test]
fn the_root_model_minimises_its_objective() {
    let rows = random_rows(9, 90, 3, true);
    let settings = Settings::bilevel(Fairness::EO);
    let whole = Root::new(vec![rows.clone()]).unwrap();
    let held_out = HeldOut { rows: &rows, settings: &settings, rho: 1e4, fold: folds(&rows) };
    let theta = held_out.fit(&whole, 10.0).unwrap();
    let covariance = crate::fairness::Covariance::of(&rows);
    let value = |theta: &[f64]| {
        let violation = covariance.violation(theta).eo;
        let scores = crate::comparison::scores(theta, &rows);
        mean(&losses_of(&scores, &rows))
            + 10.0 / 90.0 / 2.0 * dot(theta, theta)
            + 0.5e4 * violation * violation
    };
    for k in 0..theta.len() {
        for step in [-1e-3, 1e-3] {
            let mut moved = theta.clone();
            moved[k] += step;
            assert!(value(&moved) > value(&theta));
        }
    }
}
