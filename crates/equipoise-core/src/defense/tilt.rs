//! The defense `tilt`: from how probable it is that each client is reliable, weights are tilted as little as
//! necessary for the expected gap of the published model to vanish.
//!
//! ```text
//! w* = argmin over the simplex   KL(w ‖ π)  +  (d/J) Σ_j m_j E[G_j(w)]² / (2 (v_j + .015²))
//! θ  = Σ_c w*_c θ̃_c
//! ```
//!
//! 1. `scale`: one scale for all models, one threshold each, moved only as far as the root proves it must
//!    be: `θ̃_c`. `P_c`, the probability that a client's decisions say more than half of what the best
//!    client's say. Below .01 it is out.
//! 2. `measure`: the gap of any decisions, on the root and on the clients' rows without their labels. A
//!    contrast `j` is a group against all others, among the rows that a condition keeps.
//! 3. `level`: for each contrast the level `e_j` of the mean client's gap, its variance `v_j`, and how
//!    probably each client is fair, which gives `w⁰`. The prior is
//!    `π_c ∝ w⁰_c · .8 P_c / (.8 P_c + .2 (1 − P_c))`.
//! 4. `weights`: `E[G_j]` is a blend of the gaps on rows and root, moved so that it is `e_j` for the mean
//!    client. There is no penalty weight: the error of the level says what a gap costs.
//! 5. `guard`: if a model of the root alone is provably better, it is published instead.
//!
//! `d` is the number of degrees of freedom of the `J` contrasts: two of two groups are one and the same, so
//! `n` groups have `n − 1` per condition. `m_j` is the weight of the contrast's condition as a share of the
//! largest weight, a power of the likelihood: with equal weights, as for equalised odds, every condition
//! counts as if it were alone, and one whose weight goes to 0 stops counting, both here and in
//! `w⁰ = min_j (min(1, K w⁰_j))^{m_j}`. There a client has at most an equal share: one whose gap is known
//! more precisely than those of others is not worth more for that.
//!
//! If the schema has no intercept, the clients' models have 0 there and the published model gets one.
//!
//! If the clients that are useful are provably unfair together, those that are out come back: a fair
//! model that knows little is better than an unfair one. A warning says so.

mod guard;
mod level;
mod measure;
mod reasons;
mod scale;
mod verdict;
mod weights;

pub use reasons::{ClientGap, ClientTilt, Counted, TiltContrast, TiltReason, TiltSummary};

use super::local_models::fit_each;
use super::{ModelAverage, Solution};
use crate::error::Error;
use crate::fairness::{Condition, Fairness};
use crate::observer::Observer;
use crate::outcome::Counts;
use crate::root::Root;
use crate::round::Round;
use crate::row_spacing::spaced_samples;
use crate::rows::Layout;
use crate::settings::Settings;
use crate::trusted::Trusted;
use level::{Evidence, Figure, HONEST, Posterior, SPREADS};
use measure::{Contrast, OnRows, ProxyRows, WeightedRows};
use scale::Scaled;
use weights::{Objective, Target};

/// A client that is useful with less than this probability is out.
const USELESS: f64 = 0.01;
/// Standard errors that bound what rows may claim, and that prove useful clients unfair together.
const PROVEN: f64 = 2.0;
/// Error of the rows' gap that no jackknife sees: always, and per share of rows that the condition leaves
/// out.
const FLOOR: f64 = 0.02;
const DOUBT: f64 = 0.1;
/// A model that is not better than a constant by this much, in logits, is no better.
const LEAST_GAIN: f64 = 1e-9;
/// The error of a gap about which nothing is known.
const UNKNOWN: f64 = 1.0;
/// What every client keeps of the prior, so that weights can move.
const LEAST_PRIOR: f64 = 1e-6;

/// What the defense tells about its decision.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tilt {
    pub(crate) clients: Vec<ClientTilt>,
    pub(crate) summary: TiltSummary,
}

/// What the server has.
struct Input {
    fairness: Fairness,
    trusted: Trusted,
    rows: ProxyRows,
    /// Rows of each proxy.
    n_rows: Vec<f64>,
    /// The error of a group's rate that a client's declared noise causes, times the group's rows.
    noise: Vec<f64>,
}

/// Weights, and what they are based on.
struct Decision {
    /// The clients that may count: all other numbers are theirs, in this order.
    clients: Vec<usize>,
    weights: Vec<f64>,
    prior: Vec<f64>,
    theta: Vec<f64>,
    judged: Vec<Judged>,
    unmeasured: Vec<Contrast>,
    /// Column and client, among all, of coefficients that were limited.
    limited: Vec<(usize, usize)>,
    /// If useless clients came back: the largest expected gap without them.
    came_back: Option<Figure>,
}

