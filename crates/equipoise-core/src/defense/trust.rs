//! The defense `trust`: the probability that each client is reliable, and the clients' models averaged by it.
//!
//! The root is small. It can tell clients apart, because all models are measured on the same rows, but it cannot tune a
//! model: the error of a gap is larger than the gap. So nothing is optimised here:
//!
//! 1. fit a model to each client's proxy alone;
//! 2. measure all models on the root (`root_rates`) and on samples of the clients' rows (`rates`);
//! 3. leave out models that are useless (`usefulness`);
//! 4. find the axis on which the clients differ most (`direction`), where each stands on it, and what root and rows say
//!    about the level of all (`axis`);
//! 5. compute the probability that each client is fair on this axis (`mixture`), and repeat with the next axis;
//! 6. average the models by these probabilities; if every model is useless, the root-only model may be better than any
//!    average.
//!
//! Clients' rows are far more precise than the root but may lie. So they count only where many clients agree: by the
//! median, within two standard errors of the root for differences, and as a witness who may lie for the level.

mod axis;
mod constants;
mod direction;
mod doubt;
mod mixture;
mod ranking;
mod rates;
mod report;
mod root_rates;
mod usefulness;

pub use constants::TrustConstants;
pub use report::{ClientTrust, TrustAxis, TrustReason, TrustSummary, TrustTerm};

use super::fallback::fall_back;
use super::local_models::fit_each;
use super::{ModelAverage, Solution};
use crate::error::Error;
use crate::fairness::Condition;
use crate::groups::Groups;
use crate::observer::{NoopObserver, Observer};
use crate::outcome::Counts;
use crate::root::Root;
use crate::round::Round;
use crate::settings::{CheckedSettings, Settings};
use axis::AxisInput;
use direction::{Direction, relative_contrasts};
use doubt::Doubt;
use mixture::{Evidence, Figure, Posterior};
use rates::{RateIndex, measure_on_samples};
use root_rates::{RootRates, is_used};
use usefulness::find_useless;

pub(super) use usefulness::weighted_median;

/// Axes at most: attackers who lean in more directions than this are unlikely, and every axis costs fair clients a
/// little weight.
const MAX_AXES: usize = 4;
/// A client is called fair or unfair if the probability of that is above this.
const CLEAR: f64 = 0.8;
/// Groups of less than this share of an axis are not named.
const NAMED_SHARE: f64 = 0.1;
/// The root can tell two kinds of clients apart if they differ by this many standard errors `k`. The log-odds of the right
/// answer are `k (k/2 − z)` with a standard normal `z`; the warning needs them to be at least ln 19, the odds of 5 %. With `k = 5`,
/// they are in 97 of 100 roots.
const CLEAR_DIFFERENCE: f64 = 5.0;

/// The gap of a client if there is no axis.
const UNKNOWN_GAP: Figure = Figure { value: 0.0, error: 1.0 };

/// What the defense tells about its decision.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Trust {
    pub(crate) clients: Vec<ClientTrust>,
    pub(crate) summary: TrustSummary,
}

/// Weights and model of the defense `trust` with other constants, to study how much they matter.
pub fn trust_with(
    round: &Round,
    settings: &CheckedSettings,
    constants: &TrustConstants,
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let solution = run_with(round, settings, constants, &mut NoopObserver)?;
    Ok((solution.weights, solution.theta))
}

