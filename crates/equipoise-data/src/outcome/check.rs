//! Consistency checks of an outcome.

use std::collections::BTreeMap;

use super::{FORMAT, OutcomeFile, VERSION};
use crate::overlap::Overlap;

/// What is wrong with an outcome.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OutcomeProblem {
    /// The file has another format.
    #[error(
        "has format `{found}`, but an outcome has `{FORMAT}`. Give the path of an outcome.json."
    )]
    Format {
        /// The format found.
        found: String,
    },
    /// A version that this program does not support.
    #[error(
        "outcome version {found} is not supported, only version {VERSION}. Use a newer version of this program."
    )]
    Version {
        /// The version found.
        found: u32,
    },
    /// θ and its names differ in length.
    #[error("`theta` has {theta} entries, but `features` has {features}.")]
    Length {
        /// Entries of θ.
        theta: usize,
        /// Names.
        features: usize,
    },
    /// A number is NaN or infinite.
    #[error("`{key}` is not a finite number.")]
    NotFinite {
        /// Its key.
        key: &'static str,
    },
    /// `weights` and `clients` differ.
    #[error("`weights` and `clients` disagree about client `{client}`.")]
    Client {
        /// The client.
        client: String,
    },
    /// The clients are not sorted, or one is listed twice.
    #[error("`clients` must be sorted by id, without repetition: `{client}` is out of order.")]
    ClientOrder {
        /// The client.
        client: String,
    },
    /// The weights are not on the simplex.
    #[error(
        "the weights must be at least 0 and sum to 1, or all be 0; found a minimum of {smallest} and a sum of {sum}."
    )]
    Weights {
        /// The smallest weight.
        smallest: f64,
        /// Their sum.
        sum: f64,
    },
    /// An overlap does not name two clients, or its share is out of range.
    #[error(
        "`overlaps` names clients `{first}` and `{second}` with a share of {share}: they must be two of the clients, \
         sorted, and the share must be from 0 to 1."
    )]
    Overlap {
        /// One client.
        first: String,
        /// The other.
        second: String,
        /// The share.
        share: f64,
    },
    /// A point of the trace has the wrong number of weights.
    #[error("iteration {iteration} of `trace` has {found} weights for {expected} clients.")]
    Trace {
        /// The iteration.
        iteration: usize,
        /// Clients.
        expected: usize,
        /// Weights found.
        found: usize,
    },
}

/// How far the sum of the weights may be from 1, to allow for rounding.
const SUM_TOLERANCE: f64 = 1e-9;

pub(super) fn stamp(format: &str, version: u32) -> Result<(), OutcomeProblem> {
    if format != FORMAT {
        return Err(OutcomeProblem::Format { found: format.to_string() });
    }
    if version != VERSION {
        return Err(OutcomeProblem::Version { found: version });
    }
    Ok(())
}

impl OutcomeFile {
    pub(super) fn check(&self) -> Result<(), OutcomeProblem> {
        stamp(&self.format, self.version)?;
        self.check_figures()?;
        self.check_clients()?;
        self.check_overlaps()?;
        self.check_weights()
    }

    fn check_figures(&self) -> Result<(), OutcomeProblem> {
        let outcome = &self.outcome;
        let (theta, features) = (outcome.theta.len(), self.features.len());
        if theta != features {
            return Err(OutcomeProblem::Length { theta, features });
        }
        let figures = [
            ("objective", outcome.objective),
            ("root_loss", outcome.root_loss),
            ("rho", outcome.rho),
            ("violation", outcome.violation),
            ("violations", outcome.violations.sp),
            ("violations", outcome.violations.eo),
            ("gap", outcome.gap.unwrap_or(0.0)),
            ("counts", outcome.counts.final_inner_gradient_norm),
            ("counts", outcome.counts.largest_residual),
            ("seconds", self.seconds),
        ];
        let theta = outcome.theta.iter().map(|&entry| ("theta", entry));
        match figures.into_iter().chain(theta).find(|(_, figure)| !figure.is_finite()) {
            Some((key, _)) => Err(OutcomeProblem::NotFinite { key }),
            None => Ok(()),
        }
    }

    fn check_clients(&self) -> Result<(), OutcomeProblem> {
        match self.outcome.clients.windows(2).find(|pair| pair[0].id >= pair[1].id) {
            Some(pair) => Err(OutcomeProblem::ClientOrder { client: pair[1].id.clone() }),
            None => Ok(()),
        }
    }

    /// Checks the key `weights` of the file against the clients.
    pub(super) fn check_weights_by_id(
        &self,
        weights: &BTreeMap<String, f64>,
    ) -> Result<(), OutcomeProblem> {
        let clients = &self.outcome.clients;
        let differing =
            clients.iter().find(|client| weights.get(&client.id) != Some(&client.weight));
        let unknown = weights.keys().find(|id| !self.has_client(id));
        match differing.map(|client| &client.id).or(unknown) {
            Some(client) => Err(OutcomeProblem::Client { client: client.clone() }),
            None => Ok(()),
        }
    }

    fn has_client(&self, id: &str) -> bool {
        self.outcome.clients.binary_search_by(|client| client.id.as_str().cmp(id)).is_ok()
    }

    fn check_overlaps(&self) -> Result<(), OutcomeProblem> {
        let is_valid = |overlap: &&Overlap| {
            let [first, second] = &overlap.clients;
            let known = overlap.clients.iter().all(|id| self.has_client(id));
            known && first < second && (0.0..=1.0).contains(&overlap.share)
        };
        match self.overlaps.iter().find(|overlap| !is_valid(overlap)) {
            Some(Overlap { clients: [first, second], share, .. }) => Err(OutcomeProblem::Overlap {
                first: first.clone(),
                second: second.clone(),
                share: *share,
            }),
            None => Ok(()),
        }
    }

    fn check_weights(&self) -> Result<(), OutcomeProblem> {
        let weights = self.outcome.weights();
        let smallest = weights.iter().copied().fold(f64::INFINITY, f64::min);
        let sum: f64 = weights.iter().sum();
        // Written so that NaN fails.
        let on_simplex = smallest >= 0.0 && (sum - 1.0).abs() <= SUM_TOLERANCE;
        if !on_simplex && weights.iter().any(|&weight| weight != 0.0) {
            return Err(OutcomeProblem::Weights { smallest, sum });
        }
        let expected = weights.len();
        match self.outcome.trace.iter().find(|point| point.weights.len() != expected) {
            Some(point) => Err(OutcomeProblem::Trace {
                iteration: point.iteration,
                expected,
                found: point.weights.len(),
            }),
            None => Ok(()),
        }
    }
}
