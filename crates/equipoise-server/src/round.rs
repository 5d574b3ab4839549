//! A round's solve and its publication.

mod publication;
mod results;
mod solver;

pub(crate) use results::{SolveInputs, submission_warnings, write_results};
pub use solver::{Solver, SolverHandle};
