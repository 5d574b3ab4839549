//! What a solve gives: weights, model, how it stopped, and everything an auditor would ask next.

use serde::{Deserialize, Serialize};

use crate::fairness::Violation;
use crate::inner_fit::Fit;
use crate::settings::Settings;

/// The result of a defense on a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// One weight per client, in the order of the clients, on the simplex. All 0 where the defense does
    /// not use the proxies.
    pub weights: Vec<f64>,
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
    /// What a feasible direction promises to lower `P` by at most, to first order, as a share of
    /// `max(1, P)`; 0 where none descends. `None` for a defense that does not optimise its weights.
    pub gap: Option<f64>,
    /// What it took.
    pub counts: Counts,
    /// The way there; empty for a defense without an outer loop.
    pub trace: Vec<TracePoint>,
    /// What the reader of the result must know.
    pub warnings: Vec<Warning>,
    /// The settings used.
    pub settings: Settings,
}

/// How a solve stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Termination {
    /// The weights are stationary to the tolerance, at the last ρ.
    Converged,
    /// Every step of a schedule without a convergence test was done, as the paper does it.
    ScheduleCompleted,
    /// The steps ran out, or could not be told from rounding, before the weights were stationary.
    IterationLimit,
    /// The defense has a formula for its weights: there was nothing to iterate.
    Direct,
    /// The weights were found, and the root alone gave a clearly better model than they do: see
    /// [`Warning::FellBack`].
    FellBack,
}

/// What a solve took.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// How often `P` and its gradient were evaluated.
    pub evaluations: usize,
    /// Passes over all proxy rows.
    pub passes: usize,
    /// Inner fits.
    pub inner_fits: usize,
    /// Iterations of all inner fits.
    pub inner_iterations: usize,
    /// Inner fits that stopped before their tolerance; their last iterate was used.
    pub inner_not_converged: usize,
    /// Norm of the inner gradient at the resulting model; the largest one where it is an average of models.
    pub final_inner_gradient_norm: f64,
    /// Largest relative residual of a linear solve for the hypergradient.
    pub largest_residual: f64,
    /// Factorisations that needed something added to the diagonal.
    pub diagonals_raised: usize,
}

/// One step of the outer loop, before the weights moved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TracePoint {
    /// The step, counted from 1.
    pub iteration: usize,
    /// The descent it belongs to: 0 started from uniform weights, later ones from single clients.
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

impl TracePoint {
    /// At most `most` steps of a trace, evenly apart, the first and the last among them.
    pub fn thinned(trace: &[Self], most: usize) -> Vec<&Self> {
        if trace.len() <= most {
            return trace.iter().collect();
        }
        (0..most).map(|i| &trace[i * (trace.len() - 1) / (most - 1)]).collect()
    }
}

/// Something that went differently than hoped, without stopping the solve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "code")]
#[non_exhaustive]
pub enum Warning {
    /// Inner fits ended above their tolerance.
    InnerNotConverged {
        /// How many.
        fits: usize,
        /// Out of how many.
        of: usize,
    },
    /// The linear system of a hypergradient was solved badly.
    InaccurateHypergradient {
        /// Largest relative residual.
        residual: f64,
    },
    /// Hessians were singular to rounding.
    DiagonalRaised {
        /// How many.
        factorisations: usize,
    },
    /// The root alone gave a clearly better model than all clients together: it is the one in the outcome, and no
    /// client has a weight.
    FellBack {
        /// Mean loss of the clients' model on the root.
        clients_loss: f64,
        /// Mean loss of models of parts of the root on the other rows.
        root_loss: f64,
        /// Root rows.
        rows: usize,
    },
    /// The outer loop ran out of steps.
    NotStationary {
        /// The gap that is left.
        gap: f64,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::InnerNotConverged { fits, of } => write!(
                f,
                "{fits} of {of} inner fits stopped above their tolerance; their last iterate was used, \
                 and the gradient of the weights means little there"
            ),
            Self::InaccurateHypergradient { residual } => write!(
                f,
                "the linear system behind the gradient of the weights was solved to a relative \
                 residual of {residual:.1e} only"
            ),
            Self::DiagonalRaised { factorisations } => write!(
                f,
                "{factorisations} factorisations of the inner Hessian needed a small addition to the \
                 diagonal: some columns are nearly linear combinations of others"
            ),
            Self::FellBack { clients_loss, root_loss, rows } => write!(
                f,
                "no client counts: on the {rows} root rows the best model of the clients has a mean loss of \
                 {clients_loss:.3}, models of parts of the root have {root_loss:.3} on the other rows. The model is \
                 that of the root alone"
            ),
            Self::NotStationary { gap } => write!(
                f,
                "the weights are not stationary (a feasible direction still \
                 promises {gap:.1e} of the objective)"
            ),
        }
    }
}

/// Residual of a linear solve above which the reader is warned.
const RESIDUAL_WORTH_A_WARNING: f64 = 1e-8;

impl Counts {
    /// Counts an inner fit.
    pub(crate) fn add_fit(&mut self, fit: &Fit) {
        self.passes += fit.passes;
        self.inner_fits += 1;
        self.inner_iterations += fit.iterations;
        self.inner_not_converged += usize::from(!fit.converged);
        self.diagonals_raised += fit.diagonals_raised;
    }

    /// The warnings that the counts call for.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.inner_not_converged > 0 {
            let (fits, of) = (self.inner_not_converged, self.inner_fits);
            warnings.push(Warning::InnerNotConverged { fits, of });
        }
        if self.largest_residual > RESIDUAL_WORTH_A_WARNING {
            let residual = self.largest_residual;
            warnings.push(Warning::InaccurateHypergradient { residual });
        }
        if self.diagonals_raised > 0 {
            let factorisations = self.diagonals_raised;
            warnings.push(Warning::DiagonalRaised { factorisations });
        }
        warnings
    }
}
