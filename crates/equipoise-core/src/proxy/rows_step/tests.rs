//! The derivatives in the rows against models refitted after moving rows.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;
use crate::inner_fit::{FitPoint, InnerProblem, InnerSettings};
use crate::packed_rows::PackedRows;
use crate::test_rows::random_rows;

const RIDGE: f64 = 1e-3;

fn identity(n: usize) -> Vec<f64> {
    (0..n).flat_map(|i| (0..=i).map(move |j| f64::from(i == j))).collect()
}

fn fit(rows: &Rows) -> (PackedRows, FitPoint) {
    let source = PackedRows::of(std::slice::from_ref(rows)).unwrap();
    let problem = InnerProblem { rows: &source, weights: &[1.0], ridge: RIDGE };
    let settings = InnerSettings { tolerance: 1e-13, ..InnerSettings::default() };
    let point = problem.fit(FitPoint::origin(&source).unwrap(), &settings).unwrap().point;
    (source, point)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// F(θ) = c·θ for a random c: its gradient in a row is −(1/N) C_jᵀ H⁻¹ c, which is what `row_gradients`
    /// gives for v = H⁻¹ c. Any other F differs only in its ∇F because it acts through θ alone.
    #[test]
    fn row_gradients_agree_with_refitted_models(
        seed in 0u64..1_000_000,
        n_x in 1usize..5,
        intercept: bool,
        row in 0usize..40,
        c in prop::collection::vec(-2.0f64..2.0, 7),
    ) {
        let rows = random_rows(seed, 40, n_x, intercept);
        let (source, point) = fit(&rows);
        let n = point.theta.len();
        let problem = InnerProblem { rows: &source, weights: &[1.0], ridge: RIDGE };
        let v = problem.factor(&problem.hessian(&point.statistics)).unwrap().solve(&c[..n]);
        let gradients = row_gradients(&rows, &point.theta, &v);
        let found = &gradients[row * n_x..(row + 1) * n_x];

        let h = 1e-4;
        let value = |feature: usize, by: f64| {
            let mut rows = rows.clone();
            rows.x_mut(row)[feature] += by;
            dot(&c[..n], &fit(&rows).1.theta)
        };
        let expected: Vec<f64> = (0..n_x).map(|k| (value(k, h) - value(k, -h)) / (2.0 * h)).collect();
        let size = expected.iter().map(|g| g * g).sum::<f64>().sqrt();
        let error = found.iter().zip(&expected).map(|(f, e)| (f - e).powi(2)).sum::<f64>().sqrt();
        prop_assert!(error <= 1e-5 * size + 1e-10, "{found:?} against {expected:?}");
    }

    /// The model moves as requested, up to second order. The move is a combination of the rows' derivatives, which makes
    /// it the smallest.
    #[test]
    fn the_smallest_step_moves_the_model_as_requested(
        seed in 0u64..1_000_000,
        n_x in 1usize..5,
        intercept: bool,
        delta in prop::collection::vec(-1.0f64..1.0, 7),
    ) {
        let rows = random_rows(seed, 60, n_x, intercept);
        let (source, point) = fit(&rows);
        let n = point.theta.len();
        let everywhere = RangeProjection::new(&identity(n_x), n_x);
        let problem = InnerProblem { rows: &source, weights: &[1.0], ridge: RIDGE };
        let hessian = problem.hessian(&point.statistics);
        let z =
            smallest_step(&rows, &point.theta, &hessian, RIDGE, &delta[..n], &everywhere).unwrap();
        let h = 1e-5;
        let at = |length: f64| {
            fit(&moved_rows(&rows, &point.theta, &z, length, &everywhere)).1.theta
        };
        let (up, down) = (at(h), at(-h));
        for i in 0..n {
            let change = (up[i] - down[i]) / (2.0 * h);
            prop_assert!((change - delta[i]).abs() < 1e-4, "{change} against {}", delta[i]);
        }
    }
}
