//! The differential privacy of a proxy in words.

use equipoise_core::{PrivacyStatement, Release};

use crate::formatting::{number, table};

/// What is promised, and where the noise went.
pub(super) fn describe(statement: &PrivacyStatement) -> String {
    let PrivacyStatement { epsilon, delta, rho, clip, .. } = statement;
    let name = |release: Release| match release {
        Release::CountsAndSums => "rows and sums of features, by group and label",
        Release::Products => "sums of products of two features",
        Release::Scores => "rows by score, group and label",
    };
    let releases = statement.releases.iter().map(|noisy| {
        let (sensitivity, sigma) =
            ((noisy.sensitivity_squared as f64).sqrt(), (noisy.sigma_squared as f64).sqrt());
        vec![
            name(noisy.release).to_owned(),
            number(sigma / sensitivity),
            number(0.5 * (sensitivity / sigma).powi(2)),
        ]
    });
    let releases =
        table(&["released with noise", "σ / sensitivity", "ρ"], releases.collect(), &[1, 2]);
    let promise = match statement.private {
        true => format!(
            "Differential privacy with ε = {epsilon:.4} and δ = {delta:e} (ρ = {rho:.4}) for one row added or removed; numbers are\n\
             clipped at {clip} scales of the schema. The figures below are about your data and are not in the file."
        ),
        false => format!(
            "NOT private: a test run with the noise of ε = {epsilon:.4} and δ = {delta:e}, which anyone can repeat. Do not submit it."
        ),
    };
    format!("\n\n{promise}\n\n{releases}")
}