pub(super) fn run(
    round: &Round,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Solution, Error> {
    run_with(round, settings, &TrustConstants::default(), observer)
}

fn run_with(
    round: &Round,
    settings: &Settings,
    constants: &TrustConstants,
    observer: &mut dyn Observer,
) -> Result<Solution, Error> {
    let mut counts = Counts::default();
    let local = fit_each(round, settings, &mut counts, observer)?;
    let models: Vec<Vec<f64>> = local.into_iter().map(|model| model.theta).collect();
    check_finite(round, &models)?;

    let groups = &round.root().layout().groups;
    let index = RateIndex::new(settings.fairness, groups.len());
    let on_samples = measure_on_samples(round.proxies(), &models, &index, constants)?;
    let root = RootRates::new(round.root(), &models, &index, constants.slope)?;
    let useless =
        find_useless(&root, &on_samples, &models, |client| round.is_noisy(client), constants);
    let row_counts = row_counts(round, &index)?;
    let input = AxisInput {
        index: &index,
        root: &root,
        on_samples: &on_samples,
        counts: &row_counts,
        constants,
    };
    let none_useful = useless.iter().all(Option::is_some);
    let is_usable = |reason: &Option<TrustReason>| none_useful || reason.is_none();
    let usable: Vec<f64> = useless.iter().map(|u| f64::from(u8::from(is_usable(u)))).collect();
    let judged = judge_axes(&input, &usable);

    let weights = combine_weights(&judged, &usable);
    let scales = root.models.iter().map(|model| model.scale).collect();
    let averaged = ModelAverage::new(models.iter().map(Vec::as_slice).collect());
    let theta = averaged.with_limited_scales(scales, constants.scale_limit).at(&weights);
    let mut solution = Solution::direct(weights, theta, counts);
    let doubt = Doubt::new(&judged, &solution.weights);
    let rows_needed = doubt.rows_needed(&judged, &root, constants);
    let trust = explain(&judged, useless, &doubt, rows_needed, &root, groups);
    solution.warnings.extend(doubt.warning(&trust.summary));
    solution.trust = Some(trust);
    if none_useful && settings.fall_back {
        fall_back(round, settings, solution)
    } else {
        Ok(solution)
    }
}

/// An axis, what is known on it, and what follows.
struct JudgedAxis {
    direction: Direction,
    evidence: Evidence,
    posterior: Posterior,
}

/// Axis after axis, each among the clients that are fair on the axes before it.
fn judge_axes(input: &AxisInput<'_>, usable: &[f64]) -> Vec<JudgedAxis> {
    let index = input.index;
    let contrasts = relative_contrasts(input.on_samples, index);
    let n_axes = (index.conditions.len() * (index.n_groups - 1)).min(MAX_AXES);
    let mut prior = usable.to_vec();
    let mut judged: Vec<JudgedAxis> = Vec::new();
    while judged.len() < n_axes {
        let earlier: Vec<Direction> = judged.iter().map(|axis| axis.direction.clone()).collect();
        let Some(axis) = Direction::principal(&contrasts, &prior, &earlier, index) else { break };
        // The first axis is always judged. After that, differences within the tolerance are fine.
        if !judged.is_empty() && axis.spread < input.constants.tolerance {
            break;
        }
        let direction =
            if input.root.label_gap(&axis.entries).value < 0.0 { axis.reversed() } else { axis };
        let Some(evidence) = input.evidence(&direction, &prior) else { break };
        let posterior = evidence.posterior(input.constants);
        prior.iter_mut().zip(&posterior.fair).for_each(|(p, fair)| *p *= fair);
        judged.push(JudgedAxis { direction, evidence, posterior });
    }
    judged
}

/// The weights on the first axis times the probabilities on the others. Without any axis, all usable clients count
/// the same.
fn combine_weights(judged: &[JudgedAxis], usable: &[f64]) -> Vec<f64> {
    let mut weights = usable.to_vec();
    if let Some((first, others)) = judged.split_first() {
        weights.clone_from(&first.posterior.weights);
        for axis in others {
            weights.iter_mut().zip(&axis.posterior.fair).for_each(|(w, fair)| *w *= fair);
        }
    }
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|w| w / sum).collect()
}

/// The clients' own models, ready to be averaged with the default constants.
pub(super) fn model_average<'a>(
    models: Vec<&'a [f64]>,
    root: &Root,
) -> Result<ModelAverage<'a>, Error> {
    let scales = root_rates::scales(root, &models)?;
    let limit = TrustConstants::default().scale_limit;
    Ok(ModelAverage::new(models).with_limited_scales(scales, limit))
}

fn check_finite(round: &Round, models: &[Vec<f64>]) -> Result<(), Error> {
    match models.iter().position(|theta| theta.iter().any(|t| !t.is_finite())) {
        None => Ok(()),
        Some(client) => Err(Error::Input(format!(
            "the model of client `{}` has coefficients that are not finite numbers: its proxy \
             cannot be used",
            round.client_ids()[client]
        ))),
    }
}

