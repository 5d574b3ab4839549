//! FedLAW-style learned weights: the weights and the shrinkage factor with the lowest loss on the root.
//!
//! In the style of Z. Li, T. Lin, X. Shang, C. Wu, "Revisiting weighted aggregation in federated learning with neural
//! networks", ICML 2023: the model is `γ Σ w_c θ_c` with w on the simplex and a shrinkage factor γ, both learned on
//! data that the server holds.
//!
//! One round, in which the server learns them on the root. The publication descends on softmax weights for some epochs.
//! With linear models the problem is convex in `v_c = γ w_c`, over `v ≥ 0`, `Σ v ≤ 1` (shrinkage does not enlarge), so it is
//! solved to optimality, by pairwise Frank–Wolfe steps with exact line searches: these do not depend on the scale of
//! any model. If γ is 0, no client's model is of use on the root, and no client has a weight.

use super::vectors::{dot, normalised, weighted_sum};
use super::{RivalInput, RivalModel};
use crate::error::Error;

const MAX_STEPS: usize = 10_000;
/// The loss is at most this far above its minimum.
const GAP_TOLERANCE: f64 = 1e-10;
/// Bisections of a line search: to the spacing of floating-point numbers.
const BISECTIONS: usize = 60;

pub(super) fn run(input: &RivalInput<'_>) -> Result<RivalModel, Error> {
    let root = input.root()?;
    let margin = |theta: &Vec<f64>, i: usize| root.labels()[i] * dot(root.a(i), theta);
    let margins: Vec<Vec<f64>> = input
        .models
        .iter()
        .map(|theta| (0..root.len()).map(|i| margin(theta, i)).collect())
        .collect();
    let shares = learn(&margins);
    let weights = shares.iter().any(|share| *share > 0.0).then(|| normalised(&shares));
    Ok(RivalModel { theta: weighted_sum(&input.models, &shares), weights })
}

/// `v` with the lowest mean of `log(1 + exp(−Σ v_c m_c))` over the rows. `margins[c]` has the margins `y a·θ_c` of model c.
fn learn(margins: &[Vec<f64>]) -> Vec<f64> {
    let n_rows = margins.first().map_or(0, Vec::len);
    let origin = vec![0.0; n_rows];
    // Corner c is model c alone; the last corner is γ = 0.
    let corners: Vec<&Vec<f64>> = margins.iter().chain([&origin]).collect();
    let n_clients = margins.len();
    let mut shares = vec![1.0 / n_clients as f64; n_clients];
    shares.push(0.0);
    let mut at = weighted_sum(margins, &shares[..n_clients]);
    for _ in 0..MAX_STEPS {
        let slopes: Vec<f64> = corners.iter().map(|corner| slope(&at, corner)).collect();
        let by_slope = |a: &usize, b: &usize| slopes[*a].total_cmp(&slopes[*b]);
        let active = (0..=n_clients).filter(|&corner| shares[corner] > 0.0);
        let (Some(best), Some(worst)) = ((0..=n_clients).min_by(by_slope), active.max_by(by_slope))
        else {
            break;
        };
        if (dot(&shares, &slopes) - slopes[best]) / n_rows as f64 <= GAP_TOLERANCE {
            break;
        }
        let direction: Vec<f64> =
            corners[best].iter().zip(corners[worst]).map(|(b, w)| b - w).collect();
        let length = line_search(&at, &direction, shares[worst]);
        at.iter_mut().zip(&direction).for_each(|(m, d)| *m += length * d);
        shares[best] += length;
        shares[worst] = if length == shares[worst] { 0.0 } else { shares[worst] - length };
    }
    shares.truncate(n_clients);
    shares
}

/// The derivative of the summed loss at these margins, in this direction.
fn slope(margins: &[f64], direction: &[f64]) -> f64 {
    // σ(−m) without overflow.
    let residual =
        |m: f64| if m > 0.0 { (-m).exp() / (1.0 + (-m).exp()) } else { 1.0 / (1.0 + m.exp()) };
    -margins.iter().zip(direction).map(|(m, d)| residual(*m) * d).sum::<f64>()
}

/// The step of up to `longest` with the lowest loss.
fn line_search(margins: &[f64], direction: &[f64], longest: f64) -> f64 {
    let slope_at = |length: f64| {
        let moved: Vec<f64> = margins.iter().zip(direction).map(|(m, d)| m + length * d).collect();
        slope(&moved, direction)
    };
    if slope_at(longest) <= 0.0 {
        return longest;
    }
    let (mut low, mut high) = (0.0, longest);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if slope_at(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Margins of one-coefficient models on rows `a = 1`, three positive and one negative: the best model is ln 3.
    fn margins(models: &[f64]) -> Vec<Vec<f64>> {
        models.iter().map(|theta| vec![*theta, *theta, *theta, -*theta]).collect()
    }

    fn model(models: &[f64]) -> f64 {
        dot(&learn(&margins(models)), models)
    }

    #[test]
    fn the_model_with_the_lowest_root_loss_is_found() {
        assert!((model(&[2.0, -1.0]) - 3f64.ln()).abs() < 1e-4);
        assert!((model(&[2.0, 1e9]) - 3f64.ln()).abs() < 1e-4);
        // Shrinkage alone.
        assert!((learn(&margins(&[4.0]))[0] - 3f64.ln() / 4.0).abs() < 1e-4);
    }

    #[test]
    fn shrinkage_does_not_enlarge_and_useless_models_are_shrunk_to_nothing() {
        assert_eq!(learn(&margins(&[0.5])), [1.0]);
        assert_eq!(learn(&margins(&[0.5, 0.75])), [0.0, 1.0]);
        assert_eq!(learn(&margins(&[-1.0, -2.0])), [0.0, 0.0]);
    }

    #[test]
    fn the_optimality_conditions_hold() {
        // Rows (1, 0), with labels + + −, and (0, 1), with labels + −.
        let margins =
            [[2.0, 2.0, -2.0, 0.1, -0.1], [0.5, 0.5, -0.5, -1.0, 1.0], [9.0, 9.0, -9.0, 5.0, -5.0]];
        let margins = margins.map(|m| m.to_vec());
        let shares = learn(&margins);
        let at = weighted_sum(&margins, &shares);
        let slopes: Vec<f64> = margins.iter().map(|corner| slope(&at, corner)).collect();
        // Inside Σ v < 1, the slope is 0 for every model that is used, and not negative for any other.
        assert!(shares.iter().sum::<f64>() < 1.0, "{shares:?}");
        for (share, slope) in shares.iter().zip(slopes) {
            assert!(if *share > 0.0 { slope.abs() < 1e-4 } else { slope > -1e-4 }, "{shares:?}");
        }
    }
}
