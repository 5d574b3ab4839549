//! The outcome of a solve: weights, model, how it stopped, and everything an auditor would ask next.

mod about;

pub use about::{About, Overlap};

use serde::{Deserialize, Serialize};

use crate::audit::ClientAudit;
use crate::blindness::Blindness;
use crate::comparison::Comparisons;
use crate::defense::{ClientTilt, TiltSummary};
use crate::fairness::Violation;
use crate::inner_fit::FitEnd;
use crate::metrics::Metrics;
use crate::settings::{OuterSolver, Settings};
use crate::sweep::SweepPoint;
use crate::verdict::{Judgement, Verdict};
use crate::warning::{Warning, WarningCode};

/// The outcome of a round: `outcome.json` is this type, and all other files follow from it and the schema.
///
/// [`solve`](crate::solve()) fills what follows from the round. Nothing here depends on the time, the machine or the number
/// of threads, except what [`About`] says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// [`Outcome::FORMAT`].
    pub format: String,
    /// [`Outcome::VERSION`].
    pub version: u32,
    /// Which round this is and who ran it. Nothing after a solve.
    pub about: About,
    /// Digest of the schema that encoded all rows. Empty after a solve.
    pub schema_digest: String,
    /// Names of θ's entries. Empty after a solve.
    pub features: Vec<String>,
    /// The clients with their weights, sorted by id.
    pub clients: Vec<ClientOutcome>,
    /// Clients whose proxies have rows in common, largest share first, at most 20 pairs. None after a solve.
    pub overlaps: Vec<Overlap>,
    /// Number of further pairs.
    pub more_overlaps: usize,
    /// The model `θ`.
    pub theta: Vec<f64>,
    /// `P`: root loss, regulariser and penalty of the model at the last ρ.
    pub objective: f64,
    /// Mean loss of the model on the root.
    pub root_loss: f64,
    /// ρ of the objective.
    pub rho: f64,
    /// `√((1−ν) d_SP² + ν d_EO²)` of the model on the root.
    pub violation: f64,
    /// Both covariances on the root, signed.
    pub violations: Violation,
    /// How the solve stopped.
    pub termination: Termination,
    /// The Frank–Wolfe gap: the largest predicted decrease of `P` in a feasible direction, to first order, as a
    /// share of `max(1, P)`. `None` for a defense that does not optimise its weights.
    pub gap: Option<f64>,
    /// What the solve took.
    pub counts: Counts,
    /// Metrics of the model on all root rows, which are noisy because the rows are few.
    pub root_metrics: Metrics,
    /// Those of the pooled model. `None` after a solve, and if the defense is pooled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pooled_root_metrics: Option<Metrics>,
    /// Other models on the same root rows. A solve compares the model with a constant only.
    pub comparisons: Comparisons,
    /// What it costs that the model does not see the group. `None` after a solve, if the model sees it, or if the root
    /// is too small to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blindness: Option<Blindness>,
    /// The trade-off between accuracy and fairness, weakest fairness first. Empty unless requested.
    pub sweep: Vec<SweepPoint>,
    /// Whether the model meets the requirements of the settings, as far as the root can tell.
    pub verdict: Verdict,
    /// The verdict on each requirement.
    pub judgements: Vec<Judgement>,
    /// What the reader must know about the data and the solve.
    pub warnings: Vec<Warning>,
    /// The settings used.
    pub settings: Settings,
    /// How the defense `tilt` came to its weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tilt: Option<TiltSummary>,
    /// The weight trajectory. Empty for a defense without an outer loop.
    pub trace: Vec<TracePoint>,
}

/// One client's part of an outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientOutcome {
    /// The client.
    pub id: String,
    /// Rows of its proxy.
    pub proxy_rows: usize,
    /// Rows of its root.
    pub root_rows: usize,
    /// Its weight, on the simplex. All weights are 0 if the model does not use the proxies.
    pub weight: f64,
    /// How the defense `tilt` judged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tilt: Option<ClientTilt>,
    /// Its audit, if one was made: see [`audit`](crate::audit()).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<ClientAudit>,
}

impl Outcome {
    /// What the file says that it is.
    pub const FORMAT: &str = "equipoise-outcome";
    /// Version of the file's format.
    pub const VERSION: u32 = 2;

    /// The weights, in the order of the clients.
    pub fn weights(&self) -> Vec<f64> {
        self.clients.iter().map(|client| client.weight).collect()
    }

    /// Whether any proxy has influence on the model.
    pub fn uses_proxies(&self) -> bool {
        self.clients.iter().any(|client| client.weight > 0.0)
    }

    /// What the defense `tilt` did with a client and why, in words.
    pub fn reason(&self, client: &ClientOutcome) -> Option<String> {
        let name = |column: usize| match self.features.get(column) {
            Some(name) => format!("`{name}`"),
            None => format!("coefficient {}", column + 1),
        };
        let own = client.tilt.as_ref()?.describe(name);
        Some(match self.termination {
            Termination::FellBack => format!(
                "not counted, because a model of the root alone is used. Among the clients: {own}"
            ),
            _ => own,
        })
    }

