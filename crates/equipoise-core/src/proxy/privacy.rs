//! Differential privacy for the generator `thresholds`.
//!
//! The proxy depends on the client's rows only through three noisy releases: how many rows each cell (a group and a label)
//! has and the sums of their clipped features; the sums of products of clipped features over all rows; and a histogram of scores
//! for each cell, under a model that was fitted to the first two. One person's row changes each of these by a bounded
//! amount, and the discrete Gaussian hides a change of that size. Everything else is computed from the releases, so it
//! reveals nothing more.
//!
//! Two tables are neighbours if one has a row more than the other, so the number of rows is protected too. Bounds come from
//! the schema, which all parties agreed on; if it was inferred from the data, that is not covered.

mod accountant;
mod cell_model;
mod discrete_gaussian;
mod large_noise;
mod moments;
mod score_table;

use rand::SeedableRng;
use rand::rngs::SysRng;
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::settings::in_range;

pub use accountant::{epsilon_of, rho_of};
pub(super) use cell_model::CellModel;
use discrete_gaussian::{MAX_VARIANCE, discrete_gaussian};
pub(super) use moments::NoisyMoments;
pub(super) use score_table::ScoreTable;

/// Numbers are clipped at so many scales of the schema from its center.
const CLIP: f64 = 3.0;

/// Features are integers of this size at most: a number at its bound, or the level that a row has.
const UNIT: i64 = 256;

const ADJACENCY: &str = "add-or-remove-one-row";
const MECHANISM: &str = "discrete-gaussian";

/// How much of ρ each release gets. With 0.2 to 0.6 for either of the first two, gaps on Law School and Dutch change by about
/// 0.01 or less.
const SHARES: [(Release, f64); 3] =
    [(Release::CountsAndSums, 0.5), (Release::Products, 0.25), (Release::Scores, 0.25)];

/// The privacy that a proxy should have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Privacy {
    /// ε: above 0. At 1, an observer's odds that someone is in the data change by a factor of at most e, but with
    /// probability δ.
    pub epsilon: f64,
    /// δ: above 0 and below 1; much smaller than one over the number of rows.
    pub delta: f64,
    /// Makes the noise reproducible, for tests. Such a proxy is not private, and says so.
    pub test_seed: Option<u64>,
}

impl Privacy {
    /// δ unless stated otherwise.
    pub const DELTA: f64 = 1e-6;

    pub(super) fn check(&self) -> Result<(), Error> {
        let epsilon = self.epsilon;
        in_range(
            "dp_epsilon",
            epsilon,
            epsilon > 0.0 && epsilon <= 100.0,
            "above 0 and at most 100",
        )?;
        let delta = self.delta;
        in_range("dp_delta", delta, (1e-15..=0.1).contains(&delta), "between 1e-15 and 0.1")
    }
}

/// What is released with noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// Rows in each cell, and sums of their features.
    CountsAndSums,
    /// Sums of products of two features, over all rows.
    Products,
    /// Rows in each cell by score.
    Scores,
}

/// What a private proxy promises, and how: everything that an auditor needs to check the figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivacyStatement {
    /// ε of all releases together.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// ρ of zero-concentrated differential privacy: the sum over the releases of `sensitivity² / (2 sigma²)`.
    pub rho: f64,
    /// Which tables are neighbours: `add-or-remove-one-row`.
    pub adjacency: String,
    /// The noise: `discrete-gaussian`.
    pub mechanism: String,
    /// Numbers are clipped at so many scales of the schema from its center.
    pub clip: f64,
    /// The releases.
    pub releases: Vec<NoisyRelease>,
    /// Whether the noise came from the operating system's generator. A test run with a known seed protects nobody.
    pub private: bool,
}

/// One release and its noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoisyRelease {
    /// What is released.
    pub release: Release,
    /// The square of the most that one row can change it by, in L2 norm, as integers.
    pub sensitivity_squared: u64,
    /// The variance parameter σ² of the noise in each number, in the same units.
    pub sigma_squared: u64,
}

