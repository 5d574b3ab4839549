//! The mean of each coefficient over the clients' models, without the largest and the smallest values.
//!
//! Source: D. Yin, Y. Chen, K. Ramchandran, P. Bartlett, "Byzantine-robust distributed learning: towards optimal
//! statistical rates", ICML 2018, Algorithm 1, option II, with one round.
//!
//! Of K values, the rule drops f at each end, where f is the largest number below K/2, at most 40 % of K. With five
//! clients it drops two at each end and so equals the median; with one or two clients it is the mean.

use super::RivalModel;
use super::vectors::{by_coordinate, expected_attackers};

pub(super) fn combine(models: &[Vec<f64>]) -> RivalModel {
    let n_clients = models.len();
    let dropped = expected_attackers(n_clients, n_clients.saturating_sub(1) / 2);
    RivalModel { theta: by_coordinate(models, |values| trimmed(values, dropped)), weights: None }
}

/// The mean without the `dropped` smallest and the `dropped` largest values.
fn trimmed(mut values: Vec<f64>, dropped: usize) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let kept = &values[dropped..values.len() - dropped];
    kept.iter().sum::<f64>() / kept.len() as f64
}

#[cfg(test)]
mod tests {
    fn combine(values: &[f64]) -> f64 {
        super::combine(&values.iter().map(|&value| vec![value]).collect::<Vec<_>>()).theta[0]
    }

    #[test]
    fn values_at_both_ends_are_dropped() {
        // Seven clients: two dropped at each end, mean of 2, 3 and 7.
        assert_eq!(combine(&[1.0, 2.0, 3.0, 7.0, 8.0, 1e6, -1e6]), 4.0);
        // Five clients: the median.
        assert_eq!(combine(&[5.0, 1.0, 2.0, 1e6, 3.0]), 3.0);
    }

    #[test]
    fn few_clients_are_averaged() {
        assert_eq!(combine(&[3.0]), 3.0);
        assert_eq!(combine(&[3.0, 4.0]), 3.5);
        assert_eq!(combine(&[3.0, 4.0, 1e6]), 4.0);
    }
}