    /// Whether the defense `tilt` could tell which clients are fair. `None` for other defenses.
    pub fn could_tell(&self) -> Option<bool> {
        let cannot_tell = |warning: &Warning| warning.code == WarningCode::CannotTell;
        self.tilt.as_ref().map(|_| !self.warnings.iter().any(cannot_tell))
    }

    /// Whether the weights are those at the end of a recorded descent. `None` if the trace cannot tell: only
    /// Gauss–Newton records the end of a descent, and only if the trace is complete and no descent ran out of steps.
    pub fn weights_end_a_descent(&self) -> Option<bool> {
        let outer = &self.settings.outer;
        let is_complete = self.trace.iter().enumerate().all(|(i, point)| point.iteration == i + 1);
        let is_converged = self.termination == Termination::Converged && !self.trace.is_empty();
        if outer.solver != OuterSolver::GaussNewton || !is_converged || !is_complete {
            return None;
        }
        let last_stage = outer.rho.stages(outer.iterations).pop()?;
        let mut descents = self.trace.chunk_by(|a, b| a.start == b.start);
        let ran_out = |descent: &[TracePoint]| {
            descent.iter().filter(|point| point.rho == last_stage.rho).count()
                >= last_stage.iterations
        };
        if descents.clone().any(ran_out) {
            return None;
        }
        let weights = self.weights();
        Some(descents.any(|descent| descent.last().is_some_and(|end| end.weights == weights)))
    }
}

/// How a solve stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Termination {
    /// The weights are stationary to the tolerance, at the last ρ.
    Converged,
    /// All steps of a schedule without a convergence test were done, as in the paper.
    ScheduleCompleted,
    /// The solver ran out of steps, or reached the limit of floating-point precision, before the weights were
    /// stationary.
    IterationLimit,
    /// The defense computes its weights by a formula, without iterating.
    Direct,
    /// The root-only model was clearly better than the clients' model and replaced it: see
    /// [`WarningCode::FellBack`].
    FellBack,
}

impl Termination {
    /// Its name, as in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::ScheduleCompleted => "schedule-completed",
            Self::IterationLimit => "iteration-limit",
            Self::Direct => "direct",
            Self::FellBack => "fell-back",
        }
    }
}

/// What a solve took.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Evaluations of `P` and its gradient.
    pub evaluations: usize,
    /// Passes over all proxy rows.
    pub passes: usize,
    /// Inner fits.
    pub inner_fits: usize,
    /// Iterations of all inner fits.
    pub inner_iterations: usize,
    /// Inner fits that stopped before their tolerance; their last iterate was used.
    pub inner_not_converged: usize,
    /// Norm of the inner gradient at the resulting model; the largest one if the model is an average.
    pub final_inner_gradient_norm: f64,
    /// Largest relative residual of a linear solve for the hypergradient.
    pub largest_residual: f64,
    /// Factorisations for which the diagonal had to be increased.
    pub diagonals_raised: usize,
}

/// One step of the outer loop, before the weights move.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TracePoint {
    /// The step, counted from 1.
    pub iteration: usize,
    /// The descent it belongs to: number 0 starts from uniform weights, later ones from single clients.
    pub start: usize,
    /// ρ of this step.
    pub rho: f64,
    /// `P` at these weights and this ρ.
    pub objective: f64,
    /// Size of the violation on the root.
    pub violation: f64,
    /// The weights.
    pub weights: Vec<f64>,
}

/// Relative residual of a linear solve above which the reader is warned.
const RESIDUAL_TOLERANCE: f64 = 1e-8;

impl Counts {
    /// Counts an inner fit.
    pub(crate) fn add_fit(&mut self, fit: &FitEnd) {
        self.passes += fit.passes;
        self.inner_fits += 1;
        self.inner_iterations += fit.iterations;
        self.inner_not_converged += usize::from(!fit.converged);
        self.diagonals_raised += fit.diagonals_raised;
    }

    /// Counts a fit that started at the origin and is not part of a larger problem.
    pub(crate) fn add_fit_from_scratch(&mut self, fit: &FitEnd) {
        // The pass at the origin is not part of the fit.
        self.passes += 1;
        self.add_fit(fit);
        self.final_inner_gradient_norm = self.final_inner_gradient_norm.max(fit.gradient_norm);
    }

    /// Warnings about the numerical quality of the solve.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let mut warn = |code, message| warnings.push(Warning::new(code, message));
        let Self { inner_fits, inner_not_converged, largest_residual, diagonals_raised, .. } = self;
        if *inner_not_converged > 0 {
            warn(
                WarningCode::InnerNotConverged,
                format!(
                    "{inner_not_converged} of {inner_fits} inner fits did not converge to their tolerance; their last \
                     iterate was used, so the gradient with respect to the weights is unreliable there"
                ),
            );
        }
        if *largest_residual > RESIDUAL_TOLERANCE {
            warn(
                WarningCode::InaccurateHypergradient,
                format!(
                    "the linear system for the gradient with respect to the weights was solved only to a relative \
                     residual of {largest_residual:.1e}"
                ),
            );
        }
        if *diagonals_raised > 0 {
            warn(
                WarningCode::DiagonalRaised,
                format!(
                    "a small number was added to the diagonal of the inner Hessian in {diagonals_raised} of its \
                     factorisations: some columns are nearly linear combinations of others"
                ),
            );
        }
        warnings
    }
}
