//! Progress reports: the maths never prints.

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
    /// Called once per step, in order.
    fn on_step(&mut self, progress: Progress<'_>);
}

/// An observer that does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopObserver;

impl Observer for NoopObserver {
    fn on_step(&mut self, _: Progress<'_>) {}
}
