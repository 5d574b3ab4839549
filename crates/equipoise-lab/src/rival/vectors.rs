//! Arithmetic on clients' models, common to several rivals.

use super::RivalModel;

/// `a·b`.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// `‖a‖`.
pub(super) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// `cos(a, b)`, or 0 if either is the zero vector.
pub(super) fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let size = norm(a) * norm(b);
    if size > 0.0 { dot(a, b) / size } else { 0.0 }
}

/// `‖a − b‖²`.
pub(super) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// `Σ w_c v_c`.
pub(super) fn weighted_sum(vectors: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; vectors.first().map_or(0, Vec::len)];
    for (vector, weight) in vectors.iter().zip(weights).filter(|(_, weight)| **weight != 0.0) {
        sum.iter_mut().zip(vector).for_each(|(s, v)| *s += weight * v);
    }
    sum
}

/// The median of at least one value.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { 0.5 * (values[half - 1] + values[half]) }
}

/// A function of each coefficient's values over the models.
pub(super) fn by_coordinate(models: &[Vec<f64>], combine: impl Fn(Vec<f64>) -> f64) -> Vec<f64> {
    let n = models.first().map_or(0, Vec::len);
    (0..n).map(|j| combine(models.iter().map(|theta| theta[j]).collect())).collect()
}

/// The weights divided by their sum, or uniform weights if that is 0.
pub(super) fn normalised(weights: &[f64]) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    if sum == 0.0 {
        return vec![1.0 / weights.len() as f64; weights.len()];
    }
    weights.iter().map(|weight| weight / sum).collect()
}

/// The average of the models by these weights, which are divided by their sum.
pub(super) fn average(models: &[Vec<f64>], weights: &[f64]) -> RivalModel {
    let weights = normalised(weights);
    RivalModel { theta: weighted_sum(models, &weights), weights: Some(weights) }
}

/// The average of the chosen clients' models, all counting the same.
pub(super) fn average_of(models: &[Vec<f64>], chosen: &[usize]) -> RivalModel {
    let mut weights = vec![0.0; models.len()];
    chosen.iter().for_each(|&client| weights[client] = 1.0);
    average(models, &weights)
}

/// The number of attackers that a rule expects: as many as it can tolerate, but no more than 40 % of the clients. No
/// rule knows the actual number, and most tolerate fewer than half of the clients.
pub(super) fn expected_attackers(n_clients: usize, tolerated: usize) -> usize {
    tolerated.min(2 * n_clients / 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_expects_what_it_tolerates_up_to_two_fifths() {
        let expected = |n: usize| expected_attackers(n, n.saturating_sub(1) / 2);
        let found: Vec<usize> = [1, 2, 3, 4, 5, 10, 1000].map(expected).to_vec();
        assert_eq!(found, [0, 0, 1, 1, 2, 4, 400]);
    }

    #[test]
    fn weights_that_are_all_0_become_uniform() {
        assert_eq!(normalised(&[0.0, 0.0]), [0.5, 0.5]);
        assert_eq!(normalised(&[1.0, 3.0]), [0.25, 0.75]);
    }

    #[test]
    fn a_zero_vector_has_no_direction() {
        assert_eq!(cosine(&[0.0, 0.0], &[1.0, 2.0]), 0.0);
        assert_eq!(cosine(&[3.0, 4.0], &[4.0, 3.0]), 24.0 / 25.0);
    }
}
