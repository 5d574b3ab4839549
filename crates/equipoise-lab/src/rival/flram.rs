//! FLRAM-style filtering: clients with unusual lengths or signs are dropped, the others are weighed by credibility.
//!
//! In the style of H. Chen, X. Chen, L. Peng, R. Ma, "FLRAM: robust aggregation technique for defense against Byzantine
//! poisoning attacks in federated learning", Electronics 12(21), 2023: an isolation forest on the magnitudes of the
//! updates, density-based clustering of their signs, then weights from a credibility matrix of the updates that are
//! left.
//!
//! One round: the update is the model. Only these steps are the publication's; their details are ours:
//! - A client is dropped if the isolation forest (F. T. Liu, K. M. Ting, Z.-H. Zhou, "Isolation forest", ICDM 2008)
//!   gives the length of its update a score above 0.6. Every tree sees all clients.
//! - The distance between two clients is the share of coefficients whose signs differ. DBSCAN, with the median distance
//!   as radius and half of all clients as the smallest neighbourhood, forms clusters; only the largest is kept.
//! - The credibility of a client is its mean cosine similarity to the others that are kept, each at least 0.
//!
//! If the two filters leave nobody, only the second one counts. A single client has all the weight.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::RivalModel;
use super::vectors::{average, average_of, cosine, median, norm};

const TREES: usize = 100;
const SEED: u64 = 1;
/// Scores above this are anomalies.
const MAX_SCORE: f64 = 0.6;

pub(super) fn combine(models: &[Vec<f64>]) -> RivalModel {
    let lengths: Vec<f64> = models.iter().map(|theta| norm(theta)).collect();
    let scores = anomaly_scores(&lengths, TREES);
    let similar = largest_cluster(&sign_distances(models));
    let mut kept = similar.clone();
    kept.retain(|&client| scores[client] <= MAX_SCORE);
    if kept.is_empty() {
        kept = similar;
    }
    let mut weights = vec![0.0; models.len()];
    for &client in &kept {
        let others = kept.iter().filter(|&&other| other != client);
        let alike = others.map(|&other| cosine(&models[client], &models[other]).max(0.0));
        weights[client] = alike.sum();
    }
    if weights.iter().all(|weight| *weight == 0.0) {
        return average_of(models, &kept);
    }
    average(models, &weights)
}

