//! The client's side, Algorithm 1: a proxy dataset whose model is accurate and fair on the client's data.
//!
//! The variables are the features of the proxy rows. Groups, labels and the constant are fixed. With `θ(X)`
//! the model fitted to the proxy, the generator minimises
//!
//! `F(θ(X)) = (1/N°) L°(θ) + (ρ/2) Σ_j ω_j d_j²`
//!
//! measured on the client's own data by covariances (see `fairness`), for increasing ρ. The rows start as a sample from a smoothed model of the data (see
//! `start`), never as the data itself, and each step moves them as little as the model's next step allows (see
//! `rows_step`).

mod closeness;
mod fair_test;
mod generator;
mod models;
mod rows_step;
mod start;

pub use closeness::{Closeness, Distances, measure_closeness};
#[cfg(test)]
pub(crate) use fair_test::fit_unregularised;
pub use fair_test::{FairProxyTest, Separation, test_fair_proxy};
pub use models::ProxyModels;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fairness::{Fairness, Violation};
use crate::observer::{Observer, Progress};
use crate::root::{Unmeasurable, unmeasurable};
use crate::rows::Rows;
use crate::settings::{RhoSchedule, in_range};
use generator::Generator;

/// Settings of the generator.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProxySettings {
    /// The fairness that the proxy's model must have. No default.
    pub fairness: Fairness,
    /// `N^p`, the number of proxy rows, at least 1. `None`: as many as the data has.
    pub rows: Option<usize>,
    /// Stop raising ρ once the size of the violation is at most this. At least 0. `None`: raise ρ to its last value.
    pub epsilon: Option<f64>,
    /// The initial rows. Default: a sample from the smoothed model.
    pub start: ProxyStart,
    /// How the rows move. Default: as little as possible.
    pub solver: ProxySolver,
    /// Adam's step size, in encoded units. Above 0. Default: 0.1.
    pub learning_rate: f64,
    /// λ of the inner problem. Above 0. Default: 1e-4.
    pub lambda: f64,
    /// Maximum number of steps at one ρ, all of which Adam takes. At least 1. Default: 50.
    pub steps_per_rho: usize,
    /// Seed of the sample from the smoothed model. Default: 1.
    pub seed: u64,
}

/// The initial proxy rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProxyStart {
    /// Rows sampled from a shrunk Gaussian per (s, y) cell of the data.
    #[default]
    Smoothed,
    /// The client's own rows. For experiments only, since the proxy is then nearly a copy of the data.
    Data,
}

/// How the generator moves the proxy rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProxySolver {
    /// Newton steps of the model, each realised by the smallest move of the rows.
    #[default]
    SmallestMove,
    /// Adam on every feature of every row, as in gradient methods for bilevel data synthesis. It needs many more steps
    /// and moves rows much further. If the rows start as the data, they end up easier to classify than the data.
    Adam,
}

/// A generated proxy and its quality.
#[derive(Debug, Clone)]
pub struct GeneratedProxy {
    /// The rows to send.
    pub rows: Rows,
    /// Its quality.
    pub summary: ProxySummary,
}

/// Quality of a generated proxy: its model, measured on the client's own data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProxySummary {
    /// Mean loss.
    pub loss: f64,
    /// Size of the violation.
    pub violation: f64,
    /// The covariance of each criterion.
    pub violations: Violation,
    /// Mean loss of the initial rows' model.
    pub start_loss: f64,
    /// Size of the violation of the initial rows' model.
    pub start_violation: f64,
    /// ρ at the end.
    pub rho: f64,
    /// Steps taken.
    pub steps: usize,
    /// Whether the last ρ converged, or the tolerance was met.
    pub converged: bool,
    /// Whether the violation is at most ε. `None` without ε.
    pub epsilon_met: Option<bool>,
    /// The model.
    pub theta: Vec<f64>,
    /// How close the proxy rows are to rows of the data.
    pub closeness: Closeness,
}

/// Largest ρ if a tolerance is set, which may need more than the schedule's last value.
const RHO_LIMIT: f64 = 1e10;

