//! The defenses: methods that turn proxies and root into a model, behind one interface.

mod local_models;
mod model_average;
mod tilt;
mod unweighted;

pub use local_models::{fedasl_weights, fednolowe_weights};
pub(crate) use local_models::{median, uniform_average};
pub(crate) use model_average::ModelAverage;
pub(crate) use tilt::Tilt;
pub use tilt::{ClientGap, ClientTilt, Counted, TiltContrast, TiltReason, TiltSummary};

use serde::{Deserialize, Serialize};

use crate::choice::Choice;
use crate::error::Error;
use crate::inner_fit::{Fit, FitPoint, InnerProblem, ridge};
use crate::observer::Observer;
use crate::outcome::{Counts, Termination, TracePoint};
use crate::root::Root;
use crate::round::Round;
use crate::settings::Settings;
use crate::solve::learn_weights;
use crate::statistics::ClientStatistics;
use crate::warning::Warning;

/// A method that turns proxies and root into a model. Command-line values, folder names, tables and text all
/// derive from this enum: a new defense needs a file in `defense/` and its lines here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Defense {
    /// The average of the local models, with weights tilted until the expected gap vanishes.
    #[default]
    Tilt,
    /// The paper's method: weights that make the model accurate and fair on the root.
    Bilevel,
    /// All proxies pooled, no defense: the paper's baseline.
    Pooled,
    /// The average of the local models, with weights that favour models with losses near the median.
    Fedasl,
    /// The average of the local models, with weights that decrease linearly with the loss.
    Fednolowe,
    /// The root without any proxy: the baseline that every defense must beat.
    RootOnly,
}

crate::choices! { Defense:
    Tilt => "tilt", "Average of local models, weights tilted until the expected gap vanishes";
    Bilevel => "bilevel", "The paper's method: weights that make the model accurate and fair on the root";
    Pooled => "pooled", "All proxies pooled: no defense";
    Fedasl => "fedasl", "Average of local models, favouring those with losses near the median";
    Fednolowe => "fednolowe", "Average of local models, favouring those with low losses";
    RootOnly => "root-only", "The root alone, without any proxy";
}

impl Defense {
    /// Its name in running text and tables.
    pub fn title(&self) -> &'static str {
        match self {
            Self::Fedasl => "FedASL",
            Self::Fednolowe => "FedNolowe",
            Self::RootOnly => "root\u{a0}only",
            other => other.name(),
        }
    }

    /// How its model depends on the clients' weights.
    pub(crate) fn model_form(&self) -> ModelForm {
        match self {
            Self::Bilevel => ModelForm::WeightedFit,
            Self::Pooled => ModelForm::PooledFit,
            Self::Tilt | Self::Fedasl | Self::Fednolowe => ModelForm::Average,
            Self::RootOnly => ModelForm::RootOnly,
        }
    }

    /// The clients' own models, ready to be averaged as this defense does.
    pub(crate) fn model_average<'a>(
        &self,
        models: Vec<&'a [f64]>,
        root: &Root,
    ) -> Result<ModelAverage<'a>, Error> {
        match self {
            Self::Tilt => tilt::model_average(models, root),
            _ => Ok(ModelAverage::new(models)),
        }
    }

    /// Weights and model for this round.
    pub(crate) fn run(
        &self,
        round: &Round,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solution, Error> {
        match self {
            Self::Bilevel => learn_weights(round, settings, observer),
            Self::Tilt => tilt::run(round, settings, observer),
            Self::Pooled => unweighted::pooled(round, settings),
            Self::Fedasl => local_models::average(round, settings, fedasl_weights, observer),
            Self::Fednolowe => local_models::average(round, settings, fednolowe_weights, observer),
            Self::RootOnly => unweighted::root_only(round, settings),
        }
    }
}

impl std::fmt::Display for Defense {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// How a model depends on the clients' weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelForm {
    /// Fitted to all proxies, the rows of client `c` with weight `w_c`.
    WeightedFit,
    /// Fitted to all proxies, each row counted once.
    PooledFit,
    /// The average of the clients' own models.
    Average,
    /// Not at all.
    RootOnly,
}

/// What a defense returns. Measured on the root, it becomes an [`Outcome`](crate::Outcome).
pub(crate) struct Solution {
    pub(crate) weights: Vec<f64>,
    pub(crate) theta: Vec<f64>,
    pub(crate) termination: Termination,
    pub(crate) gap: Option<f64>,
    pub(crate) counts: Counts,
    pub(crate) trace: Vec<TracePoint>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) tilt: Option<Tilt>,
}

impl Solution {
    /// The result of a defense that does not iterate over weights.
    fn direct(weights: Vec<f64>, theta: Vec<f64>, counts: Counts) -> Self {
        Self {
            weights,
            theta,
            termination: Termination::Direct,
            gap: None,
            counts,
            trace: Vec::new(),
            warnings: Vec::new(),
            tilt: None,
        }
    }
}

/// Fits rows with the given weights from scratch, and counts the fit.
fn fit_from_scratch(
    rows: &dyn ClientStatistics,
    weights: &[f64],
    settings: &Settings,
    counts: &mut Counts,
) -> Result<Fit, Error> {
    let problem = InnerProblem { rows, weights, ridge: ridge(settings.lambda, rows.n()) };
    let fit = problem.fit(FitPoint::origin(rows)?, &settings.inner)?;
    counts.add_fit_from_scratch(&fit.end);
    Ok(fit)
}