/// One contrast, its evidence, and what follows.
struct Judged {
    contrast: Contrast,
    evidence: Evidence,
    posterior: Posterior,
    /// `E[G_j]` of the published model and of the prior's.
    expected: [f64; 2],
}

impl Judged {
    /// The variance of an expected gap.
    fn variance(&self) -> f64 {
        self.posterior.level.error.powi(2) + SPREADS[0].powi(2)
    }

    /// The expected gap of the published model.
    fn published(&self) -> Figure {
        Figure { value: self.expected[0], error: self.variance().sqrt() }
    }
}

pub(super) fn run(
    round: &Round,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Solution, Error> {
    let mut counts = Counts::default();
    let local = fit_each(round, settings, &mut counts, observer)?;
    let layout = Layout { intercept: true, ..round.root().layout().clone() };
    let models: Vec<Vec<f64>> =
        local.into_iter().map(|model| padded(&model.theta, &layout)).collect();
    let trusted = Trusted::of_root(round.root())?;
    let samples = spaced_samples(round.proxies(), &layout)?;
    let rows = ProxyRows::new(&samples, &trusted)?;
    let n_rows = |client: usize| round.proxies().n_rows(client) as f64;
    let n_rows = (0..round.n_clients()).map(n_rows).collect();
    let noise = round.noise().to_vec();
    let input = Input { fairness: settings.fairness, trusted, rows, n_rows, noise };
    let knows_something = |s: &Scaled| s.constant - s.losses[s.best] > LEAST_GAIN;
    // Without the group among the features, a root-only model cannot have a threshold for each group. It would be as
    // unfair as the labels, so fair models that know little are better.
    let falls_back = settings.fall_back && layout.as_feature;
    let scaled = match Scaled::new(&models, &input.trusted.rows) {
        Some(scaled) if knows_something(&scaled) || !falls_back => scaled,
        scaled => return verdict::without_clients(round, &input, scaled.as_ref(), counts),
    };
    let decision = input.decide(&scaled);
    let groups = &round.root().layout().groups;
    let explained = verdict::explain(round.client_ids(), groups, &scaled, &decision);
    let weights = decision.weights_of_all(round.n_clients());
    let mut solution = Solution::direct(weights, decision.theta.clone(), counts);
    solution.warnings = verdict::warnings(&decision, &explained);
    solution.tilt = Some(explained);
    if settings.fall_back { verdict::guard(&input, &decision, solution) } else { Ok(solution) }
}

/// A client's model in a layout with an intercept: 0 if its own has none.
fn padded(theta: &[f64], layout: &Layout) -> Vec<f64> {
    let mut theta = theta.to_vec();
    theta.resize(layout.n(), 0.0);
    theta
}

/// The clients' models as they are averaged, except for limited coefficients, which depend on the weights.
pub(super) fn model_average<'a>(
    models: Vec<&'a [f64]>,
    root: &Root,
) -> Result<ModelAverage<'a>, Error> {
    let rows = root.all_rows()?.with_intercept()?;
    let owned: Vec<Vec<f64>> = models.iter().map(|theta| padded(theta, rows.layout())).collect();
    Ok(match Scaled::new(&owned, &rows) {
        Some(scaled) => ModelAverage::of_owned(scaled.models),
        None => ModelAverage::new(models),
    })
}

impl Input {
    /// Useless clients are out, unless the model without them is provably unfair.
    fn decide(&self, scaled: &Scaled) -> Decision {
        let those =
            |is_in: &dyn Fn(usize) -> bool| (0..scaled.read.len()).filter(|&c| is_in(c)).collect();
        let useful: Vec<usize> = those(&|c| scaled.useful[c] >= USELESS);
        let read: Vec<usize> = those(&|c| scaled.read[c]);
        let first = self.among(scaled, useful);
        let unfair = first.largest_expected_gap();
        match unfair.filter(|gap| first.clients != read && gap.value.abs() >= PROVEN * gap.error) {
            Some(gap) => Decision { came_back: Some(gap), ..self.among(scaled, read) },
            None => first,
        }
    }

