//! Consistency checks of an outcome.

use std::collections::BTreeMap;

use equipoise_core::{Choice, Verdict};

use super::OutcomeFile;
use crate::overlap::Overlap;

/// How far the sum of the weights may be from 1, to allow for rounding.
const SUM_TOLERANCE: f64 = 1e-9;

impl OutcomeFile {
    pub(super) fn check(&self) -> Result<(), String> {
        self.check_figures()?;
        self.check_clients()?;
        self.check_overlaps()?;
        self.check_verdict()?;
        self.check_weights()
    }

    fn check_figures(&self) -> Result<(), String> {
        let outcome = &self.outcome;
        let (theta, features) = (outcome.theta.len(), self.features.len());
        if theta != features {
            return Err(format!("`theta` has {theta} entries, but `features` has {features}."));
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
            Some((key, _)) => Err(format!("`{key}` is not a finite number.")),
            None => Ok(()),
        }
    }

    fn check_clients(&self) -> Result<(), String> {
        match self.outcome.clients.windows(2).find(|pair| pair[0].id >= pair[1].id) {
            Some(pair) => Err(format!(
                "`clients` must be sorted by id, without repetition: `{}` is out of order.",
                pair[1].id
            )),
            None => Ok(()),
        }
    }

    /// Checks the key `weights` of the file against the clients.
    pub(super) fn check_weights_by_id(
        &self,
        weights: &BTreeMap<String, f64>,
    ) -> Result<(), String> {
        let clients = &self.outcome.clients;
        let differing =
            clients.iter().find(|client| weights.get(&client.id) != Some(&client.weight));
        let unknown = weights.keys().find(|id| !self.has_client(id));
        match differing.map(|client| &client.id).or(unknown) {
            Some(client) => {
                Err(format!("`weights` and `clients` disagree about client `{client}`."))
            }
            None => Ok(()),
        }
    }

    fn has_client(&self, id: &str) -> bool {
        self.outcome.clients.binary_search_by(|client| client.id.as_str().cmp(id)).is_ok()
    }

    fn check_overlaps(&self) -> Result<(), String> {
        let is_valid = |overlap: &&Overlap| {
            let [first, second] = &overlap.clients;
            let known = overlap.clients.iter().all(|id| self.has_client(id));
            known && first < second && (0.0..=1.0).contains(&overlap.share)
        };
        match self.overlaps.iter().find(|overlap| !is_valid(overlap)) {
            Some(Overlap { clients: [first, second], share, .. }) => Err(format!(
                "`overlaps` names clients `{first}` and `{second}` with a share of {share}: they must be two of the \
                 clients, sorted, and the share must be from 0 to 1."
            )),
            None => Ok(()),
        }
    }

    fn check_verdict(&self) -> Result<(), String> {
        let (found, implied) = (self.outcome.verdict, Verdict::of(&self.outcome.judgements));
        if found == implied {
            return Ok(());
        }
        let (found, implied) = (found.name(), implied.name());
        Err(format!("`verdict` is {found}, but the judgements give {implied}."))
    }

    fn check_weights(&self) -> Result<(), String> {
        let weights = self.outcome.weights();
        let smallest = weights.iter().copied().fold(f64::INFINITY, f64::min);
        let sum: f64 = weights.iter().sum();
        // Written so that NaN fails.
        let on_simplex = smallest >= 0.0 && (sum - 1.0).abs() <= SUM_TOLERANCE;
        if !on_simplex && weights.iter().any(|&weight| weight != 0.0) {
            return Err(format!(
                "the weights must be at least 0 and sum to 1, or all be 0; found a minimum of {smallest} and a sum of \
                 {sum}."
            ));
        }
        let expected = weights.len();
        match self.outcome.trace.iter().find(|point| point.weights.len() != expected) {
            Some(point) => Err(format!(
                "iteration {} of `trace` has {} weights for {expected} clients.",
                point.iteration,
                point.weights.len()
            )),
            None => Ok(()),
        }
    }
}
