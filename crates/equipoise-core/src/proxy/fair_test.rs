//! Definition 1: whether a proxy is fair. Fits a model to the proxy without a regulariser and measures its violation on the
//! client's own data.
//!
//! A proxy whose rows can be separated by a hyperplane has no such model: the loss decreases forever as `θ` grows. The fit
//! therefore follows the minimisers of `ℓ + (r/2)‖θ‖²` as `r` decreases, which always exist. Either they converge to the
//! model, or they diverge along a direction `d` with `y_i a_i·d ≥ 0` for every row, which proves that there is no model.

use std::slice;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fairness::{Covariance, Fairness, Violation};
use crate::inner_fit::{FitPoint, InnerProblem, InnerSettings, sample_model};
use crate::linalg::norm;
use crate::logistic::dot;
use crate::packed_rows::PackedRows;
use crate::rows::Rows;
use crate::settings::in_range;
use crate::statistics::ClientStatistics;

/// The verdict of Definition 1, and what it is based on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FairProxyTest {
    /// Whether the proxy is fair: its model exists and has a violation of at most ε.
    pub fair: bool,
    /// Size of the violation on the client's data. For a separable proxy, the violation of its unit direction.
    pub violation: f64,
    /// The covariance of each criterion.
    pub violations: Violation,
    /// The tolerance.
    pub epsilon: f64,
    /// Whether the proxy's rows can be separated.
    pub separation: Separation,
    /// The model `θ^C`. For a separable proxy, the unit direction in which it diverges.
    pub theta: Vec<f64>,
}

/// Whether a hyperplane separates the labels of some rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Separation {
    /// None: the model exists.
    None,
    /// All rows can be strictly on their side.
    Complete,
    /// All rows can be on their side or on the plane, and not all of them on the plane.
    Quasi,
    /// Neither proved nor excluded: the fit is too ill-conditioned.
    Undecided,
}

/// The regularisers, for columns whose root mean square is 1.
const REGULARISERS: [f64; 4] = [1e-7, 1e-9, 1e-11, 1e-13];

/// Largest change of any row's score between two regularisers at which the model has converged. A separable row's score
/// grows by about log 100 ≈ 4.6.
const CONVERGED_CHANGE: f64 = 1e-2;

/// Distance on the wrong side of the plane, relative to the largest distance, up to which a row counts as lying on
/// the plane.
const ON_THE_PLANE: f64 = 1e-6;

/// Tests whether `proxy` is a fair proxy of `data`.
pub fn test_fair_proxy(
    proxy: &Rows,
    data: &Rows,
    fairness: Fairness,
    epsilon: f64,
) -> Result<FairProxyTest, Error> {
    in_range("epsilon", epsilon, epsilon >= 0.0, "at least 0")?;
    if proxy.layout() != data.layout() {
        return Err(Error::layouts(data.layout(), proxy.layout()));
    }
    if proxy.is_empty() || data.is_empty() {
        return Err(Error::Input("there are no rows".to_owned()));
    }
    let (theta, separation) = fit_unregularised(proxy, data)?;
    let violations = Covariance::of(data).violation(&theta);
    let violation = violations.size(fairness);
    let fair = separation == Separation::None && violation <= epsilon;
    Ok(FairProxyTest { fair, violation, violations, epsilon, separation, theta })
}

/// The minimiser of the mean loss of `rows`, or the unit direction that proves there is none.
///
/// Directions of `θ` that hardly matter to `rows`, such as the sum of one-hot columns next to an intercept, may
/// converge slowly. They need not converge if they do not affect the scores of `judged`, the rows that the model is
/// for.
pub(crate) fn fit_unregularised(
    rows: &Rows,
    judged: &Rows,
) -> Result<(Vec<f64>, Separation), Error> {
    let scales = root_mean_squares(rows);
    let (theta, separation) = fit_scaled(&rows.with_columns_divided(&scales), judged, &scales)?;
    // Back to the original columns, with a direction at length 1.
    let theta: Vec<f64> = theta.iter().zip(&scales).map(|(t, s)| t / s).collect();
    let theta = if separation == Separation::None { theta } else { normalised(&theta) };
    Ok((theta, separation))
}

