//! Progress reports, and the way to stop a computation: the maths never prints.

use std::ops::ControlFlow;

use crate::error::Error;

/// A step of a long-running loop.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Steps done.
    pub done: usize,
    /// Maximum number of steps.
    pub of: usize,
    /// The objective at this step.
    pub objective: f64,
    /// Size of the violation at this step.
    pub violation: f64,
    /// ρ of this step.
    pub rho: f64,
    /// The weights at this step; empty if the loop has none.
    pub weights: &'a [f64],
}

/// Receives each step, on a thread of the solver's choice.
pub trait Observer: Send {
    /// Called once per step, in order. `Break` ends the computation with [`Error::Cancelled`].
    fn on_step(&mut self, progress: Progress<'_>) -> ControlFlow<()>;
}

/// Reports a step, and fails if the observer asks to stop.
pub(crate) fn report(observer: &mut dyn Observer, progress: Progress<'_>) -> Result<(), Error> {
    match observer.on_step(progress) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Cancelled),
    }
}

/// An observer that does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopObserver;

impl Observer for NoopObserver {
    fn on_step(&mut self, _: Progress<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
