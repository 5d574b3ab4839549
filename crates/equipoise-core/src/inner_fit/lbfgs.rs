//! The paper's inner solver: limited-memory BFGS with a weak Wolfe line search.
//!
//! The two-loop recursion is algorithm 7.4 of Nocedal and Wright, *Numerical Optimization*, 2nd edition. The line search
//! is by bisection, which ends for every smooth function that is bounded below.

use std::collections::VecDeque;

use super::{Fit, FitEnd, FitPoint, InnerProblem, InnerSettings, VALUE_NOISE};
use crate::error::Error;
use crate::linalg::norm;
use crate::logistic::dot;
use crate::newton::{Iterate, SUFFICIENT_DECREASE};
use crate::statistics::{Order, Statistics};

/// Pairs of steps and gradient changes that the method remembers.
const MEMORY: usize = 10;

/// Share of the initial slope that must be gone at the end of a step (the curvature condition).
const CURVATURE: f64 = 0.9;

/// Maximum number of step lengths per iteration. If none satisfies both conditions, the limit of floating-point
/// precision is reached.
const MAX_TRIALS: usize = 40;

pub(super) fn fit(
    problem: &InnerProblem<'_>,
    start: FitPoint,
    settings: &InnerSettings,
) -> Result<Fit, Error> {
    let mut passes = 0;
    let mut here = problem.iterate(start);
    let (mut pairs, mut iterations) = (VecDeque::with_capacity(MEMORY), 0);
    while norm(&here.gradient) > settings.tolerance && iterations < settings.max_iterations {
        iterations += 1;
        let direction = descent_direction(&pairs, &here.gradient);
        // Without a pair, the length of the direction means nothing: the first step has at most length 1.
        let first = if pairs.is_empty() { norm(&direction).recip().min(1.0) } else { 1.0 };
        let Some(there) = line_search(problem, &here, &direction, first, &mut passes)? else {
            break;
        };
        if pairs.len() == MEMORY {
            pairs.pop_front();
        }
        pairs.extend(Pair::between(&here, &there));
        here = there;
    }
    let gradient_norm = norm(&here.gradient);
    let mut point = FitPoint { theta: here.theta, statistics: here.state };
    passes += usize::from(problem.complete(&mut point)?);
    let converged = gradient_norm <= settings.tolerance;
    let end = FitEnd { gradient_norm, converged, iterations, passes, diagonals_raised: 0 };
    Ok(Fit { point, end })
}

/// A step `s` and the change `y` of the gradient along it.
struct Pair {
    s: Vec<f64>,
    y: Vec<f64>,
    /// `1 / s·y`.
    scale: f64,
}

impl Pair {
    /// `None` if the pair has no positive curvature to floating-point precision.
    fn between(from: &Iterate<Statistics>, to: &Iterate<Statistics>) -> Option<Self> {
        let difference = |b: &[f64], a: &[f64]| b.iter().zip(a).map(|(b, a)| b - a).collect();
        let s: Vec<f64> = difference(&to.theta, &from.theta);
        let y: Vec<f64> = difference(&to.gradient, &from.gradient);
        let scale = dot(&s, &y).recip();
        (scale > 0.0 && scale.is_finite()).then_some(Self { s, y, scale })
    }
}

/// `−B ∇ℓ`, with `B` the inverse Hessian that the pairs approximate.
fn descent_direction(pairs: &VecDeque<Pair>, gradient: &[f64]) -> Vec<f64> {
    let add = |q: &mut [f64], factor: f64, v: &[f64]| {
        q.iter_mut().zip(v).for_each(|(q, v)| *q += factor * v);
    };
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut factors = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().rev() {
        let factor = pair.scale * dot(&pair.s, &q);
        add(&mut q, -factor, &pair.y);
        factors.push(factor);
    }
    if let Some(last) = pairs.back() {
        let initial = 1.0 / (last.scale * dot(&last.y, &last.y));
        q.iter_mut().for_each(|q| *q *= initial);
    }
    for (pair, factor) in pairs.iter().zip(factors.iter().rev()) {
        let correction = pair.scale * dot(&pair.y, &q);
        add(&mut q, factor - correction, &pair.s);
    }
    q
}

/// The first point along the direction that satisfies the weak Wolfe conditions; `None` if there is none within the trials.
fn line_search(
    problem: &InnerProblem<'_>,
    here: &Iterate<Statistics>,
    direction: &[f64],
    first: f64,
    passes: &mut usize,
) -> Result<Option<Iterate<Statistics>>, Error> {
    let slope = dot(direction, &here.gradient);
    let noise = VALUE_NOISE * here.value.abs();
    let (mut low, mut high, mut length) = (0.0, f64::INFINITY, first);
    for _ in 0..MAX_TRIALS {
        let theta: Vec<f64> =
            here.theta.iter().zip(direction).map(|(t, d)| t + length * d).collect();
        let statistics = problem.rows.evaluate(&theta, Order::Gradient)?;
        *passes += 1;
        let there = problem.iterate(FitPoint { theta, statistics });
        let is_better_within_noise = (there.value - here.value).abs() <= noise
            && norm(&there.gradient) < norm(&here.gradient);
        let descends = there.value <= here.value + SUFFICIENT_DECREASE * length * slope;
        let is_flat_enough = dot(direction, &there.gradient) >= CURVATURE * slope;
        if is_better_within_noise || (descends && is_flat_enough) {
            return Ok(Some(there));
        }
        if descends {
            low = length;
        } else {
            high = length;
        }
        length = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * low };
    }
    Ok(None)
}
