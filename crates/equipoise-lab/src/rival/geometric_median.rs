//! The geometric median of the clients' models: the point with the smallest sum of distances to them.
//!
//! Source: K. Pillutla, S. M. Kakade, Z. Harchaoui, "Robust aggregation for federated learning", IEEE Transactions on
//! Signal Processing 70, 2022 (RFA), with their smoothed Weiszfeld algorithm: `w_c ∝ 1 / max(ν, ‖v − θ_c‖)`,
//! `v = Σ w_c θ_c`, repeated.
//!
//! One round. The publication weights clients by their number of rows, and stops after a few steps because each step is
//! a round of communication. Here every client counts the same, because a client chooses its number of proxy rows, and
//! the server repeats the step until it has converged.

use super::RivalModel;
use super::vectors::{average, by_coordinate, median, norm, squared_distance};

/// ν, the distance below which a model attracts no more.
const SMOOTHING: f64 = 1e-6;
const MAX_STEPS: usize = 2000;
/// A step shorter than this share of the model's norm is the last one.
const TOLERANCE: f64 = 1e-12;

pub(super) fn combine(models: &[Vec<f64>]) -> RivalModel {
    let mut centre = by_coordinate(models, median);
    let mut combined = step(models, &centre);
    for _ in 1..MAX_STEPS {
        let moved = squared_distance(&combined.theta, &centre).sqrt();
        if moved <= TOLERANCE * norm(&centre) {
            break;
        }
        centre = combined.theta;
        combined = step(models, &centre);
    }
    combined
}

fn step(models: &[Vec<f64>], centre: &[f64]) -> RivalModel {
    let pull = |theta: &Vec<f64>| 1.0 / squared_distance(theta, centre).sqrt().max(SMOOTHING);
    average(models, &models.iter().map(pull).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn assert_near(models: &[[f64; 2]], expected: [f64; 2]) {
        let models: Vec<Vec<f64>> = models.iter().map(|model| model.to_vec()).collect();
        let found = combine(&models);
        assert!(squared_distance(&found.theta, &expected).sqrt() < 1e-5, "{found:?}");
        assert!((found.weights.unwrap().iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_median_of_a_quadrilateral_is_where_its_diagonals_meet() {
        assert_near(&[[0.0, 0.0], [0.0, 2.0], [3.0, 3.0], [4.0, -2.0]], [1.0, 1.0]);
        assert_near(&[[0.0, 0.0], [0.0, 2.0], [3e6, 3e6], [4.0, -2.0]], [1.0, 1.0]);
    }

    #[test]
    fn the_median_of_an_equilateral_triangle_is_its_centre() {
        let height = 3f64.sqrt();
        assert_near(&[[0.0, 0.0], [2.0, 0.0], [1.0, height]], [1.0, height / 3.0]);
    }

    #[test]
    fn on_a_line_it_is_the_median_and_of_equal_models_that_model() {
        assert_near(&[[0.0, 0.0], [1.0, 1.0], [50.0, 50.0]], [1.0, 1.0]);
        assert_near(&[[2.0, 3.0]; 4], [2.0, 3.0]);
        assert_near(&[[2.0, 3.0]], [2.0, 3.0]);
        assert_near(&[[2.0, 3.0], [4.0, 5.0]], [3.0, 4.0]);
    }
}
