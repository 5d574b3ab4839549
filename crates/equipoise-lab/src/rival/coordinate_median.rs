//! The median of each coefficient over the clients' models.
//!
//! Source: D. Yin, Y. Chen, K. Ramchandran, P. Bartlett, "Byzantine-robust distributed learning: towards optimal
//! statistical rates", ICML 2018, Algorithm 1, with one round.

use super::RivalModel;
use super::vectors::{by_coordinate, median};

pub(super) fn combine(models: &[Vec<f64>]) -> RivalModel {
    RivalModel { theta: by_coordinate(models, median), weights: None }
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_coefficient_is_the_middle_one() {
        let combine = |models: &[[f64; 2]]| {
            super::combine(&models.iter().map(|model| model.to_vec()).collect::<Vec<_>>()).theta
        };
        assert_eq!(combine(&[[1.0, 9.0], [2.0, 7.0], [30.0, 8.0]]), [2.0, 8.0]);
        assert_eq!(combine(&[[1.0, 9.0], [2.0, 7.0], [30.0, 8.0], [4.0, 5.0]]), [3.0, 7.5]);
    }
}
