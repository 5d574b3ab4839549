//! The inner fit against scikit-learn, Newton against L-BFGS, and scaling laws.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde::Deserialize;

use super::*;
use crate::proxy::{Separation, fit_unregularised};
use crate::rows::Layout;
use crate::test_rows::random_rows;

fn theta(clients: Vec<Rows>, weights: &[f64], lambda: f64, solver: InnerSolver) -> Vec<f64> {
    let rows = PackedRows::of(&clients).unwrap();
    let problem = InnerProblem { rows: &rows, weights, ridge: ridge(lambda, rows.n()) };
    let settings = InnerSettings { solver, tolerance: 1e-9, max_iterations: 1000 };
    let fit = problem.fit(FitPoint::origin(&rows).unwrap(), &settings).unwrap();
    assert!(fit.end.converged, "gradient norm {}", fit.end.gradient_norm);
    fit.point.theta
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() <= tolerance, "{found:?} against {expected:?}");
    }
}

/// A large table in which the label is rare, and one feature is hardly ever above 0.
#[test]
fn a_fit_that_starts_from_a_sample_ends_where_any_other_does() {
    let base = random_rows(31, 2 * START_ROWS + 777, 3, true);
    let n = base.len();
    let x = (0..n).flat_map(|i| [base.x(i)[0], base.x(i)[1], f64::from(u8::from(i % 1000 == 50))]);
    let positive: Vec<bool> = (0..n).map(|i| base.is_positive(i) && i % 50 == 0).collect();
    let layout = Layout::two_groups(3, true);
    let rows = Rows::new(layout, &x.collect::<Vec<_>>(), base.groups(), &positive).unwrap();
    let start = sample_model(&rows).unwrap().unwrap();
    let expected = theta(vec![rows.clone()], &[1.0], 1e-4, InnerSolver::Newton);
    let off = start.iter().zip(&expected).map(|(s, e)| (s - e).abs()).fold(0.0, f64::max);
    assert!(off > 1e-3, "the test needs a start that is not the end: {off}");
    let settings = InnerSettings { tolerance: 1e-9, ..InnerSettings::default() };
    assert_close(&fit_logistic(&rows, 1e-4, &settings).unwrap(), &expected, 1e-5);
    let elsewhere = vec![0.3; 5];
    assert_close(&fit_logistic_from(&rows, 1e-4, &settings, elsewhere).unwrap(), &expected, 1e-5);
    assert!(sample_model(&rows.select(&[0, 1, 2])).unwrap().is_none());
}

#[derive(Deserialize)]
struct Case {
    name: String,
    n_x: usize,
    intercept: bool,
    lambda: f64,
    weights: Vec<f64>,
    clients: Vec<CaseClient>,
    theta: Vec<f64>,
}

#[derive(Deserialize)]
struct CaseClient {
    x: Vec<f64>,
    s: Vec<f64>,
    y: Vec<f64>,
}

#[test]
fn models_agree_with_scikit_learn_to_a_millionth() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("../../tests/reference/logistic.json")).unwrap();
    assert_eq!(cases.len(), 5);
    for case in cases {
        let layout = Layout::two_groups(case.n_x, case.intercept);
        let is_one = |v: &[f64]| v.iter().map(|&v| v == 1.0).collect::<Vec<bool>>();
        let clients: Vec<Rows> = case
            .clients
            .iter()
            .map(|c| Rows::new(layout.clone(), &c.x, &is_one(&c.s), &is_one(&c.y)).unwrap())
            .collect();
        if case.lambda == 0.0 {
            let (found, separation) = fit_unregularised(&clients[0], &clients[0]).unwrap();
            assert_eq!(separation, Separation::None, "{}", case.name);
            assert_close(&found, &case.theta, 1e-6);
            continue;
        }
        for solver in [InnerSolver::Newton, InnerSolver::Lbfgs] {
            let found = theta(clients.clone(), &case.weights, case.lambda, solver);
            assert_close(&found, &case.theta, 1e-6);
        }
    }
}

#[test]
fn a_client_of_weight_zero_has_no_influence() {
    let (a, b) = (random_rows(1, 50, 3, true), random_rows(2, 70, 3, true));
    let with = theta(vec![a.clone(), b], &[0.8, 0.0], 0.5, InnerSolver::Newton);
    // Without the other's 70 rows N is 50 instead of 120. The weight compensates for that.
    let without = theta(vec![a], &[0.8 * 50.0 / 120.0], 0.5, InnerSolver::Newton);
    assert_close(&with, &without, 1e-8);
}

#[test]
fn duplicating_rows_doubles_the_weight() {
    let (a, b) = (random_rows(3, 40, 2, false), random_rows(4, 40, 2, false));
    let twice = Rows::concat(&[&a, &a]).unwrap();
    let repeated = theta(vec![twice, b.clone()], &[0.3, 0.7], 0.5, InnerSolver::Newton);
    // N grows from 80 to 120 with the repeated rows.
    let scale = 80.0 / 120.0;
    let doubled = theta(vec![a, b], &[0.6 * scale, 0.7 * scale], 0.5, InnerSolver::Newton);
    assert_close(&repeated, &doubled, 1e-8);
}

