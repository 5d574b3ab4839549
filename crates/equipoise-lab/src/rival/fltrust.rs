//! FLTrust: clients whose models point in the direction of the root's own model, rescaled to its length.
//!
//! Source: X. Cao, M. Fang, J. Liu, N. Z. Gong, "FLTrust: Byzantine-robust federated learning via trust bootstrapping",
//! NDSS 2021. With `g_0` the server's own update on its root data and `g_c` that of client c, the trust score is
//! `TS_c = max(0, cos(g_c, g_0))` and the update `Σ TS_c (‖g_0‖ / ‖g_c‖) g_c / Σ TS_c`.
//!
//! One round: all models start from the origin, so each update is a model, and the server's is fitted to the root. If
//! no client has a positive score, nothing but the root is trusted: its model is the result, and no client has a
//! weight.

use equipoise_core::{InnerSettings, fit_logistic};

use super::vectors::{cosine, norm, normalised, weighted_sum};
use super::{RivalInput, RivalModel};
use crate::error::Error;

pub(super) fn run(input: &RivalInput<'_>) -> Result<RivalModel, Error> {
    let own = fit_logistic(&input.root()?, input.lambda, &InnerSettings::default())?;
    Ok(combine(&input.models, own))
}

/// `own` is the model of the root.
fn combine(models: &[Vec<f64>], own: Vec<f64>) -> RivalModel {
    let scores: Vec<f64> = models.iter().map(|theta| cosine(theta, &own).max(0.0)).collect();
    if scores.iter().all(|score| *score == 0.0) {
        return RivalModel { theta: own, weights: None };
    }
    let weights = normalised(&scores);
    let length = norm(&own);
    // A model of length 0 has no direction, and so no weight.
    let rescale = |(theta, weight): (&Vec<f64>, &f64)| match *weight {
        0.0 => 0.0,
        weight => weight * length / norm(theta),
    };
    let factors: Vec<f64> = models.iter().zip(&weights).map(rescale).collect();
    RivalModel { theta: weighted_sum(models, &factors), weights: Some(weights) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn clients_are_trusted_by_direction_and_rescaled() {
        let models =
            [[20.0, 0.0], [0.0, 3.0], [1.0, 1.0], [-9.0, 0.0], [0.0, 0.0]].map(|m| m.to_vec());
        let found = combine(&models, vec![2.0, 0.0]);
        // Scores 1, 0, 1/√2, 0 and 0; rescaled models (2, 0) and (√2, √2).
        let half = 0.5f64.sqrt();
        let sum = 1.0 + half;
        let expected = [(2.0 + half * 2f64.sqrt()) / sum, half * 2f64.sqrt() / sum];
        let weights = found.weights.unwrap();
        for (found, expected) in found.theta.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} and {expected}");
        }
        for (found, expected) in weights.iter().zip([1.0, 0.0, half, 0.0, 0.0]) {
            assert!((found - expected / sum).abs() < 1e-12, "{weights:?}");
        }
    }

    #[test]
    fn without_a_trusted_client_the_roots_model_is_used() {
        let found = combine(&[vec![-1.0, 0.0], vec![0.0, 0.0]], vec![2.0, 0.0]);
        assert_eq!(found, RivalModel { theta: vec![2.0, 0.0], weights: None });
    }
}
