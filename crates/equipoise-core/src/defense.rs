//! The ways to get from proxies and root to a model, behind one interface.

mod fallback;
mod local_models;
mod unweighted;

pub use local_models::{fedasl_weights, fednolowe_weights};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::inner_fit::{Fit, FitPoint, InnerProblem, ridge};
use crate::observer::Observer;
use crate::outcome::{Counts, Termination, TracePoint, Warning};
use crate::round::Round;
use crate::settings::Settings;
use crate::solve::learn_weights;
use crate::statistics::ClientStatistics;
use fallback::fall_back;

/// A way to get from proxies and root to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Defense {
    /// The method: weights that make the model accurate and fair on the root.
    #[default]
    Bilevel,
    /// All proxies in one pot, no defense: the paper's baseline.
    Pooled,
    /// Local models averaged with weights that prefer losses near the median.
    Fedasl,
    /// Local models averaged with weights that fall linearly with the loss.
    Fednolowe,
    /// The root alone, no proxy: the floor that any defense must beat.
    RootOnly,
}

impl Defense {
    /// Every defense, the method first.
    pub const ALL: [Self; 5] =
        [Self::Bilevel, Self::Pooled, Self::Fedasl, Self::Fednolowe, Self::RootOnly];

    /// Its name in files, on the command line and in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bilevel => "bilevel",
            Self::Pooled => "pooled",
            Self::Fedasl => "fedasl",
            Self::Fednolowe => "fednolowe",
            Self::RootOnly => "root-only",
        }
    }

    /// Weights and model for this round.
    pub(crate) fn run(
        &self,
        round: &Round,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solved, Error> {
        match self {
            Self::Bilevel => {
                let solved = learn_weights(round, settings, observer)?;
                if settings.fall_back { fall_back(round, settings, solved) } else { Ok(solved) }
            }
            Self::Pooled => unweighted::pooled(round, settings),
            Self::Fedasl => local_models::average(round, settings, fedasl_weights),
            Self::Fednolowe => local_models::average(round, settings, fednolowe_weights),
            Self::RootOnly => unweighted::root_only(round, settings),
        }
    }
}

impl std::fmt::Display for Defense {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What a defense returns: an outcome that has not been measured on the root.
pub(crate) struct Solved {
    pub(crate) weights: Vec<f64>,
    pub(crate) theta: Vec<f64>,
    pub(crate) termination: Termination,
    pub(crate) gap: Option<f64>,
    pub(crate) counts: Counts,
    pub(crate) trace: Vec<TracePoint>,
    pub(crate) warnings: Vec<Warning>,
}

impl Solved {
    /// The result of a defense that has a formula for its weights.
    fn direct(weights: Vec<f64>, theta: Vec<f64>, counts: Counts) -> Self {
        Self {
            weights,
            theta,
            termination: Termination::Direct,
            gap: None,
            counts,
            trace: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// Fits rows with the given weights from scratch, and counts it.
fn fit_from_scratch(
    rows: &dyn ClientStatistics,
    weights: &[f64],
    settings: &Settings,
    counts: &mut Counts,
) -> Result<Fit, Error> {
    let problem = InnerProblem { rows, weights, ridge: ridge(settings.lambda, rows.n()) };
    let fit = problem.fit(FitPoint::origin(rows)?, &settings.inner)?;
    // The origin's own pass comes on top of the fit's.
    counts.passes += 1;
    counts.add_fit(&fit);
    counts.final_inner_gradient_norm = counts.final_inner_gradient_norm.max(fit.gradient_norm);
    Ok(fit)
}
