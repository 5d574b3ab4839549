//! The maths of a round.
mod error;
mod rows;
pub use error::Error;
pub use rows::{Layout, Rows};
