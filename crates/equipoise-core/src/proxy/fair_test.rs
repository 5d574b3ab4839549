//! Definition 1: is a proxy fair? Fit a model on the proxy alone, without regulariser, and measure its
//! violation on the client's own data.
//!
//! A proxy whose rows can be separated by a hyperplane has no such model: the loss falls for ever as `θ`
//! grows. The fit therefore follows the minimisers of `ℓ + (r/2)‖θ‖²` as `r` falls. They always exist; where
//! the limit does, they settle, and where it does not, they run off along a direction `d` with
//! `y_i a_i·d ≥ 0` in every row, which proves that there is none.

use serde::{Deserialize, Serialize};

use crate::client_rows::ClientRows;
use crate::error::Error;
use crate::fairness::{Covariance, Fairness, Violation};
use crate::inner_fit::{FitPoint, InnerProblem, InnerSettings};
use crate::linalg::norm;
use crate::logistic::dot;
use crate::rows::Rows;
use crate::settings::in_range;

/// The verdict of Definition 1 and its reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FairProxyTest {
    /// Whether the proxy is fair: its model exists and its violation is at most ε.
    pub fair: bool,
    /// Size of the violation on the client's data. For a separable proxy, of its direction at length 1.
    pub violation: f64,
    /// Both covariances, signed.
    pub violations: Violation,
    /// The tolerance.
    pub epsilon: f64,
    /// Whether the proxy's rows can be separated.
    pub separation: Separation,
    /// The model `θ^C`. For a separable proxy, the direction that it runs off to, at length 1.
    pub theta: Vec<f64>,
}

/// Whether a hyperplane separates the labels of some rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Separation {
    /// No: the model exists.
    None,
    /// All rows can be put strictly on their side.
    Complete,
    /// All rows can be put on their side or on the plane, and not all of them on the plane.
    Quasi,
    /// No direction was proved, but the model did not settle either: it is too ill-conditioned to use.
    Undecided,
}

/// The regularisers, for columns whose root mean square is 1.
const REGULARISERS: [f64; 4] = [1e-7, 1e-9, 1e-11, 1e-13];

/// Change of any row's score between two regularisers below which the model has settled. A separable
/// row's score grows by about log 100 ≈ 4.6.
const SETTLED: f64 = 1e-2;

/// How far behind its plane a row may be, relative to the largest distance, to count as on it.
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
        return Err(Error::Features { expected: data.layout().n(), found: proxy.layout().n() });
    }
    if proxy.is_empty() || data.is_empty() {
        return Err(Error::NoRows);
    }
    let (theta, separation) = fit_unregularised(proxy, data)?;
    let violations = Covariance::of(data).violation(&theta);
    let violation = violations.size(fairness);
    let fair = separation == Separation::None && violation <= epsilon;
    Ok(FairProxyTest { fair, violation, violations, epsilon, separation, theta })
}

/// The minimiser of the mean loss of `rows`, or the direction, at length 1, that shows there is none.
///
/// Entries of `θ` that nearly do not matter to `rows`, such as the sum of one-hot columns beside an
/// intercept, may take long to settle. They need not, where `judged`, the rows that the model is for, do
/// not see them either.
pub(crate) fn fit_unregularised(
    rows: &Rows,
    judged: &Rows,
) -> Result<(Vec<f64>, Separation), Error> {
    let scales = root_mean_squares(rows);
    let (theta, separation) =
        fit_scaled(&rows.with_columns_divided(&scales), &judged.with_columns_divided(&scales))?;
    // The model of the columns as they are; a direction is brought back to length 1.
    let theta: Vec<f64> = theta.iter().zip(&scales).map(|(t, s)| t / s).collect();
    let theta = if separation == Separation::None { theta } else { at_length_one(&theta) };
    Ok((theta, separation))
}

/// The root mean square of each column, which the fit divides by so that it does not depend on the units
/// of the features; 1 for a column of zeros.
fn root_mean_squares(rows: &Rows) -> Vec<f64> {
    let n = rows.layout().n();
    let mut sums = vec![0.0; n];
    for a in rows.values().chunks_exact(n) {
        sums.iter_mut().zip(a).for_each(|(sum, v)| *sum += v * v);
    }
    sums.iter().map(|sum| if *sum > 0.0 { (sum / rows.len() as f64).sqrt() } else { 1.0 }).collect()
}

/// The same for rows whose columns have size 1.
fn fit_scaled(rows: &Rows, judged: &Rows) -> Result<(Vec<f64>, Separation), Error> {
    let source = ClientRows::new(vec![rows.clone()])?;
    let settings = InnerSettings { tolerance: 1e-10, ..InnerSettings::default() };
    let mut point = FitPoint::origin(&source)?;
    let mut last: Option<Vec<f64>> = None;
    for ridge in REGULARISERS {
        let problem = InnerProblem { rows: &source, weights: &[1.0], ridge };
        // The tolerance follows the regulariser: its own pull on θ must not be lost below it.
        let tolerance = settings.tolerance.min(0.01 * ridge);
        point = problem.fit(point, &InnerSettings { tolerance, ..settings })?.point;
        if point.theta.iter().any(|t| !t.is_finite()) {
            return Ok((vec![0.0; point.theta.len()], Separation::Undecided));
        }
        if let Some(before) = last {
            let change: Vec<f64> = point.theta.iter().zip(&before).map(|(t, b)| t - b).collect();
            let distances = signed_distances(rows, &change);
            let largest = largest_size(&distances);
            if largest <= SETTLED {
                return Ok((polish(&source, point, &settings)?, Separation::None));
            }
            if let Some(proved) = separation_along(&distances, largest) {
                // θ itself shows complete separation where the change alone shows only the other kind.
                let scores = signed_distances(rows, &point.theta);
                let complete = scores.iter().all(|&score| score > 0.0);
                let separation = if complete { Separation::Complete } else { proved };
                let direction = if complete { &point.theta } else { &change };
                return Ok((at_length_one(direction), separation));
            }
            if largest_size(&signed_distances(judged, &change)) <= SETTLED {
                return Ok((point.theta, Separation::None));
            }
        }
        last = Some(point.theta.clone());
    }
    Ok((at_length_one(&point.theta), Separation::Undecided))
}

/// Newton's last steps without any regulariser, where the Hessian allows them.
fn polish(
    source: &ClientRows,
    point: FitPoint,
    settings: &InnerSettings,
) -> Result<Vec<f64>, Error> {
    let regularised = point.theta.clone();
    let problem = InnerProblem { rows: source, weights: &[1.0], ridge: 0.0 };
    let fit = problem.fit(point, &InnerSettings { max_iterations: 10, ..*settings });
    Ok(match fit {
        Ok(fit) if fit.converged && fit.diagonals_raised == 0 => fit.point.theta,
        Ok(_) | Err(Error::NotPositiveDefinite { .. }) => regularised,
        Err(error) => return Err(error),
    })
}

/// `y_i a_i·d` of every row.
fn signed_distances(rows: &Rows, direction: &[f64]) -> Vec<f64> {
    (0..rows.len()).map(|i| rows.labels()[i] * dot(rows.a(i), direction)).collect()
}

fn largest_size(distances: &[f64]) -> f64 {
    distances.iter().fold(0.0f64, |most, d| most.max(d.abs()))
}

/// What a direction proves whose largest distance is not 0.
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

fn at_length_one(direction: &[f64]) -> Vec<f64> {
    let length = norm(direction);
    if length > 0.0 { direction.iter().map(|d| d / length).collect() } else { direction.to_vec() }
}

#[cfg(test)]
mod tests;