impl PrivacyStatement {
    /// Why a statement read from a file cannot be true. `None` if it is consistent.
    pub fn contradiction(&self) -> Option<String> {
        if self.adjacency != ADJACENCY || self.mechanism != MECHANISM {
            return Some(
                "its adjacency or its mechanism is not one that this program knows".to_owned(),
            );
        }
        if !(self.delta > 0.0 && self.delta < 1.0) {
            return Some("its δ is not between 0 and 1".to_owned());
        }
        let is_complete = SHARES.iter().all(|(release, _)| {
            self.releases.iter().filter(|noisy| noisy.release == *release).count() == 1
        });
        let is_bounded = self.releases.iter().all(|noisy| noisy.sensitivity_squared > 0);
        if !is_complete || self.releases.len() != SHARES.len() || !is_bounded {
            return Some(
                "its releases are not those of a private proxy, or no row can change one"
                    .to_owned(),
            );
        }
        let rho: f64 = self.releases.iter().map(NoisyRelease::rho).sum();
        let epsilon = epsilon_of(rho, self.delta);
        let differ = |a: f64, b: f64| (a - b).abs() > 1e-6 * a.abs().max(b.abs());
        if !rho.is_finite() || differ(rho, self.rho) || differ(epsilon, self.epsilon) {
            return Some(format!(
                "it claims ε = {} and ρ = {}, but its noise gives ε = {epsilon} and ρ = {rho}",
                self.epsilon, self.rho
            ));
        }
        None
    }
}

impl NoisyRelease {
    fn rho(&self) -> f64 {
        self.sensitivity_squared as f64 / (2.0 * self.sigma_squared as f64)
    }
}

/// Adds noise to releases and keeps account of them.
pub(super) struct Budget {
    privacy: Privacy,
    rho: f64,
    rng: ChaCha20Rng,
    releases: Vec<NoisyRelease>,
}

impl Budget {
    pub(super) fn new(privacy: Privacy) -> Result<Self, Error> {
        let rng = match privacy.test_seed {
            Some(seed) => ChaCha20Rng::seed_from_u64(seed),
            None => ChaCha20Rng::try_from_rng(&mut SysRng).map_err(|error| {
                Error::Input(format!("the operating system gives no random numbers: {error}"))
            })?,
        };
        let rho = rho_of(privacy.epsilon, privacy.delta);
        Ok(Self { privacy, rho, rng, releases: Vec::new() })
    }

    /// A seed for what is computed from the releases.
    pub(super) fn seed(&mut self) -> u64 {
        use rand::Rng as _;
        self.rng.next_u64()
    }

    /// Adds noise to all numbers of a release. Returns its standard deviation.
    fn release(
        &mut self,
        release: Release,
        sensitivity_squared: u64,
        numbers: &mut [i64],
    ) -> Result<f64, Error> {
        let share: f64 = SHARES.iter().filter(|(r, _)| *r == release).map(|(_, share)| share).sum();
        let variance = (sensitivity_squared as f64 / (2.0 * share * self.rho)).ceil();
        in_range(
            "dp_epsilon",
            self.privacy.epsilon,
            variance <= MAX_VARIANCE as f64,
            "larger: so much noise would leave nothing of the data",
        )?;
        let sigma_squared = (variance as u64).max(1);
        for number in numbers {
            *number = number.saturating_add(discrete_gaussian(sigma_squared, &mut self.rng));
        }
        self.releases.push(NoisyRelease { release, sensitivity_squared, sigma_squared });
        Ok((sigma_squared as f64).sqrt())
    }

    /// What all releases so far promise together.
    pub(super) fn statement(&self) -> PrivacyStatement {
        let rho = self.releases.iter().map(NoisyRelease::rho).sum();
        PrivacyStatement {
            epsilon: epsilon_of(rho, self.privacy.delta),
            delta: self.privacy.delta,
            rho,
            adjacency: ADJACENCY.to_owned(),
            mechanism: MECHANISM.to_owned(),
            clip: CLIP,
            releases: self.releases.clone(),
            private: self.privacy.test_seed.is_none(),
        }
    }
}

#[cfg(test)]
mod tests;
