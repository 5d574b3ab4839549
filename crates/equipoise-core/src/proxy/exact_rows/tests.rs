//! After the moves, the given model is the minimiser.
#![allow(clippy::unwrap_used)]

use super::super::smoothed_rows::SmoothedModel;
use super::*;
use crate::inner_fit::{InnerSettings, fit_logistic, ridge};
use crate::test_rows::{layout, random_rows_of};

#[test]
fn the_gradient_is_that_of_the_loss() {
    let rows = random_rows_of(&layout(3, 2, true, true), 1, 2500);
    let theta: Vec<f64> = (0..5).map(|k| 0.5 - 0.2 * f64::from(k)).collect();
    let value = |theta: &[f64]| {
        let losses = (0..rows.len())
            .map(|i| crate::logistic::loss(rows.labels()[i] * dot(rows.a(i), theta)));
        losses.sum::<f64>() / rows.len() as f64 + 0.5 * 0.3 * dot(theta, theta)
    };
    let gradient = loss_gradient(&rows, &theta, &ridge_gradient(&theta, 0.3));
    for k in 0..theta.len() {
        let moved = |by: f64| {
            let mut theta = theta.clone();
            theta[k] += by;
            value(&theta)
        };
        assert!((gradient[k] - (moved(1e-5) - moved(-1e-5)) / 2e-5).abs() < 1e-9);
    }
}

#[test]
fn the_model_becomes_the_minimiser_by_small_moves() {
    for (n_groups, as_feature, intercept) in [(2, true, true), (3, false, true), (4, true, false)] {
        let layout = layout(n_groups, 4, as_feature, intercept);
        let rows = random_rows_of(&layout, 6, 1500);
        let lambda = 1e-4;
        let exact = InnerSettings { tolerance: 1e-12, ..InnerSettings::default() };
        let own = fit_logistic(&rows, lambda, &exact).unwrap();
        let wanted: Vec<f64> = own.iter().map(|t| t + 0.05).collect();
        let varying = SmoothedModel::of(&rows).unwrap();
        let rest = ridge_gradient(&wanted, ridge(lambda, layout.n()));
        let moved = make_exact(rows.clone(), &wanted, &rest, varying.varying()).unwrap();
        let found = fit_logistic(&moved.rows, lambda, &exact).unwrap();
        let error = found.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(error < 1e-9, "{error}");
        assert!(moved.steps <= 6, "{}", moved.steps);
        // Groups, labels and the constant are untouched.
        assert_eq!((moved.rows.groups(), moved.rows.labels()), (rows.groups(), rows.labels()));
        for i in 0..rows.len() {
            assert_eq!(moved.rows.a(i)[4..], rows.a(i)[4..]);
        }
        // Changing every coefficient by 0.05 needs moves of that order.
        let squares: f64 =
            moved.rows.values().iter().zip(rows.values()).map(|(a, b)| (a - b) * (a - b)).sum();
        assert!((squares / 1500.0).sqrt() < 0.2, "{}", (squares / 1500.0).sqrt());
    }
}