fn row_counts(round: &Round, index: &RateIndex) -> Result<Vec<Vec<usize>>, Error> {
    let counts = |client: usize| {
        let counts = round.proxies().cell_counts(client).map(|cells| index.counts(cells));
        counts.ok_or_else(|| {
            Error::Input("the defense `trust` needs the groups of the proxies' rows".to_owned())
        })
    };
    (0..round.n_clients()).map(counts).collect()
}

fn explain(
    judged: &[JudgedAxis],
    useless: Vec<Option<TrustReason>>,
    doubt: &Doubt,
    rows_needed: Option<usize>,
    root: &RootRates,
    groups: &Groups,
) -> Trust {
    let clients = useless.into_iter().enumerate().map(|(client, useless)| {
        let fair = |axis: &&JudgedAxis| axis.posterior.fair[client];
        let gap = judged.first().map_or(UNKNOWN_GAP, |axis| axis.gap(client));
        let main = judged.iter().min_by(|a, b| fair(a).total_cmp(&fair(b)));
        let (reliability, reason) = match (useless, main) {
            (Some(useless), _) => (0.0, useless),
            (None, Some(axis)) => {
                (judged.iter().map(|axis| fair(&axis)).product(), axis.reason(client, groups))
            }
            (None, None) => (0.5, TrustReason::Undecided { gap: gap.value, error: gap.error }),
        };
        let reasons = vec![reason];
        ClientTrust { reliability, gap: gap.value, gap_error: gap.error, reasons }
    });
    let clients = clients.collect();
    let axes = judged.iter().map(|axis| axis.summary(root.index(), groups)).collect();
    Trust { clients, summary: TrustSummary { axes, decided: doubt.is_small(), rows_needed } }
}

impl JudgedAxis {
    /// A client's gap: its offset plus the gap of the mean model.
    fn gap(&self, client: usize) -> Figure {
        let (offset, level) = (self.evidence.offsets[client], self.posterior.mean_gap);
        Figure { value: offset.value + level.value, error: offset.error.hypot(level.error) }
    }

    fn reason(&self, client: usize, groups: &Groups) -> TrustReason {
        let Figure { value: gap, error } = self.gap(client);
        let fair = self.posterior.fair[client];
        if fair >= CLEAR {
            return TrustReason::Fair { gap, error };
        }
        if fair > 1.0 - CLEAR {
            return TrustReason::Undecided { gap, error };
        }
        let named = |sign: f64| {
            let mut by_group = vec![0.0; groups.len()];
            for (j, v) in self.direction.entries.iter().enumerate() {
                by_group[j % groups.len()] += v * sign;
            }
            let named = by_group.iter().enumerate().filter(|(_, share)| **share >= NAMED_SHARE);
            named.map(|(group, _)| groups.name(group).to_owned()).collect()
        };
        let sign = gap.signum();
        TrustReason::Unfair { gap, error, favours: named(sign), against: named(-sign) }
    }

    /// Rows per group after which the root's error would be a fifth of the clients' bias. More rows reduce the sampling
    /// error only: `None` if the tolerance alone is too much.
    fn rows_needed(&self, root: &RootRates, tolerance: f64) -> Option<usize> {
        let fewest = root.fewest_rows(&self.direction.entries) as f64;
        let wanted = (self.posterior.bias / CLEAR_DIFFERENCE).powi(2) - tolerance.powi(2);
        let sampling = self.evidence.root.error.powi(2) - tolerance.powi(2);
        let needed = (fewest * sampling / wanted).ceil();
        (wanted > 0.0 && needed.is_finite() && needed > fewest).then_some(needed as usize)
    }

    fn summary(&self, index: &RateIndex, groups: &Groups) -> TrustAxis {
        let terms = index.iter().zip(&self.direction.entries).filter(|(_, v)| is_used(**v));
        let term = |((condition, group), weight): ((Condition, usize), &f64)| TrustTerm {
            condition,
            group: groups.name(group).to_owned(),
            weight: *weight,
        };
        TrustAxis {
            terms: terms.map(term).collect(),
            root_gap: self.evidence.root.value,
            root_error: self.evidence.root.error,
            rows_gap: self.evidence.rows.value,
            rows_error: self.evidence.rows.error,
            mean_gap: self.posterior.mean_gap.value,
            biased_probability: self.posterior.any_biased,
            bias: self.posterior.bias,
        }
    }
}

#[cfg(test)]
mod tests;