/// The root mean square of each column, or 1 for a column of zeros. The fit divides by it so that it does not depend on the
/// units of the features.
fn root_mean_squares(rows: &Rows) -> Vec<f64> {
    let n = rows.layout().n();
    let mut sums = vec![0.0; n];
    for a in rows.values().chunks_exact(n) {
        sums.iter_mut().zip(a).for_each(|(sum, v)| *sum += v * v);
    }
    sums.iter().map(|sum| if *sum > 0.0 { (sum / rows.len() as f64).sqrt() } else { 1.0 }).collect()
}

/// As [`fit_unregularised`], for rows whose columns have been divided by `scales`. The columns of `judged` have not.
fn fit_scaled(rows: &Rows, judged: &Rows, scales: &[f64]) -> Result<(Vec<f64>, Separation), Error> {
    let packed = PackedRows::of(slice::from_ref(rows))?;
    let settings = InnerSettings { tolerance: 1e-10, ..InnerSettings::default() };
    let start = sample_model(rows)?.unwrap_or_else(|| vec![0.0; packed.n()]);
    let mut point = FitPoint::at(&packed, start)?;
    let mut last: Option<Vec<f64>> = None;
    for ridge in REGULARISERS {
        let problem = InnerProblem { rows: &packed, weights: &[1.0], ridge };
        // The tolerance decreases with the regulariser, whose gradient must not be lost in it.
        let tolerance = settings.tolerance.min(0.01 * ridge);
        point = problem.fit(point, &InnerSettings { tolerance, ..settings })?.point;
        if point.theta.iter().any(|t| !t.is_finite()) {
            return Ok((vec![0.0; point.theta.len()], Separation::Undecided));
        }
        if let Some(before) = last {
            let change: Vec<f64> = point.theta.iter().zip(&before).map(|(t, b)| t - b).collect();
            let distances = signed_distances(rows, &change);
            let largest = largest_size(&distances);
            if largest <= CONVERGED_CHANGE {
                return Ok((polish(&packed, point, &settings)?, Separation::None));
            }
            if let Some(proved) = separation_along(&distances, largest) {
                // θ may prove complete separation even if the change proves only quasi-separation.
                let scores = signed_distances(rows, &point.theta);
                let complete = scores.iter().all(|&score| score > 0.0);
                let separation = if complete { Separation::Complete } else { proved };
                let direction = if complete { &point.theta } else { &change };
                return Ok((normalised(direction), separation));
            }
            let change: Vec<f64> = change.iter().zip(scales).map(|(c, s)| c / s).collect();
            if largest_size(&signed_distances(judged, &change)) <= CONVERGED_CHANGE {
                return Ok((point.theta, Separation::None));
            }
        }
        last = Some(point.theta.clone());
    }
    Ok((normalised(&point.theta), Separation::Undecided))
}

/// A few Newton steps without a regulariser, if the Hessian allows them.
fn polish(
    packed: &PackedRows,
    point: FitPoint,
    settings: &InnerSettings,
) -> Result<Vec<f64>, Error> {
    let regularised = point.theta.clone();
    let problem = InnerProblem { rows: packed, weights: &[1.0], ridge: 0.0 };
    let fit = problem.fit(point, &InnerSettings { max_iterations: 10, ..*settings });
    Ok(match fit {
        Ok(fit) if fit.end.converged && fit.end.diagonals_raised == 0 => fit.point.theta,
        Ok(_) | Err(Error::NotPositiveDefinite { .. }) => regularised,
        Err(error) => return Err(error),
    })
}

/// `y_i a_i·d` of every row.
fn signed_distances(rows: &Rows, direction: &[f64]) -> Vec<f64> {
    (0..rows.len()).into_par_iter().map(|i| rows.labels()[i] * dot(rows.a(i), direction)).collect()
}

fn largest_size(distances: &[f64]) -> f64 {
    distances.iter().fold(0.0f64, |largest, d| largest.max(d.abs()))
}

/// The separation that a direction proves. Its largest distance is not 0.
fn separation_along(distances: &[f64], largest: f64) -> Option<Separation> {
    let margin = ON_THE_PLANE * largest;
    if distances.iter().any(|&d| d < -margin) {
        None
    } else if distances.iter().all(|&d| d > margin) {
        Some(Separation::Complete)
    } else {
        Some(Separation::Quasi)
    }
}

fn normalised(direction: &[f64]) -> Vec<f64> {
    let length = norm(direction);
    if length > 0.0 { direction.iter().map(|d| d / length).collect() } else { direction.to_vec() }
}

#[cfg(test)]
mod tests;
