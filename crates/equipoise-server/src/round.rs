//! A round: its specification, its solve and its publication.

mod publication;
mod solver;
mod spec;

pub use publication::{LOG_FILES, PUBLISHED_FILES};
pub use solver::{Solver, SolverHandle};
pub use spec::{RootFile, RoundSpec, SubmissionLimits};
