//! `∇P(w)` for `P(w) = F(θ(w), w)`, by implicit differentiation of the inner problem.
//!
//! At the minimiser, `dθ/dw_c = −H⁻¹ g_c / N`. So with `v = H⁻¹ ∂F/∂θ`, one factorisation and one solve,
//! `∂P/∂w_c = −g_c·v / N + ∂F/∂w_c`.

use crate::error::Error;
use crate::inner_fit::{FitPoint, InnerProblem};
use crate::linalg::relative_residual;
use crate::logistic::dot;
use crate::root::OuterValue;

/// `∇P(w)`, and how well its linear system was solved.
#[derive(Debug, Clone)]
pub(crate) struct Hypergradient {
    pub(crate) gradient: Vec<f64>,
    /// `H⁻¹ ∂F/∂θ`.
    pub(crate) v: Vec<f64>,
    /// `‖H v − ∂F/∂θ‖ / ‖∂F/∂θ‖`.
    pub(crate) residual: f64,
    /// Whether `H` could be factored only with something added to its diagonal.
    pub(crate) diagonal_raised: bool,
}

/// `∇P(w)` at a minimiser of the inner problem.
pub(crate) fn hypergradient(
    inner: &InnerProblem<'_>,
    fitted: &FitPoint,
    outer: &OuterValue,
) -> Result<Hypergradient, Error> {
    let hessian = inner.hessian(&fitted.statistics);
    let factor = inner.factor(&hessian)?;
    let v = factor.solve(&outer.gradient_theta);
    let n_rows = inner.rows.n_rows_total() as f64;
    let gradient = outer
        .gradient_weights
        .iter()
        .enumerate()
        .map(|(client, direct)| direct - dot(fitted.statistics.gradient(client), &v) / n_rows)
        .collect();
    Ok(Hypergradient {
        gradient,
        residual: relative_residual(&hessian, inner.ridge, &v, &outer.gradient_theta),
        v,
        diagonal_raised: factor.added_to_diagonal > 0.0,
    })
}
