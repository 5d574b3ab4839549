//! The client's side: a proxy dataset whose model is accurate and fair on the client's data.
//!
//! A client chooses one of several generators, each in a file of its own:
//!
//! - `thresholds`, the default, chooses the model first: the client's own model, changed no more than fairness requires
//!   (`target`). Then it samples rows from a smoothed model of the data, never the data itself (`smoothed_rows`), draws
//!   their labels from the target model (`relabel`), and moves the rows as little as possible until the target is exactly
//!   the model that anyone will fit to them (`exact_rows`). It can be differentially private (`privacy`).
//! - `paper`, the paper's Algorithm 1, keeps the labels and moves the rows until their model has a small covariance of
//!   group and score.
//! - `transformation` maps binned features and labels at random, so that people of all groups get positive labels equally often
//!   and the distortion is as small as possible.
//! - `raw` only encodes the rows.

mod blocks;
mod columns;
mod disclosure;
mod exact_rows;
mod fair_test;
mod models;
mod on_data;
mod own_model;
mod paper;
mod privacy;
mod raw;
mod relabel;
mod rows_step;
mod smoothed_rows;
mod start;
mod target;
mod thresholds;
mod transformation;

pub use columns::{ClientData, EncodedColumn, EncodedColumns};
pub use disclosure::{
    Closeness, Distances, MembershipAttack, SmallestCell, attack_membership, measure_closeness,
    random_halves, smallest_cell,
};
use disclosure::{MAX_MEASURED_ROWS, measure_some};
#[cfg(test)]
pub(crate) use fair_test::fit_unregularised;
pub use fair_test::{FairProxyTest, Separation, test_fair_proxy};
pub use models::ProxyModels;
pub(crate) use own_model::fit_own;
pub use privacy::{NoisyRelease, Privacy, PrivacyStatement, Release, epsilon_of, rho_of};
pub(crate) use target::move_cuts;
pub use thresholds::cross_validate;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fairness::{Fairness, Violation};
use crate::observer::Observer;
use crate::root::{Unmeasurable, unmeasurable};
use crate::rows::Rows;
use crate::settings::in_range;

/// Settings of the generator.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProxySettings {
    /// The fairness that the proxy's model must have. No default.
    pub fairness: Fairness,
    /// How the proxy is made. Default: for a fair target model.
    pub generator: ProxyGenerator,
    /// `N^p`, the number of proxy rows, at least 1. `None`: as many as the data has, but with generator `thresholds`, whose
    /// model is the same for any number, at most 20,000.
    pub rows: Option<usize>,
    /// Generators `thresholds` and `transformation`: the share of every group's distance from the common rate that
    /// remains. From −2 to 1; a share below 0 favours the groups that were behind. Default: 0.05, because the last of the
    /// gap costs the most accuracy.
    pub remaining_gap: f64,
    /// Generator `thresholds`: how far the share of rows selected moves from that of the client's own model, 0, to the
    /// share of positive labels, 1. Between 0 and 1. Default: 0.
    pub towards_label_rate: f64,
    /// The size of the violation to reach, by covariance. Generator `paper` stops raising ρ there. At least 0. `None`: raise
    /// ρ to its last value.
    pub epsilon: Option<f64>,
    /// The initial rows. Default: a sample from the smoothed model.
    pub start: ProxyStart,
    /// Generator `paper`: how the rows move. Default: as little as possible.
    pub solver: ProxySolver,
    /// Adam's step size, in encoded units. Above 0. Default: 0.1.
    pub learning_rate: f64,
    /// λ of the inner problem. Above 0. Default: 1e-4.
    pub lambda: f64,
    /// Generator `paper`: maximum number of steps at one ρ, all of which Adam takes. At least 1. Default: 50.
    pub steps_per_rho: usize,
    /// Seed of the sample from the smoothed model and of the labels. Default: 1.
    pub seed: u64,
    /// Maximum number of rows on each side whose nearest row is searched for. Default: 2000. With 0, closeness is not
    /// measured: for experiments, in which the search would take most of the time.
    #[serde(default = "max_measured_rows", skip_serializing_if = "is_max_measured_rows")]
    pub closeness_rows: usize,
    /// Generator `thresholds`: the differential privacy of the proxy. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub privacy: Option<Privacy>,
}

fn max_measured_rows() -> usize {
    MAX_MEASURED_ROWS
}

fn is_max_measured_rows(rows: &usize) -> bool {
    *rows == MAX_MEASURED_ROWS
}

/// How a proxy is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProxyGenerator {
    /// For a fair target model, from which the labels are drawn. Groups have equal rates of hard decisions.
    #[default]
    Thresholds,
    /// The paper's Algorithm 1: labels are kept, and rows move until the covariance of group and score is small.
    Paper,
    /// Features and labels mapped at random by a linear program, so that people of all groups get positive labels equally often.
    Transformation,
    /// The client's own rows: neither fair nor private.
    Raw,
}

