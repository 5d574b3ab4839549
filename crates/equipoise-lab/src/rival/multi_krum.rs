//! Multi-Krum: the average of the models with the lowest Krum scores.
//!
//! Source: P. Blanchard, E. M. El Mhamdi, R. Guerraoui, J. Stainer, "Machine learning with adversaries: Byzantine
//! tolerant gradient descent", NeurIPS 2017. The average is over `m = K − f − 2` clients, as in G. Damaskinos et al.,
//! "AggregaThor: Byzantine machine learning via robust gradient aggregation", MLSys 2019. f and the single round are as in `krum`. One or two models are averaged.

use super::RivalModel;
use super::krum::{krum_attackers, n_neighbours, rank};
use super::vectors::average_of;

pub(super) fn combine(models: &[Vec<f64>]) -> RivalModel {
    let n_clients = models.len();
    let n_chosen = match n_clients {
        0..=2 => n_clients,
        _ => n_neighbours(n_clients, krum_attackers(n_clients)),
    };
    average_of(models, &rank(models)[..n_chosen])
}

#[cfg(test)]
mod tests {
    fn combine(values: &[f64]) -> super::RivalModel {
        super::combine(&values.iter().map(|&value| vec![value]).collect::<Vec<_>>())
    }

    #[test]
    fn the_clients_with_the_lowest_scores_are_averaged() {
        // m = 2: the scores in `krum` are lowest for the clients at 1 and 3.
        let found = combine(&[0.0, 1.0, 3.0, 4.5, 100.0]);
        assert_eq!(found.theta, [2.0]);
        assert_eq!(found.weights, Some(vec![0.0, 0.5, 0.5, 0.0, 0.0]));
    }

    #[test]
    fn small_rounds_have_a_model() {
        assert_eq!(combine(&[7.0]).theta, [7.0]);
        assert_eq!(combine(&[7.0, 9.0]).theta, [8.0]);
        assert_eq!(combine(&[50.0, 7.0, 9.0]).theta, [7.0]);
        // f = 0, m = 2. Scores: 1 + 4, 1 + 1, 1 + 4, and 49 + 64; the first of two equal ones wins.
        assert_eq!(combine(&[0.0, 1.0, 2.0, 9.0]).theta, [0.5]);
    }
}