    /// The weights if only these clients may count.
    fn among(&self, scaled: &Scaled, clients: Vec<usize>) -> Decision {
        let (trusted, fairness) = (&self.trusted.rows, self.fairness);
        let mut models: Vec<Vec<f64>> = clients.iter().map(|&c| scaled.models[c].clone()).collect();
        let conditions: Vec<Condition> = fairness.conditions().map(|(c, _)| c).collect();
        let average = mean_model(&models);
        let chances = measure::positive_chances(&average, trusted, &self.rows.rows);
        let on_root = WeightedRows::trusted(trusted, &conditions);
        let on_rows = WeightedRows::proxies(&self.rows, &chances, &conditions);
        let (contrasts, unmeasured): (Vec<_>, Vec<_>) =
            Contrast::all(fairness, trusted).into_iter().partition(Contrast::is_measurable);

        let evidence = self.evidence(scaled, &clients, &models, &on_rows, &chances, &contrasts);
        let judge = |(contrast, evidence): (Contrast, Evidence)| {
            let posterior = evidence.posterior();
            Judged { contrast, evidence, posterior, expected: [0.0; 2] }
        };
        let mut judged: Vec<Judged> = contrasts.into_iter().zip(evidence).map(judge).collect();
        let useful: Vec<f64> = clients.iter().map(|&c| scaled.useful[c]).collect();
        let prior = prior(&judged, &useful);
        let limited = scale::limit_unchecked(&mut models, trusted, &prior);
        let limited = limited.into_iter().map(|(column, at)| (column, clients[at])).collect();

        let targets = targets(&judged, trusted.layout().groups.len());
        let objective =
            Objective { models: &models, prior: &prior, root: &on_root, rows: &on_rows, targets };
        let weights = match judged.is_empty() {
            true => prior.clone(),
            false => weights::minimise(|w| objective.evaluate(w), &prior),
        };
        let theta = objective.model(&weights);
        let expected = [&theta, &objective.model(&prior)].map(|m| objective.expected_gaps(m));
        for (j, of) in judged.iter_mut().enumerate() {
            of.expected = [expected[0][j], expected[1][j]];
        }
        Decision { clients, weights, prior, theta, judged, unmeasured, limited, came_back: None }
    }

    /// The evidence on each contrast: decisions of all models on the root and on the clients' rows.
    fn evidence(
        &self,
        scaled: &Scaled,
        clients: &[usize],
        models: &[Vec<f64>],
        on_rows: &WeightedRows<'_>,
        chances: &[f64],
        contrasts: &[Contrast],
    ) -> Vec<Evidence> {
        let scores = || clients.iter().map(|&c| &scaled.scores[c]);
        let slopes: Vec<f64> = scores().map(|z| measure::decision_slope(z)).collect();
        let decisions: Vec<Vec<f64>> =
            scores().zip(&slopes).map(|(z, slope)| measure::decisions(z, *slope)).collect();
        let average = mean_model(&decisions);
        let models: Vec<&[f64]> = models.iter().map(Vec::as_slice).collect();
        let measured = OnRows::measure(on_rows, &models, &slopes);
        let evidence = |of: &Contrast| {
            let on_root = |own: &Vec<f64>| {
                let differences: Vec<f64> = own.iter().zip(&average).map(|(h, m)| h - m).collect();
                let (value, error) = (of.trusted_gap(&differences), of.trusted_error(&differences));
                Figure { value, error }
            };
            let gaps = measured.gaps(on_rows, of);
            let rows_gap = measure::mean(&gaps);
            let own = self.own_errors(clients, of, &measured, on_rows, chances);
            let offset = |((root, gap), error): ((Figure, f64), f64)| {
                let bound = PROVEN * root.error;
                let value = (gap - rows_gap).clamp(root.value - bound, root.value + bound);
                Figure { value, error }
            };
            let of_clients = decisions.iter().map(on_root).zip(gaps).zip(own);
            let jackknife = measure::jackknife(&self.rows, on_rows, of, &measured.mean);
            let root_error = of.trusted_error(&average).hypot(SPREADS[0]);
            Evidence {
                offsets: of_clients.map(offset).collect(),
                root: Figure { value: of.trusted_gap(&average), error: root_error },
                rows: Figure {
                    value: rows_gap,
                    error: jackknife.hypot(FLOOR).hypot(DOUBT * of.left_out),
                },
            }
        };
        contrasts.iter().map(evidence).collect()
    }

