//! The minimum of a convex quadratic on the simplex, by an active set: among the free variables a linear
//! system gives the minimum; a variable that would become negative leaves, one whose slope is below the common
//! level enters. A method of gradients would need thousands of steps, for a large ρ bends one direction far more
//! than the others.

use crate::linalg::Cholesky;
use crate::logistic::dot;

/// Added to the diagonal for a step, as a share of its largest entry: clients that send the same make the matrix
/// singular. It shortens a step a little, no more; the next one makes up for it.
const RIDGE: f64 = 1e-9;

/// Steps with the same free variables until their slopes are equal.
const MAX_REPEATS: usize = 6;

/// Slopes that are below the level by less than this share of their size are rounding.
const SLOPE_NOISE: f64 = 1e-12;

/// The point of the simplex that minimises `linear·z + ½ zᵀ matrix z`, from `start` on it. `matrix` has all its
/// entries, row after row. Where the arithmetic fails, the best point so far is the answer.
pub(super) fn minimise_quadratic(matrix: &[f64], linear: &[f64], start: Vec<f64>) -> Vec<f64> {
    let size = linear.len();
    let largest = (0..size).map(|i| matrix[i * size + i]).fold(0.0, f64::max);
    let ridge = (RIDGE * largest).max(f64::MIN_POSITIVE);
    let mut point = start;
    let mut free: Vec<usize> = (0..size).filter(|&i| point[i] > 0.0).collect();
    let mut repeats = 0;
    for _ in 0..20 * size + 20 {
        let slope: Vec<f64> =
            matrix.chunks_exact(size).zip(linear).map(|(row, l)| l + dot(row, &point)).collect();
        let level = dot(&slope, &point);
        let Some(step) = step_of_free(matrix, &slope, level, &free, ridge) else { break };
        // How far all stay positive, and which one does not any further.
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
        let slope: Vec<f64> =
            matrix.chunks_exact(size).zip(linear).map(|(row, l)| l + dot(row, &point)).collect();
        let level = dot(&slope, &point);
        let noise = SLOPE_NOISE * slope.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
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

/// The step to where the quadratic of the free variables is lowest, their sum unchanged; `None` where that
/// cannot be computed.
fn step_of_free(
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
