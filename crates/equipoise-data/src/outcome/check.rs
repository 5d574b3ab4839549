//! Whether an outcome holds together.

use super::{FORMAT, OutcomeFile, VERSION};
use crate::overlap::Overlap;

/// What is wrong with an outcome.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OutcomeProblem {
    /// The file is of another kind.
    #[error(
        "has format `{found}`, but an outcome has `{FORMAT}`. Give the path of an outcome.json."
    )]
    Format {
        /// The format found.
        found: String,
    },
    /// A version that this program does not know.
    #[error("outcome version {found} is not known here, only {VERSION}. Use a newer program.")]
    Version {
        /// The version found.
        found: u32,
    },
    /// θ and its names are of different lengths.
    #[error("`theta` has {theta} entries, but `features` has {features}.")]
    Length {
        /// Entries of θ.
        theta: usize,
        /// Names.
        features: usize,
    },
    /// A figure is NaN or infinite.
    #[error("`{key}` is not a finite number.")]
    NotFinite {
        /// Its key.
        key: &'static str,
    },
    /// `weights` and `clients` do not say the same.
    #[error("`weights` and `clients` do not agree about client `{client}`.")]
    Client {
        /// The client.
        client: String,
    },
    /// The clients are not sorted, or one comes twice.
    #[error("`clients` must be sorted by id, each once: `{client}` is out of place.")]
    ClientOrder {
        /// The client.
        client: String,
    },
    /// The weights are not on the simplex.
    #[error(
        "the weights must be at least 0 and have sum 1 (or all be 0); found a smallest of {smallest} and a sum of {sum}."
    )]
    Weights {
        /// The smallest weight.
        smallest: f64,
        /// Their sum.
        sum: f64,
    },
    /// An overlap is not one of two clients, or its share is none.
    #[error(
        "`overlaps` names clients `{first}` and `{second}` with a share of {share}: they must be two of the clients, \
         sorted, and the share from 0 to 1."
    )]
    Overlap {
        /// One client.
        first: String,
        /// The other.
        second: String,
        /// The share.
        share: f64,
    },
    /// A point of the trace has weights of another number of clients.
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

/// How far the sum of the weights may be from 1: rounding of many clients, not more.
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
        let (theta, features) = (self.theta.len(), self.features.len());
        if theta != features {
            return Err(OutcomeProblem::Length { theta, features });
        }
        let figures = [
            ("objective", self.objective),
            ("root_loss", self.root_loss),
            ("rho", self.rho),
            ("violation", self.violation),
            ("violations", self.violations.sp),
            ("violations", self.violations.eo),
            ("gap", self.gap.unwrap_or(0.0)),
            ("counts", self.counts.final_inner_gradient_norm),
            ("counts", self.counts.largest_residual),
            ("seconds", self.seconds),
        ];
        let theta = self.theta.iter().map(|&entry| ("theta", entry));
        match figures.into_iter().chain(theta).find(|(_, figure)| !figure.is_finite()) {
            Some((key, _)) => Err(OutcomeProblem::NotFinite { key }),
            None => Ok(()),
        }
    }

    fn check_clients(&self) -> Result<(), OutcomeProblem> {
        if let Some(pair) = self.clients.windows(2).find(|pair| pair[0].id >= pair[1].id) {
            return Err(OutcomeProblem::ClientOrder { client: pair[1].id.clone() });
        }
        for client in &self.clients {
            if self.weights.get(&client.id) != Some(&client.weight) {
                return Err(OutcomeProblem::Client { client: client.id.clone() });
            }
        }
        let known = |id: &&String| self.clients.iter().any(|client| client.id == **id);
        match self.weights.keys().find(|id| !known(id)) {
            Some(id) => Err(OutcomeProblem::Client { client: id.clone() }),
            None => Ok(()),
        }
    }

    fn check_overlaps(&self) -> Result<(), OutcomeProblem> {
        let sound = |overlap: &&Overlap| {
            let [first, second] = &overlap.clients;
            let known = overlap.clients.iter().all(|id| self.weights.contains_key(id));
            known && first < second && (0.0..=1.0).contains(&overlap.share)
        };
        match self.overlaps.iter().find(|overlap| !sound(overlap)) {
            Some(Overlap { clients: [first, second], share, .. }) => Err(OutcomeProblem::Overlap {
                first: first.clone(),
                second: second.clone(),
                share: *share,
            }),
            None => Ok(()),
        }
    }

    fn check_weights(&self) -> Result<(), OutcomeProblem> {
        let smallest = self.weights.values().copied().fold(f64::INFINITY, f64::min);
        let sum: f64 = self.weights.values().sum();
        let none = self.weights.values().all(|&weight| weight == 0.0);
        // Written so that NaN fails.
        let on_simplex = smallest >= 0.0 && (sum - 1.0).abs() <= SUM_TOLERANCE;
        if !none && !on_simplex {
            return Err(OutcomeProblem::Weights { smallest, sum });
        }
        let expected = self.clients.len();
        match self.trace.iter().find(|point| point.weights.len() != expected) {
            Some(point) => Err(OutcomeProblem::Trace {
                iteration: point.iteration,
                expected,
                found: point.weights.len(),
            }),
            None => Ok(()),
        }
    }
}
