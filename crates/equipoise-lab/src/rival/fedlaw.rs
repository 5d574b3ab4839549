//! FedLAW-style learned weights: the weights and the shrinkage factor with the lowest loss on the root.
//!
//! In the style of Z. Li, T. Lin, X. Shang, C. Wu, "Revisiting weighted aggregation in federated learning with neural
//! networks", ICML 2023: the model is `γ Σ w_c θ_c` with w on the simplex and a shrinkage factor γ, both learned on
//! data that the server holds.
//!
//! One round, in which the server learns them on the root. The publication descends on softmax weights for some epochs.
//! With linear models the problem is convex in `v_c = γ w_c`, over `v ≥ 0`, `Σ v ≤ 1` (shrinkage does not enlarge), so
//! it is solved to optimality, by pairwise Frank–Wolfe steps with exact line searches: these do not depend on the scale
//! of any model. If γ is 0, no client's model is of use on the root, and no client has a weight.

use super::vectors::{dot, normalised, weighted_sum};
use super::{RivalInput, RivalModel};
use crate::error::Error;

const MAX_STEPS: usize = 2000;
/// The loss is at most this far above its minimum, unless the steps run out: far less than a root can tell apart.
const GAP_TOLERANCE: f64 = 1e-9;
/// Step lengths tried by a line search.
const MAX_TRIALS: usize = 60;

pub(super) fn run(input: &RivalInput<'_>) -> Result<RivalModel, Error> {
    let root = input.root()?;
    let signed = |i: usize| root.a(i).iter().map(|value| root.labels()[i] * value).collect();
    let shares = learn(&input.models, &(0..root.len()).map(signed).collect::<Vec<_>>());
    let weights = shares.iter().any(|share| *share > 0.0).then(|| normalised(&shares));
    Ok(RivalModel { theta: weighted_sum(&input.models, &shares), weights })
}

/// `v` with the lowest mean loss of `Σ v_c θ_c`. `rows` are `y a`: a row's margin under a model is their product.
fn learn(models: &[Vec<f64>], rows: &[Vec<f64>]) -> Vec<f64> {
    let n_clients = models.len();
    // Corner c is model c alone; the last corner is γ = 0.
    let mut corners = models.to_vec();
    corners.push(vec![0.0; models.first().map_or(0, Vec::len)]);
    let mut shares = vec![1.0 / n_clients as f64; n_clients];
    shares.push(0.0);
    let mut margins = margins_of(&weighted_sum(&corners, &shares), rows);
    for _ in 0..MAX_STEPS {
        let residuals: Vec<f64> = margins.iter().map(|&margin| residual(margin)).collect();
        let descent = weighted_sum(rows, &residuals);
        let slopes: Vec<f64> = corners.iter().map(|corner| -dot(&descent, corner)).collect();
        let by_slope = |a: &usize, b: &usize| slopes[*a].total_cmp(&slopes[*b]);
        let active = (0..=n_clients).filter(|&corner| shares[corner] > 0.0);
        let (Some(best), Some(worst)) = ((0..=n_clients).min_by(by_slope), active.max_by(by_slope))
        else {
            break;
        };
        if (dot(&shares, &slopes) - slopes[best]) / rows.len() as f64 <= GAP_TOLERANCE {
            break;
        }
        let towards: Vec<f64> =
            corners[best].iter().zip(&corners[worst]).map(|(b, w)| b - w).collect();
        let direction = margins_of(&towards, rows);
        let length = line_search(&margins, &direction, shares[worst]);
        margins.iter_mut().zip(&direction).for_each(|(m, d)| *m += length * d);
        shares[best] += length;
        shares[worst] -= length;
    }
    shares.truncate(n_clients);
    shares
}

fn margins_of(theta: &[f64], rows: &[Vec<f64>]) -> Vec<f64> {
    rows.iter().map(|row| dot(row, theta)).collect()
}

/// `σ(−m)`, minus the derivative of a row's loss, without overflow.
fn residual(m: f64) -> f64 {
    let e = (-m.abs()).exp();
    if m > 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
}

/// The step of up to `longest` with the lowest loss, by Newton's method; by bisection where that leaves the bracket.
fn line_search(margins: &[f64], direction: &[f64], longest: f64) -> f64 {
    // First and second derivative.
    let derivatives = |length: f64| {
        margins.iter().zip(direction).fold((0.0, 0.0), |(slope, curvature), (m, d)| {
            let r = residual(m + length * d);
            (slope - r * d, curvature + r * (1.0 - r) * d * d)
        })
    };
    let (mut low, mut high, mut at) = (0.0, longest, longest);
    for trial in 0..MAX_TRIALS {
        let (slope, curvature) = derivatives(at);
        if slope > 0.0 {
            high = at;
        } else if trial == 0 {
            return longest;
        } else {
            low = at;
        }
        let newton = at - slope / curvature;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - at).abs() <= f64::EPSILON * longest {
            break;
        }
        at = next;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shares of one-coefficient models on rows `a = 1`, three positive and one negative: the best model is ln 3.
    fn shares(models: &[f64]) -> Vec<f64> {
        let models: Vec<Vec<f64>> = models.iter().map(|&theta| vec![theta]).collect();
        learn(&models, &[1.0, 1.0, 1.0, -1.0].map(|row| vec![row]))
    }

    fn model(models: &[f64]) -> f64 {
        dot(&shares(models), models)
    }

    #[test]
    fn the_model_with_the_lowest_root_loss_is_found() {
        assert!((model(&[2.0, -1.0]) - 3f64.ln()).abs() < 1e-4);
        assert!((model(&[2.0, 1e9]) - 3f64.ln()).abs() < 1e-4);
        // Shrinkage alone.
        assert!((shares(&[4.0])[0] - 3f64.ln() / 4.0).abs() < 1e-4);
    }

    #[test]
    fn shrinkage_does_not_enlarge_and_useless_models_are_shrunk_to_nothing() {
        assert_eq!(shares(&[0.5]), [1.0]);
        assert_eq!(shares(&[0.5, 0.75]), [0.0, 1.0]);
        assert_eq!(shares(&[-1.0, -2.0]), [0.0, 0.0]);
    }

    #[test]
    fn models_are_combined_and_shrunk_to_the_minimiser() {
        let signed = [[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]];
        let rows = signed.map(|row| row.to_vec());
        let models = [[2.0, 0.1], [0.5, -1.0], [9.0, 5.0]].map(|model| model.to_vec());
        let shares = learn(&models, &rows);
        let theta = weighted_sum(&models, &shares);
        // The first coefficient has twice as many positive rows as negative ones, the second as many.
        assert!((theta[0] - 2f64.ln()).abs() < 1e-3 && theta[1].abs() < 1e-3, "{theta:?}");
        assert!(shares.iter().sum::<f64>() < 1.0, "{shares:?}");
        // The first model alone: its derivative in v, written out, is 0.
        let shares = learn(&models[..1], &rows);
        let slope = |v: f64| -> f64 {
            let margin = |row: &Vec<f64>| dot(row, &models[0]);
            rows.iter().map(|row| -margin(row) / (1.0 + (v * margin(row)).exp())).sum()
        };
        assert!(slope(shares[0]).abs() < 1e-3, "{shares:?}");
    }
}