/// The score of each value in an isolation forest: `2^(−h/c)`, with h the mean depth at which it is isolated and c the
/// mean depth of any value. About 0.5 for ordinary values, near 1 for anomalies.
fn anomaly_scores(values: &[f64], trees: usize) -> Vec<f64> {
    let usual = mean_depth(values.len());
    if usual == 0.0 {
        return vec![0.0; values.len()];
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let sorted: Vec<f64> = order.iter().map(|&i| values[i]).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut depths = vec![0.0; values.len()];
    let max_depth = (values.len() as f64).log2().ceil() as usize;
    for _ in 0..trees {
        isolate(&sorted, 0, max_depth, &mut rng, &mut depths);
    }
    let mut scores = vec![0.0; values.len()];
    for (&i, depth) in order.iter().zip(&depths) {
        scores[i] = (-depth / trees as f64 / usual).exp2();
    }
    scores
}

/// Grows one tree over sorted values, and adds the depth of each.
fn isolate(
    sorted: &[f64],
    depth: usize,
    max_depth: usize,
    rng: &mut ChaCha8Rng,
    depths: &mut [f64],
) {
    let (Some(low), Some(high)) = (sorted.first(), sorted.last()) else { return };
    let split = low + (high - low) * rng.random::<f64>();
    let n_low = sorted.partition_point(|value| *value <= split);
    // Equal values, or values that differ only in the last digits, cannot be split.
    if depth == max_depth || n_low == sorted.len() {
        let depth = depth as f64 + mean_depth(sorted.len());
        depths.iter_mut().for_each(|sum| *sum += depth);
        return;
    }
    let (low_depths, high_depths) = depths.split_at_mut(n_low);
    isolate(&sorted[..n_low], depth + 1, max_depth, rng, low_depths);
    isolate(&sorted[n_low..], depth + 1, max_depth, rng, high_depths);
}

/// `c(n) = 2 H(n−1) − 2 (n−1)/n`, with H the harmonic numbers: the mean depth of a value among n.
fn mean_depth(n: usize) -> f64 {
    let harmonic: f64 = (1..n).map(|k| 1.0 / k as f64).sum();
    if n <= 1 { 0.0 } else { 2.0 * harmonic - 2.0 * (n - 1) as f64 / n as f64 }
}

/// For every two models, the share of coefficients whose signs differ.
fn sign_distances(models: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let sign = |value: &f64| if *value == 0.0 { 0 } else { value.signum() as i8 };
    let signs: Vec<Vec<i8>> = models.iter().map(|theta| theta.iter().map(sign).collect()).collect();
    let between = |a: &Vec<i8>, b: &Vec<i8>| {
        a.iter().zip(b).filter(|(x, y)| x != y).count() as f64 / a.len().max(1) as f64
    };
    signs.iter().map(|a| signs.iter().map(|b| between(a, b)).collect()).collect()
}

/// The largest DBSCAN cluster, the first of them if several are as large. Everyone, if there is no cluster.
fn largest_cluster(distances: &[Vec<f64>]) -> Vec<usize> {
    let n = distances.len();
    let pairs: Vec<f64> = (0..n).flat_map(|a| distances[a][..a].iter().copied()).collect();
    let radius = if pairs.is_empty() { 0.0 } else { median(pairs) };
    let near = |client: usize| (0..n).filter(move |&other| distances[client][other] <= radius);
    let is_core: Vec<bool> = (0..n).map(|client| near(client).count() >= n.div_ceil(2)).collect();
    let mut is_taken = vec![false; n];
    let mut largest: Vec<usize> = Vec::new();
    for start in (0..n).filter(|&client| is_core[client]) {
        if is_taken[start] {
            continue;
        }
        is_taken[start] = true;
        let mut cluster = vec![start];
        let mut next = 0;
        while next < cluster.len() {
            let client = cluster[next];
            next += 1;
            if is_core[client] {
                for other in near(client) {
                    if !is_taken[other] {
                        is_taken[other] = true;
                        cluster.push(other);
                    }
                }
            }
        }
        if cluster.len() > largest.len() {
            largest = cluster;
        }
    }
    if largest.is_empty() {
        return (0..n).collect();
    }
    largest.sort_unstable();
    largest
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn isolated_values_have_high_scores() {
        assert_eq!([1, 2, 3].map(mean_depth), [0.0, 1.0, 3.0 - 4.0 / 3.0]);
        // Of 0, 1 and 10, the first split is above 1 in 9 of 10 trees. So 10 has a mean depth of 1.1, 0 of 1.9, 1 of 2.
        let usual = 5.0_f64 / 3.0;
        let found = anomaly_scores(&[1.0, 10.0, 0.0], 100_000);
        for (score, depth) in found.iter().zip([2.0, 1.1, 1.9]) {
            assert!((score - (-depth / usual).exp2()).abs() < 2e-3, "{found:?}");
        }
        assert_eq!(anomaly_scores(&[4.0; 6], 10), [0.5; 6]);
        assert_eq!(anomaly_scores(&[4.0, 9.0], 10), [0.5; 2]);
    }

    #[test]
    fn clients_with_other_signs_are_in_no_cluster() {
        let models = [[1.0, 1.0, 1.0, 1.0], [2.0, 1.0, 1.0, -1.0], [1.0, 3.0, 1.0, 1.0]];
        let mut models: Vec<Vec<f64>> = models.iter().map(|m| m.to_vec()).collect();
        models.push(vec![-1.0, -1.0, 0.0, -1.0]);
        let distances = sign_distances(&models);
        assert_eq!(distances[0], [0.0, 0.25, 0.0, 1.0]);
        assert_eq!(distances[1], [0.25, 0.0, 0.25, 0.75]);
        // Distances 0, 0.25, 0.25, 0.75, 1 and 1: the radius is 0.5, and two clients are enough.
        assert_eq!(largest_cluster(&distances), [0, 1, 2]);
    }

    #[test]
    fn weights_are_mean_similarities_of_the_clients_that_are_left() {
        // Equal lengths and signs but for the last client, which is far too long.
        let models =
            [[3.0, 4.0], [4.0, 3.0], [3.0, 4.0], [4.0, 3.0], [3e6, 4e6]].map(|m| m.to_vec());
        let found = combine(&models);
        // Each of the four has one twin (cosine 1) and two neighbours (cosine 24/25).
        assert_eq!(found.weights.unwrap(), [0.25, 0.25, 0.25, 0.25, 0.0]);
        assert!(found.theta.iter().all(|t| (t - 3.5).abs() < 1e-12));
    }

    #[test]
    fn small_rounds_have_a_model() {
        let of = |values: &[f64]| combine(&values.iter().map(|&v| vec![v]).collect::<Vec<_>>());
        assert_eq!(of(&[4.0]).theta, [4.0]);
        assert_eq!(of(&[4.0, -6.0]).theta, [-1.0]);
        assert_eq!(of(&[4.0, 6.0, -5.0]).theta, [5.0]);
        assert_eq!(of(&[0.0, 0.0]).theta, [0.0]);
    }
}