impl ProxySettings {
    /// The defaults, for the given fairness.
    pub fn new(fairness: Fairness) -> Self {
        Self {
            fairness,
            rows: None,
            epsilon: None,
            start: ProxyStart::Smoothed,
            solver: ProxySolver::SmallestMove,
            learning_rate: 0.1,
            lambda: 1e-4,
            steps_per_rho: 50,
            seed: 1,
        }
    }

    fn check(&self) -> Result<(), Error> {
        let n_rows = self.rows.unwrap_or(1);
        in_range("rows", n_rows as f64, n_rows >= 1, "at least 1")?;
        in_range("lambda", self.lambda, self.lambda > 0.0, "above 0")?;
        let rate = self.learning_rate;
        in_range("learning_rate", rate, rate > 0.0, "above 0")?;
        let steps = self.steps_per_rho;
        in_range("steps_per_rho", steps as f64, steps >= 1, "at least 1")?;
        let epsilon = self.epsilon.unwrap_or(0.0);
        in_range("epsilon", epsilon, epsilon >= 0.0, "at least 0")
    }
}

/// Generates a proxy of `data`.
pub fn generate_proxy(
    data: &Rows,
    settings: &ProxySettings,
    observer: &mut dyn Observer,
) -> Result<GeneratedProxy, Error> {
    settings.check()?;
    check_cells(data, settings.fairness)?;
    let (n_rows, minimum) = (settings.rows.unwrap_or(data.len()), data.layout().n() + 1);
    if n_rows < minimum {
        return Err(Error::FewProxyRows { found: n_rows, minimum });
    }
    let varying = start::varying_directions(data);
    let start = start::initial_rows(data, settings, &varying)?;
    let mut generator = Generator::new(data, start, varying, settings)?;
    let (start_loss, start_violation) = (generator.loss(), generator.size());

    let schedule = RhoSchedule::default();
    let mut rho = schedule.start;
    let mut steps = 0;
    let mut converged;
    loop {
        converged = false;
        for _ in 0..settings.steps_per_rho {
            let moved = generator.step(rho)?;
            steps += usize::from(moved);
            observer.on_step(Progress {
                done: steps,
                of: settings.steps_per_rho * 4,
                objective: generator.value(rho),
                violation: generator.size(),
                rho,
                weights: &[],
            });
            if !moved {
                converged = !generator.was_stuck();
                break;
            }
        }
        let met = settings.epsilon.is_some_and(|epsilon| generator.size() <= epsilon);
        let limit = if settings.epsilon.is_some() { RHO_LIMIT } else { schedule.max };
        if met || rho * schedule.factor > limit {
            converged |= met;
            break;
        }
        rho *= schedule.factor;
    }

    let violation = generator.size();
    let (loss, violations) = (generator.loss(), generator.violations());
    let (rows, theta) = generator.into_proxy();
    Ok(GeneratedProxy {
        summary: ProxySummary {
            loss,
            violation,
            violations,
            start_loss,
            start_violation,
            rho,
            steps,
            converged,
            epsilon_met: settings.epsilon.map(|epsilon| violation <= epsilon),
            closeness: measure_closeness(&rows, data, settings.seed),
            theta,
        },
        rows,
    })
}

/// Rejects data to which no model can be fitted, or on which the requested fairness cannot be measured.
fn check_cells(data: &Rows, fairness: Fairness) -> Result<(), Error> {
    let positive: usize = data.cell_counts().iter().map(|cell| cell[1]).sum();
    if positive == 0 || positive == data.len() {
        return Err(Error::OneClass { rows: data.len(), positive });
    }
    check_fairness_is_measurable(data, fairness)
}

/// Rejects rows on which the requested fairness cannot be measured.
pub fn check_fairness_is_measurable(rows: &Rows, fairness: Fairness) -> Result<(), Error> {
    if let Some(group) = rows.only_group() {
        let group = rows.layout().groups.name(group).to_owned();
        return Err(Error::OneGroup { rows: rows.len(), group });
    }
    match unmeasurable(rows, fairness) {
        Some(Unmeasurable { criterion, label, found }) => {
            Err(Error::NoRate { criterion, label, found })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
