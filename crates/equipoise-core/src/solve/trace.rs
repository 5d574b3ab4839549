//! The weight trajectory of a solve, and its observer.

use crate::bilevel::Evaluation;
use crate::error::Error;
use crate::observer::{Observer, Progress, report};
use crate::outcome::TracePoint;
use crate::settings::Settings;

/// Maximum number of values in a trace. Longer solves record every second, third, … step.
const MAX_VALUES: usize = 100_000;

/// Records the steps of a solve and notifies the observer.
pub(super) struct TraceRecorder<'a> {
    pub(super) points: Vec<TracePoint>,
    /// The descent that steps belong to: number 0 starts from uniform weights.
    pub(super) start: usize,
    settings: &'a Settings,
    observer: &'a mut dyn Observer,
    stride: usize,
    n_steps: usize,
}

impl<'a> TraceRecorder<'a> {
    pub(super) fn new(
        n_clients: usize,
        settings: &'a Settings,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let stride = (settings.outer.iterations * (n_clients + 4)).div_ceil(MAX_VALUES);
        Self { points: Vec::new(), start: 0, settings, observer, stride, n_steps: 0 }
    }

    /// Records where a step begins.
    pub(super) fn record(&mut self, here: &Evaluation) -> Result<(), Error> {
        let &Evaluation { rho, objective, ref weights, .. } = here;
        let violation = here.violation.size(self.settings.fairness);
        if self.n_steps.is_multiple_of(self.stride) {
            let (iteration, start, weights) = (self.n_steps + 1, self.start, weights.clone());
            self.points.push(TracePoint { iteration, start, rho, objective, violation, weights });
        }
        self.n_steps += 1;
        let (done, of) = (self.n_steps, self.settings.outer.iterations);
        report(self.observer, Progress { done, of, objective, violation, rho, weights })
    }
}
