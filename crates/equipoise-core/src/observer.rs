//! Where progress goes: the maths never prints.

/// A step of a loop that takes long.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Steps done.
    pub done: usize,
    /// Most steps there can be.
    pub of: usize,
    /// The objective at this step.
    pub objective: f64,
    /// Size of the violation at this step.
    pub violation: f64,
    /// ρ of this step.
    pub rho: f64,
    /// The weights at this step; empty where the loop has none.
    pub weights: &'a [f64],
}

/// Told of each step, on a thread of the solve's own choosing.
pub trait Observer: Send {
    /// Called once per step, in order.
    fn on_step(&mut self, progress: Progress<'_>);
}

/// An observer that looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopObserver;

impl Observer for NoopObserver {
    fn on_step(&mut self, _: Progress<'_>) {}
}
