//! Krum: the model of the client that is closest to its nearest neighbours.
//!
//! Source: P. Blanchard, E. M. El Mhamdi, R. Guerraoui, J. Stainer, "Machine learning with adversaries: Byzantine
//! tolerant gradient descent", NeurIPS 2017. The score of a client is the sum of the squared distances from its update
//! to the `K − f − 2` nearest ones; the client with the lowest score wins, the first of them if scores are equal.
//!
//! One round: the update is the model, as all clients start from the origin. The guarantee needs `K ≥ 2f + 3`, so f is
//! the largest such number, at most 40 % of K. With one or two clients there is nothing to compare: models are
//! averaged.

use super::RivalModel;
use super::vectors::{average_of, expected_attackers, squared_distance};

/// Larger squared distances count as this, so that sums of them stay finite.
const MAX_DISTANCE: f64 = 1e300;

pub(super) fn combine(models: &[Vec<f64>]) -> RivalModel {
    let n_chosen = if models.len() <= 2 { models.len() } else { 1 };
    average_of(models, &rank(models)[..n_chosen])
}

/// f for a number of clients.
pub(super) fn krum_attackers(n_clients: usize) -> usize {
    expected_attackers(n_clients, n_clients.saturating_sub(3) / 2)
}

/// The clients from the lowest score to the highest.
pub(super) fn rank(models: &[Vec<f64>]) -> Vec<usize> {
    let n_near = n_neighbours(models.len(), krum_attackers(models.len()));
    let score = |mut distances: Vec<f64>| -> f64 {
        distances.sort_unstable_by(f64::total_cmp);
        // The first distance is that of the client to itself.
        distances.iter().skip(1).take(n_near).sum()
    };
    let scores: Vec<f64> = squared_distances(models).into_iter().map(score).collect();
    let mut order: Vec<usize> = (0..models.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    order
}

/// `K − f − 2`, at least 1.
pub(super) fn n_neighbours(n_clients: usize, attackers: usize) -> usize {
    n_clients.saturating_sub(attackers + 2).max(1)
}

/// The squared distance between every two models.
pub(super) fn squared_distances(models: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let between = |a: &Vec<f64>, b: &Vec<f64>| squared_distance(a, b).min(MAX_DISTANCE);
    models.iter().map(|a| models.iter().map(|b| between(a, b)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models(values: &[f64]) -> Vec<Vec<f64>> {
        values.iter().map(|&value| vec![value]).collect()
    }

    #[test]
    fn the_client_in_the_densest_place_wins() {
        // f = 1, two neighbours. Scores: 1 + 9, 1 + 4, 4 + 2.25, 2.25 + 12.25, and about 2 · 95².
        let found = combine(&models(&[0.0, 1.0, 3.0, 4.5, 100.0]));
        assert_eq!(found.theta, [1.0]);
        assert_eq!(found.weights, Some(vec![0.0, 1.0, 0.0, 0.0, 0.0]));
        assert_eq!(rank(&models(&[0.0, 1.0, 3.0, 4.5, 100.0])), [1, 2, 0, 3, 4]);
    }

    #[test]
    fn one_or_two_clients_are_averaged_and_of_three_the_nearest_win() {
        assert_eq!(combine(&models(&[7.0])).theta, [7.0]);
        assert_eq!(combine(&models(&[7.0, 9.0])).theta, [8.0]);
        assert_eq!(combine(&models(&[50.0, 7.0, 9.0])).theta, [7.0]);
        assert_eq!([1, 2, 3, 4, 5, 7, 20].map(krum_attackers), [0, 0, 0, 0, 1, 2, 8]);
    }

    #[test]
    fn distances_that_overflow_count_as_very_far() {
        assert_eq!(combine(&models(&[1e200, 1.0, 2.0, 3.5, -1e200])).theta, [2.0]);
    }
}