#[test]
fn scaling_all_weights_scales_the_regulariser_inversely() {
    let clients = vec![random_rows(5, 40, 3, true), random_rows(6, 30, 3, true)];
    let scaled = theta(clients.clone(), &[1.2, 2.8], 4.0, InnerSolver::Newton);
    let plain = theta(clients, &[0.3, 0.7], 1.0, InnerSolver::Newton);
    assert_close(&scaled, &plain, 1e-8);
}

#[test]
fn a_fit_at_its_iteration_limit_returns_the_last_iterate() {
    let rows = PackedRows::of(&[random_rows(7, 60, 3, true)]).unwrap();
    let problem = InnerProblem { rows: &rows, weights: &[1.0], ridge: 1e-6 };
    for solver in [InnerSolver::Newton, InnerSolver::Lbfgs] {
        let settings = InnerSettings { solver, tolerance: 1e-12, max_iterations: 1 };
        let fit = problem.fit(FitPoint::origin(&rows).unwrap(), &settings).unwrap();
        assert!(!fit.end.converged && fit.end.gradient_norm > 1e-12);
        assert_ne!(fit.point.theta, vec![0.0; 5], "the last iterate, not the start");
    }
}

#[test]
fn a_start_at_the_minimum_needs_no_pass() {
    let rows = PackedRows::of(&[random_rows(8, 60, 3, true)]).unwrap();
    let problem = InnerProblem { rows: &rows, weights: &[1.0], ridge: 1e-6 };
    for solver in [InnerSolver::Newton, InnerSolver::Lbfgs] {
        let settings = InnerSettings { solver, ..InnerSettings::default() };
        let fit = problem.fit(FitPoint::origin(&rows).unwrap(), &settings).unwrap();
        assert_eq!(problem.fit(fit.point, &settings).unwrap().end.passes, 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Both stop at a gradient of 1e-9, and the smallest curvature of these problems is above 1e-3.
    #[test]
    fn newton_and_lbfgs_find_the_same_model(
        seed in 0u64..1_000_000,
        n_x in 1usize..6,
        intercept: bool,
        lambda in prop_oneof![Just(1e-4), 1e-3..10.0],
    ) {
        let clients =
            vec![random_rows(seed, 80, n_x, intercept), random_rows(seed + 1, 50, n_x, intercept)];
        let newton = theta(clients.clone(), &[0.4, 0.6], lambda, InnerSolver::Newton);
        let lbfgs = theta(clients, &[0.4, 0.6], lambda, InnerSolver::Lbfgs);
        for (a, b) in newton.iter().zip(&lbfgs) {
            prop_assert!((a - b).abs() <= 1e-6, "{newton:?} against {lbfgs:?}");
        }
    }

    /// g and H of the inner problem against central differences of its value and gradient.
    #[test]
    fn derivatives_agree_with_differences(seed in 0u64..1_000_000, n_x in 1usize..5, intercept: bool) {
        let rows = PackedRows::of(&[random_rows(seed, 30, n_x, intercept)]).unwrap();
        let problem = InnerProblem { rows: &rows, weights: &[0.7], ridge: 0.01 };
        let n = rows.n();
        let at: Vec<f64> = (0..n).map(|i| ((seed + i as u64) % 7) as f64 / 3.0 - 1.0).collect();
        let value = |theta: &[f64]| {
            problem.value(theta, &rows.evaluate(theta, Order::Loss).unwrap())
        };
        let gradient = |theta: &[f64]| {
            problem.gradient(theta, &rows.evaluate(theta, Order::Gradient).unwrap())
        };
        let statistics = rows.evaluate(&at, Order::Hessian).unwrap();
        let (found, hessian) = (problem.gradient(&at, &statistics), problem.hessian(&statistics));
        let h = 1e-5;
        for i in 0..n {
            let (mut up, mut down) = (at.clone(), at.clone());
            up[i] += h;
            down[i] -= h;
            prop_assert!((found[i] - (value(&up) - value(&down)) / (2.0 * h)).abs() < 1e-9);
            for j in 0..n {
                let difference = (gradient(&up)[j] - gradient(&down)[j]) / (2.0 * h);
                let entry = hessian[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)]
                    + if i == j { problem.ridge } else { 0.0 };
                prop_assert!((entry - difference).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn a_table_of_weight_2_counts_as_if_its_rows_were_there_twice() {
    let [a, b] = [1, 2].map(|seed| random_rows(seed, 60, 3, true));
    let settings = InnerSettings { tolerance: 1e-10, ..InnerSettings::default() };
    let all = Rows::concat(&[&a, &b, &b]).unwrap();
    let expected = fit_logistic(&all, 1e-2, &settings).unwrap();
    // The loss is divided by 120 rows instead of 180, so λ must be larger by half.
    let tables = [a, b];
    let found = fit_weighted_logistic(&tables, &[1.0, 2.0], 1.5e-2, &settings).unwrap();
    assert_close(&found, &expected, 1e-8);
    let error = fit_weighted_logistic(&tables, &[1.0], 1e-2, &settings).unwrap_err();
    assert_eq!(error.to_string(), "expected 2 clients, found 1");
}
