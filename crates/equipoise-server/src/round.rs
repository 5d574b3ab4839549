//! A round's solve and its publication.

mod publication;
mod solver;

pub use solver::{Solver, SolverHandle};
