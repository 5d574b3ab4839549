//! Bulyan: clients chosen one by one with Krum, then for each coefficient the mean of the values nearest their median.
//!
//! Source: E. M. El Mhamdi, R. Guerraoui, S. Rouault, "The hidden vulnerability of distributed learning in Byzantium",
//! ICML 2018. Of K clients, `K − 2f` are chosen, each the Krum winner among those that are left. For each coefficient,
//! the mean is over the `K − 4f` values nearest the median of the chosen ones.
//!
//! One round: the update is the model. The guarantee needs `K ≥ 4f + 3`, which is f = 0 and so a plain mean for up to
//! six clients. We use the largest f for which the rule is defined, `K ≥ 4f + 1`. That may go beyond the guarantee, but
//! the rule withstands one attacker among five clients. Up to four models are averaged.

use super::RivalModel;
use super::krum::{n_neighbours, squared_distances};
use super::vectors::{by_coordinate, expected_attackers, median};

pub(super) fn combine(models: &[Vec<f64>]) -> RivalModel {
    let n_clients = models.len();
    let attackers = expected_attackers(n_clients, n_clients.saturating_sub(1) / 4);
    let chosen: Vec<Vec<f64>> =
        select(models, attackers).into_iter().map(|client| models[client].clone()).collect();
    let n_kept = n_clients - 4 * attackers;
    RivalModel {
        theta: by_coordinate(&chosen, |values| mean_near_median(values, n_kept)),
        weights: None,
    }
}

fn mean_near_median(mut values: Vec<f64>, n_kept: usize) -> f64 {
    let middle = median(values.clone());
    values.sort_by(|a, b| (a - middle).abs().total_cmp(&(b - middle).abs()).then(a.total_cmp(b)));
    values[..n_kept].iter().sum::<f64>() / n_kept as f64
}

/// The `K − 2f` Krum winners, in the order in which they are chosen.
fn select(models: &[Vec<f64>], attackers: usize) -> Vec<usize> {
    let distances = squared_distances(models);
    let n_clients = models.len();
    // For each client, the others from the nearest to the farthest.
    let by_distance = |client: usize| {
        let mut others: Vec<usize> = (0..n_clients).filter(|&other| other != client).collect();
        others.sort_by(|&a, &b| distances[client][a].total_cmp(&distances[client][b]));
        others
    };
    let nearest: Vec<Vec<usize>> = (0..n_clients).map(by_distance).collect();
    let mut is_left = vec![true; n_clients];
    let mut chosen = Vec::new();
    for n_left in (2 * attackers + 1..=n_clients).rev() {
        let n_near = n_neighbours(n_left, attackers);
        let score = |client: usize| -> f64 {
            let near = nearest[client].iter().filter(|&&other| is_left[other]).take(n_near);
            near.map(|&other| distances[client][other]).sum()
        };
        let left = (0..n_clients).filter(|&client| is_left[client]);
        let scored = left.map(|client| (client, score(client)));
        let Some((winner, _)) = scored.min_by(|a, b| a.1.total_cmp(&b.1)) else { break };
        is_left[winner] = false;
        chosen.push(winner);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn models(values: &[f64]) -> Vec<Vec<f64>> {
        values.iter().map(|&value| vec![value]).collect()
    }

    #[test]
    fn five_clients_give_the_median_of_three_krum_winners() {
        // f = 1. With two neighbours each, the client at 1 wins (see `krum`). Among 0, 3, 4.5 and 100, one neighbour
        // each, those at 3 and 4.5 have the lowest score: the first wins. Then those at 0 and 4.5 tie.
        let values = models(&[0.0, 1.0, 3.0, 4.5, 100.0]);
        assert_eq!(select(&values, 1), [1, 2, 0]);
        assert_eq!(combine(&values).theta, [1.0]);
    }

    #[test]
    fn values_near_the_median_are_averaged() {
        // Median 2; the three nearest are 2, 1 and 3.5.
        assert_eq!(mean_near_median(vec![9.0, 2.0, 3.5, -4.0, 1.0], 3), 6.5 / 3.0);
        // Median 1.5, both equally near.
        assert_eq!(mean_near_median(vec![1.0, 2.0], 1), 1.0);
    }

    #[test]
    fn up_to_four_clients_are_averaged() {
        assert_eq!(combine(&models(&[3.0])).theta, [3.0]);
        assert_eq!(combine(&models(&[3.0, 5.0])).theta, [4.0]);
        assert_eq!(combine(&models(&[3.0, 5.0, 10.0])).theta, [6.0]);
        assert_eq!(combine(&models(&[3.0, 5.0, 10.0, 2.0])).theta, [5.0]);
    }

    /// Krum from scratch in each step.
    fn select_slowly(models: &[Vec<f64>], attackers: usize) -> Vec<usize> {
        let mut left: Vec<usize> = (0..models.len()).collect();
        let mut chosen = Vec::new();
        while chosen.len() < models.len() - 2 * attackers {
            let n_near = n_neighbours(left.len(), attackers);
            let score = |client: usize| -> f64 {
                let others = left.iter().filter(|&&other| other != client);
                let mut far: Vec<f64> = others
                    .map(|&o| super::super::vectors::squared_distance(&models[client], &models[o]))
                    .collect();
                far.sort_unstable_by(f64::total_cmp);
                far.iter().take(n_near).sum()
            };
            let scores: Vec<f64> = left.iter().map(|&client| score(client)).collect();
            let best = (0..left.len()).min_by(|&a, &b| scores[a].total_cmp(&scores[b]));
            chosen.push(left.remove(best.unwrap_or(0)));
        }
        chosen
    }

    #[test]
    fn sorted_once_chooses_the_same_clients_as_krum_from_scratch() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for n_clients in 1..60 {
            let mut model = |c: usize| -> Vec<f64> {
                // Some clients are very far away.
                let scale = [1.0, 1.0, 1.0, 1e3, 1e12][c % 5];
                (0..3).map(|_| scale * (rng.random::<f64>() - 0.5)).collect()
            };
            let models: Vec<Vec<f64>> = (0..n_clients).map(&mut model).collect();
            for attackers in [(n_clients - 1) / 4, (n_clients - 1) / 8] {
                let expected = select_slowly(&models, attackers);
                assert_eq!(select(&models, attackers), expected, "{n_clients} clients");
            }
        }
    }
}
