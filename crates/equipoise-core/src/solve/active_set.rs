//! Minimises a convex quadratic over the simplex by an active-set method.
//!
//! A linear system gives the minimum over the free variables. A variable that would become negative is fixed at 0, and a
//! fixed variable whose slope is below the common level is freed. A gradient method would need thousands of steps, because
//! a large ρ gives one direction far more curvature than the others.

use crate::linalg::Cholesky;
use crate::logistic::dot;
use crate::simplex::project_onto_simplex;

/// Added to the diagonal for a step, as a share of its largest entry, because clients that send equal proxies make the
/// matrix singular. It only shortens a step a little, and the next step makes up for it.
const RIDGE: f64 = 1e-9;

/// Among more free variables than this, the first step fixes all that it would make negative: one by one, each would take a
/// factorisation. Those that should be free return.
const MANY_FREE: usize = 64;

/// Maximum number of steps with the same free variables, until their slopes are equal.
const MAX_REPEATS: usize = 6;

/// Differences between slopes below this share of the largest slope are rounding errors.
const SLOPE_NOISE: f64 = 1e-12;

/// The point of the simplex that minimises `linear·z + ½ zᵀ matrix z`, starting from the point `start` of the simplex.
/// `matrix` has all its entries, row by row. If a system cannot be solved, the result is the best point so far.
pub(super) fn minimise_quadratic(matrix: &[f64], linear: &[f64], start: Vec<f64>) -> Vec<f64> {
    let size = linear.len();
    let largest = (0..size).map(|i| matrix[i * size + i]).fold(0.0, f64::max);
    let ridge = (RIDGE * largest).max(f64::MIN_POSITIVE);
    let mut point = start;
    let mut free: Vec<usize> = (0..size).filter(|&i| point[i] > 0.0).collect();
    let (mut repeats, mut is_first) = (0, true);
    // The gradient, and the level that all free variables share at the minimum.
    let slopes = |point: &[f64]| {
        let slope: Vec<f64> =
            matrix.chunks_exact(size).zip(linear).map(|(row, l)| l + dot(row, point)).collect();
        let level = dot(&slope, point);
        (slope, level)
    };
    for _ in 0..20 * size + 20 {
        let (slope, level) = slopes(&point);
        let Some(step) = free_step(matrix, &slope, level, &free, ridge) else { break };
        let may_fix_many = std::mem::take(&mut is_first) && free.len() > MANY_FREE;
        if may_fix_many && free.iter().zip(&step).any(|(&i, s)| point[i] + s < 0.0) {
            free.iter().zip(&step).for_each(|(&i, s)| point[i] += s);
            point = project_onto_simplex(&point);
            free.retain(|&i| point[i] > 0.0);
            continue;
        }
        // The longest step that keeps all variables positive, and the variable that limits it.
        let (mut length, mut blocking) = (1.0, None);
        for (&i, &s) in free.iter().zip(&step) {
            if s < 0.0 && -point[i] > length * s {
                (length, blocking) = (-point[i] / s, Some(i));
            }
        }
        free.iter().zip(&step).for_each(|(&i, s)| point[i] = (point[i] + length * s).max(0.0));
        if let Some(blocking) = blocking {
            point[blocking] = 0.0;
            free.retain(|&i| i != blocking);
            repeats = 0;
            continue;
        }
        let (slope, level) = slopes(&point);
        let noise = SLOPE_NOISE * slope.iter().fold(0.0, |max: f64, s| max.max(s.abs()));
        repeats += 1;
        let unequal = free.iter().any(|&i| (slope[i] - level).abs() > 10.0 * noise);
        if unequal && repeats < MAX_REPEATS {
            continue;
        }
        let lowest = (0..size)
            .filter(|i| !free.contains(i) && slope[*i] < level - noise)
            .min_by(|&a, &b| slope[a].total_cmp(&slope[b]));
        let Some(lowest) = lowest else { break };
        free.push(lowest);
        repeats = 0;
    }
    let sum: f64 = point.iter().sum();
    point.iter_mut().for_each(|z| *z /= sum);
    point
}

/// The step to the minimum over the free variables with their sum unchanged; `None` if it cannot be computed.
fn free_step(
    matrix: &[f64],
    slope: &[f64],
    level: f64,
    free: &[usize],
    ridge: f64,
) -> Option<Vec<f64>> {
    let size = slope.len();
    let mut lower = Vec::with_capacity(free.len() * (free.len() + 1) / 2);
    for (at, &i) in free.iter().enumerate() {
        lower.extend(free[..=at].iter().map(|&j| matrix[i * size + j]));
    }
    let factor = Cholesky::new(&lower, free.len(), ridge).ok()?;
    let falls: Vec<f64> = free.iter().map(|&i| level - slope[i]).collect();
    let (own, common) = (factor.solve(&falls), factor.solve(&vec![1.0; free.len()]));
    let shift = own.iter().sum::<f64>() / common.iter().sum::<f64>();
    let step: Vec<f64> = own.iter().zip(&common).map(|(o, c)| o - shift * c).collect();
    step.iter().all(|s| s.is_finite()).then_some(step)
}
