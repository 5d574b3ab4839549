//! The paper's inner solver, limited-memory BFGS, from the argmin crate.
//!
//! argmin also stops when the objective changes too little. That test is disabled, or the gradient tolerance would hardly
//! ever be met. At the limit of floating-point precision its line search fails, or never ends. A search without progress
//! is therefore stopped here, and the result is the point with the smallest gradient so far.

use argmin::core::{CostFunction, Executor, Gradient, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use std::cell::{Cell, RefCell};

use super::{Fit, FitPoint, InnerProblem, InnerSettings};
use crate::error::Error;
use crate::linalg::norm;
use crate::newton::Objective;
use crate::statistics::{Order, Statistics};

/// Pairs of steps and gradient changes that the method remembers.
const MEMORY: usize = 10;

/// Maximum number of consecutive evaluations that lower neither objective nor gradient. A working line search needs a
/// handful.
const MAX_STALLED: usize = 40;

pub(super) fn fit(
    problem: &InnerProblem<'_>,
    start: FitPoint,
    settings: &InnerSettings,
) -> Result<Fit, Error> {
    let start_norm = norm(&problem.gradient(&start));
    if start_norm <= settings.tolerance {
        let mut start = start;
        let passes = usize::from(problem.complete(&mut start)?);
        return Ok(Fit {
            point: start,
            gradient_norm: start_norm,
            converged: true,
            iterations: 0,
            passes,
            diagonals_raised: 0,
        });
    }

    let adapter = Adapter {
        problem: *problem,
        last: RefCell::new(None),
        best: RefCell::new((start_norm, start.theta.clone())),
        lowest: Cell::new(f64::INFINITY),
        stalled: Cell::new(0),
        passes: Cell::new(0),
        failure: RefCell::new(None),
    };
    let line_search = MoreThuenteLineSearch::new();
    // Unwrap safety: argmin rejects only negative tolerances.
    #[allow(clippy::unwrap_used)]
    let solver = LBFGS::new(line_search, MEMORY)
        .with_tolerance_grad(settings.tolerance)
        .unwrap()
        .with_tolerance_cost(0.0)
        .unwrap();
    let ran = Executor::new(&adapter, solver)
        .configure(|state| {
            state.param(start.theta.clone()).max_iters(settings.max_iterations as u64)
        })
        .run();
    if let Some(error) = adapter.failure.take() {
        return Err(error);
    }
    // Any other error is a line search that gave up: the best point is the result.
    let iterations = ran.map_or(0, |result| result.state().get_iter() as usize);

    let (_, theta) = adapter.best.take();
    let point = problem.at(theta)?;
    let gradient_norm = norm(&problem.gradient(&point));
    let converged = gradient_norm <= settings.tolerance;
    let passes = adapter.passes.get() + 1;
    Ok(Fit { point, gradient_norm, converged, iterations, passes, diagonals_raised: 0 })
}

/// The inner problem as argmin expects it. One pass gives value and gradient. argmin requests them separately at the same
/// `θ`, so the last pass is cached.
struct Adapter<'a> {
    problem: InnerProblem<'a>,
    last: RefCell<Option<(Vec<f64>, Statistics)>>,
    /// The smallest gradient norm so far, and its `θ`.
    best: RefCell<(f64, Vec<f64>)>,
    /// The lowest objective so far.
    lowest: Cell<f64>,
    /// Evaluations since either improved.
    stalled: Cell<usize>,
    passes: Cell<usize>,
    /// An error of ours, which argmin would turn into text.
    failure: RefCell<Option<Error>>,
}

impl Adapter<'_> {
    fn with_statistics<T>(
        &self,
        theta: &[f64],
        read: impl FnOnce(&Statistics) -> T,
    ) -> Result<T, argmin::core::Error> {
        let mut last = self.last.borrow_mut();
        if last.as_ref().is_none_or(|(at, _)| at != theta) {
            self.passes.set(self.passes.get() + 1);
            self.stalled.set(self.stalled.get() + 1);
            if self.stalled.get() > MAX_STALLED {
                return Err(argmin::core::Error::msg("the line search makes no progress"));
            }
            match self.problem.rows.evaluate(theta, Order::Gradient) {
                Ok(statistics) => *last = Some((theta.to_vec(), statistics)),
                Err(error) => {
                    let message = error.to_string();
                    *self.failure.borrow_mut() = Some(error);
                    return Err(argmin::core::Error::msg(message));
                }
            }
        }
        // Unwrap safety: set above if it was empty.
        #[allow(clippy::unwrap_used)]
        Ok(read(&last.as_ref().unwrap().1))
    }
}

impl CostFunction for &Adapter<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, theta: &Vec<f64>) -> Result<f64, argmin::core::Error> {
        let value =
            self.with_statistics(theta, |statistics| self.problem.value_at(theta, statistics))?;
        if value < self.lowest.get() {
            self.lowest.set(value);
            self.stalled.set(0);
        }
        Ok(value)
    }
}

impl Gradient for &Adapter<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, theta: &Vec<f64>) -> Result<Vec<f64>, argmin::core::Error> {
        let gradient =
            self.with_statistics(theta, |statistics| self.problem.gradient_at(theta, statistics))?;
        let size = norm(&gradient);
        if size < self.best.borrow().0 {
            *self.best.borrow_mut() = (size, theta.clone());
            self.stalled.set(0);
        }
        Ok(gradient)
    }
}