/// The initial proxy rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProxyStart {
    /// Rows sampled from a shrunk Gaussian for each group and label of the data.
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
    /// What it promises about the privacy of the client's rows, if anything.
    pub privacy: Option<PrivacyStatement>,
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
    /// Mean loss of the model that the generator started from.
    pub start_loss: f64,
    /// Size of the violation of the model that the generator started from.
    pub start_violation: f64,
    /// ρ at the end. Generator `thresholds` has none: 0.
    pub rho: f64,
    /// Steps taken.
    pub steps: usize,
    /// Whether the last ρ converged or the tolerance was met; for generator `thresholds`, whether the model is the target.
    pub converged: bool,
    /// Whether the violation is at most ε. `None` without ε.
    pub epsilon_met: Option<bool>,
    /// The model, fitted to the finished proxy.
    pub theta: Vec<f64>,
    /// The model that the generator started from: that of the client's own data, or, with generator `paper`, of the initial
    /// rows.
    pub start_theta: Vec<f64>,
    /// Generator `thresholds`, unless private: the regularisation strength of the model of the data, chosen by cross-validation.
    pub strength: Option<f64>,
    /// Generator `thresholds`: the largest difference between a coefficient of the model and of the target.
    pub target_error: Option<f64>,
    /// Generator `thresholds`: the size of the target's worst gap on the client's data, by decisions. The proxy's model has it
    /// too. It is the remaining share of the gap, as closely as rates of so many people, or one model, can come to it.
    #[serde(default)]
    pub promised_gap: Option<f64>,
    /// How close the proxy rows are to rows of the data.
    pub closeness: Closeness,
}

/// Fewest rows of the client for which a proxy protects them well. With fewer, moments of small cells, and so the
/// proxy, depend noticeably on each of them.
pub const FEW_DATA_ROWS: usize = 500;

impl ProxySettings {
    /// The defaults, for the given fairness.
    pub fn new(fairness: Fairness) -> Self {
        Self {
            fairness,
            generator: ProxyGenerator::Thresholds,
            rows: None,
            remaining_gap: 0.05,
            towards_label_rate: 0.0,
            epsilon: None,
            start: ProxyStart::Smoothed,
            solver: ProxySolver::SmallestMove,
            learning_rate: 0.1,
            lambda: 1e-4,
            steps_per_rho: 50,
            seed: 1,
            closeness_rows: MAX_MEASURED_ROWS,
            privacy: None,
        }
    }

    /// The paper's generator.
    pub fn paper(fairness: Fairness) -> Self {
        Self { generator: ProxyGenerator::Paper, ..Self::new(fairness) }
    }

    fn check(&self) -> Result<(), Error> {
        let n_rows = self.rows.unwrap_or(1);
        in_range("rows", n_rows as f64, n_rows >= 1, "at least 1")?;
        let gap = self.remaining_gap;
        in_range("remaining_gap", gap, (-2.0..=1.0).contains(&gap), "between -2 and 1")?;
        let towards = self.towards_label_rate;
        in_range("towards_label_rate", towards, (0.0..=1.0).contains(&towards), "between 0 and 1")?;
        in_range("lambda", self.lambda, self.lambda > 0.0, "above 0")?;
        let rate = self.learning_rate;
        in_range("learning_rate", rate, rate > 0.0, "above 0")?;
        let steps = self.steps_per_rho;
        in_range("steps_per_rho", steps as f64, steps >= 1, "at least 1")?;
        let epsilon = self.epsilon.unwrap_or(0.0);
        in_range("epsilon", epsilon, epsilon >= 0.0, "at least 0")?;
        let Some(privacy) = self.privacy else { return Ok(()) };
        if self.generator != ProxyGenerator::Thresholds || self.start != ProxyStart::Smoothed {
            return Err(Error::Input(
                "only the generator `thresholds`, starting from smoothed rows, can be differentially private"
                    .to_owned(),
            ));
        }
        privacy.check()
    }
}

/// Generates a proxy of `data`.
pub fn generate_proxy<'a>(
    data: impl Into<ClientData<'a>>,
    settings: &ProxySettings,
    observer: &mut dyn Observer,
) -> Result<GeneratedProxy, Error> {
    let data = data.into();
    settings.check()?;
    check_cells(data.rows, settings.fairness)?;
    match settings.generator {
        ProxyGenerator::Thresholds => thresholds::generate(&data, settings, observer),
        ProxyGenerator::Paper => paper::generate(&data, settings, observer),
        ProxyGenerator::Transformation => transformation::generate(&data, settings, observer),
        ProxyGenerator::Raw => raw::generate(&data, settings, observer),
    }
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