    /// Each client's own error: binomial, from the rows on either side of the contrast, and from declared
    /// noise.
    ///
    /// Under a condition, rows count by the share of a client's trusted rows that is on that side and kept,
    /// at least .02. With noise `σ` in each of 64 bins of scores, a rate of `n` rows has the error `4σ/n`:
    /// see [`PrivacyStatement::rate_error`](crate::PrivacyStatement::rate_error).
    fn own_errors(
        &self,
        clients: &[usize],
        of: &Contrast,
        measured: &OnRows,
        on_rows: &WeightedRows<'_>,
        chances: &[f64],
    ) -> Vec<f64> {
        let in_group = |values: &[f64], is_in: bool| -> f64 {
            let groups = values.iter().enumerate();
            groups.filter(|(g, _)| (*g == of.group) == is_in).map(|(_, v)| v).sum()
        };
        let totals: Vec<f64> = (0..measured.plain.len())
            .map(|g| self.rows.counts.iter().map(|own| own[g]).sum())
            .collect();
        let error = |(model, &client): (usize, &usize)| {
            let (range, counts) = (&self.rows.clients[client], &self.rows.counts[client]);
            let side = |is_in: bool| {
                let own = in_group(counts, is_in);
                if own == 0.0 {
                    return UNKNOWN;
                }
                let sums: Vec<f64> = measured.plain.iter().map(|group| group[model]).collect();
                let rate = in_group(&sums, is_in) / in_group(&totals, is_in);
                let kept = if of.left_out > 0.0 {
                    self.share_kept(client, of, is_in, on_rows, chances).clamp(0.02, 1.0)
                } else {
                    1.0
                };
                let rows = (kept * own * self.n_rows[client] / range.len() as f64).max(1.0);
                rate * (1.0 - rate) / rows + (self.noise[client] / rows).powi(2)
            };
            (side(true) + side(false)).sqrt().min(UNKNOWN)
        };
        clients.iter().enumerate().map(error).collect()
    }

    /// The share of a client's trusted rows that is on one side and that the condition keeps, judged by its
    /// proxy's rows. A client without trusted rows: of its proxy's rows.
    fn share_kept(
        &self,
        client: usize,
        of: &Contrast,
        is_in: bool,
        on_rows: &WeightedRows<'_>,
        chances: &[f64],
    ) -> f64 {
        let range = self.rows.clients[client].clone();
        let n_trusted: f64 = self.rows.trusted_counts[client].iter().sum();
        let own = range.clone().filter(|&i| (self.rows.rows.group(i) == of.group) == is_in);
        match n_trusted > 0.0 {
            true => own.map(|i| on_rows.weights[of.at][i]).sum::<f64>() / n_trusted.max(1.0),
            false => {
                let kept = own.map(|i| measure::chance_kept(of.condition, chances[i]));
                kept.sum::<f64>() / range.len() as f64
            }
        }
    }
}

impl Decision {
    fn weights_of_all(&self, n_clients: usize) -> Vec<f64> {
        let mut all = vec![0.0; n_clients];
        self.clients.iter().zip(&self.weights).for_each(|(&client, w)| all[client] = *w);
        all
    }

    /// The expected gap of the published model that is largest in standard errors.
    fn largest_expected_gap(&self) -> Option<Figure> {
        let errors = |gap: &Figure| gap.value.abs() / gap.error;
        self.judged.iter().map(Judged::published).max_by(|a, b| errors(a).total_cmp(&errors(b)))
    }
}

/// `π`: as reliable as the least favourable contrast says, and as useful.
fn prior(judged: &[Judged], useful: &[f64]) -> Vec<f64> {
    let n = useful.len() as f64;
    let of_client = |(c, useful): (usize, &f64)| {
        let share =
            |of: &Judged| (n * of.posterior.weights[c]).min(1.0).powf(of.contrast.importance);
        let fair = judged.iter().map(share).fold(1.0, f64::min);
        let honest = HONEST * useful;
        fair * honest / (honest + (1.0 - HONEST) * (1.0 - useful)) + LEAST_PRIOR
    };
    let prior: Vec<f64> = useful.iter().enumerate().map(of_client).collect();
    let sum: f64 = prior.iter().sum();
    prior.iter().map(|p| p / sum).collect()
}

/// `E[G_j]` is a blend of both gaps, by their precision and the probability that the rows are honest, moved
/// so that it is the level at the mean client.
fn targets(judged: &[Judged], n_groups: usize) -> Vec<Target> {
    let per_contrast = if n_groups == 2 { 1.0 } else { (n_groups - 1) as f64 / n_groups as f64 };
    let target = |of: &Judged| -> (f64, f64, f64) {
        let Evidence { root, rows, .. } = of.evidence;
        let squared = [root, rows].map(|figure| figure.error * figure.error);
        let share = squared[0] / (squared[0] + squared[1]) * Figure::honest_rows(root, rows);
        let blend = share * rows.value + (1.0 - share) * root.value;
        let precision = of.contrast.importance * per_contrast / of.variance();
        (share, of.posterior.level.value - blend, precision)
    };
    let with_contrast = |of| {
        let (rows_share, offset, precision) = target(of);
        Target { contrast: of.contrast.clone(), rows_share, offset, precision }
    };
    judged.iter().map(with_contrast).collect()
}

/// The mean of several vectors.
fn mean_model(models: &[Vec<f64>]) -> Vec<f64> {
    let mut mean = vec![0.0; models.first().map_or(0, Vec::len)];
    models.iter().for_each(|own| measure::add_scaled(&mut mean, 1.0 / models.len() as f64, own));
    mean
}

#[cfg(test)]
mod tests;
