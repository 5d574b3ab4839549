//! FedCC-style clustering: clients are split in two clusters by how their models behave, and the larger one counts.
//!
//! In the style of H. Jeong, H. Son, S. Lee, J. Hyun, T.-M. Chung, "FedCC: robust federated learning against model
//! poisoning attacks", arXiv 2212.01976, 2022. There, clients are clustered in two by the similarity (centred kernel
//! alignment) of their penultimate layers; the smaller cluster is discarded, and the other is averaged by similarity.
//!
//! A linear model has no penultimate layer, and alignment cannot tell a model from its negative. So here the
//! representation of a client is its model's scores on the root rows, centred and scaled to length 1: the squared
//! distance between two of them is `2 (1 − ρ)`, with ρ their correlation. 2-means starts from the client farthest from
//! the mean and the client farthest from that one. Of two clusters of equal size, the one whose members are more alike
//! is kept. Weights are the correlations with the centre of the cluster, without negative ones. One or two models are
//! averaged.

use equipoise_core::Rows;

use super::vectors::{average, average_of, cosine, dot, norm, squared_distance, weighted_sum};
use super::{RivalInput, RivalModel};
use crate::error::Error;

const MAX_STEPS: usize = 100;

pub(super) fn run(input: &RivalInput<'_>) -> Result<RivalModel, Error> {
    let root = input.root()?;
    let represent = |theta: &Vec<f64>| standardised_scores(theta, &root);
    Ok(combine(&input.models, &input.models.iter().map(represent).collect::<Vec<_>>()))
}

/// The scores of the root rows, centred and scaled to length 1; all 0 if they are all the same.
fn standardised_scores(theta: &[f64], root: &Rows) -> Vec<f64> {
    let scores: Vec<f64> = (0..root.len()).map(|i| dot(root.a(i), theta)).collect();
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    let centred: Vec<f64> = scores.iter().map(|score| score - mean).collect();
    // Scores that differ only by rounding count as the same.
    let length = norm(&centred);
    let scale = if length > 1e-9 * norm(&scores) { 1.0 / length } else { 0.0 };
    centred.iter().map(|score| scale * score).collect()
}

fn combine(models: &[Vec<f64>], representations: &[Vec<f64>]) -> RivalModel {
    let everyone: Vec<usize> = (0..models.len()).collect();
    if models.len() <= 2 {
        return average_of(models, &everyone);
    }
    let kept = larger_cluster(representations);
    let centre = centre(representations, &kept);
    let mut weights = vec![0.0; models.len()];
    kept.iter().for_each(|&c| weights[c] = cosine(&representations[c], &centre).max(0.0));
    if weights.iter().all(|weight| *weight == 0.0) {
        return average_of(models, &kept);
    }
    average(models, &weights)
}

/// The members of the larger of two clusters.
fn larger_cluster(points: &[Vec<f64>]) -> Vec<usize> {
    let everyone: Vec<usize> = (0..points.len()).collect();
    let first = farthest(points, &centre(points, &everyone));
    let second = farthest(points, &points[first]);
    let mut centres = [points[first].clone(), points[second].clone()];
    let mut clusters = assign(points, &centres);
    for _ in 0..MAX_STEPS {
        if clusters.iter().any(Vec::is_empty) {
            break;
        }
        centres = [0, 1].map(|k| centre(points, &clusters[k]));
        let next = assign(points, &centres);
        if next == clusters {
            break;
        }
        clusters = next;
    }
    let spread = |k: usize| -> f64 {
        clusters[k].iter().map(|&c| squared_distance(&points[c], &centres[k])).sum()
    };
    let by_size = clusters[0].len().cmp(&clusters[1].len());
    let [one, other] = &clusters;
    match by_size.then(spread(1).total_cmp(&spread(0))) {
        std::cmp::Ordering::Less => other.clone(),
        _ => one.clone(),
    }
}

fn assign(points: &[Vec<f64>], centres: &[Vec<f64>; 2]) -> [Vec<usize>; 2] {
    let is_first = |&c: &usize| {
        squared_distance(&points[c], &centres[0]) <= squared_distance(&points[c], &centres[1])
    };
    let (first, second) = (0..points.len()).partition(is_first);
    [first, second]
}

fn centre(points: &[Vec<f64>], members: &[usize]) -> Vec<f64> {
    let mut weights = vec![0.0; points.len()];
    members.iter().for_each(|&member| weights[member] = 1.0 / members.len() as f64);
    weighted_sum(points, &weights)
}

/// The first of the points that are farthest from `from`.
fn farthest(points: &[Vec<f64>], from: &[f64]) -> usize {
    let mut found = (0, f64::NEG_INFINITY);
    for (c, point) in points.iter().enumerate() {
        let distance = squared_distance(point, from);
        if distance > found.1 {
            found = (c, distance);
        }
    }
    found.0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use equipoise_core::Layout;

    /// A point on the unit circle, at this angle in degrees.
    fn point(degrees: f64) -> Vec<f64> {
        vec![degrees.to_radians().cos(), degrees.to_radians().sin()]
    }

    #[test]
    fn the_larger_cluster_is_averaged_by_similarity() {
        let points = [0.0, 20.0, 10.0, 180.0, 170.0].map(point);
        let models = [1.0, 2.0, 3.0, 1e6, -1e6].map(|value| vec![value]);
        let found = combine(&models, &points);
        // The centre lies at 10°: weights in proportion to cos 10°, cos 10° and 1.
        let side = 10f64.to_radians().cos();
        let sum = 2.0 * side + 1.0;
        assert!((found.theta[0] - (3.0 * side + 3.0) / sum).abs() < 1e-12, "{found:?}");
        for (weight, expected) in found.weights.unwrap().iter().zip([side, side, 1.0, 0.0, 0.0]) {
            assert!((weight - expected / sum).abs() < 1e-12);
        }
    }

    #[test]
    fn of_two_equal_clusters_the_tighter_one_is_kept() {
        assert_eq!(larger_cluster(&[0.0, 40.0, 180.0, 190.0].map(point)), [2, 3]);
        assert_eq!(larger_cluster(&[180.0, 190.0, 0.0, 40.0].map(point)), [0, 1]);
        // Nothing to tell clients apart.
        assert_eq!(larger_cluster(&[point(30.0), point(30.0), point(30.0)]), [0, 1, 2]);
    }

    #[test]
    fn one_or_two_clients_are_averaged() {
        assert_eq!(combine(&[vec![4.0]], &[point(0.0)]).theta, [4.0]);
        assert_eq!(combine(&[vec![4.0], vec![6.0]], &[point(0.0), point(180.0)]).theta, [5.0]);
    }

    #[test]
    fn scores_are_compared_by_correlation() {
        let layout = Layout::two_groups(1, true);
        let root = Rows::new(layout, &[1.0, 2.0, 4.0], &[true; 3], &[true, false, true]).unwrap();
        let scores = |theta: [f64; 3]| standardised_scores(&theta, &root);
        let correlation = |a: [f64; 3], b: [f64; 3]| dot(&scores(a), &scores(b));
        assert!((correlation([2.0, 1.0, -3.0], [0.1, 5.0, 0.0]) - 1.0).abs() < 1e-12);
        assert!((correlation([2.0, 1.0, -3.0], [-7.0, 0.0, 0.0]) + 1.0).abs() < 1e-12);
        assert_eq!(scores([0.0, 0.3, 0.1]), [0.0; 3]);
    }
}
