//! A round: what it is, and how it comes from its submissions to a published model.

mod publication;
mod solver;
mod spec;

pub use publication::{LOG_FILES, PUBLISHED_FILES};
pub use solver::{Solver, SolverHandle};
pub use spec::{RootFile, RoundSpec, SubmissionLimits};
