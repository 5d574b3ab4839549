//! Every quantity against its definition, gradients against differences, and rounds against the reference.
#![allow(clippy::unwrap_used)]

mod gradients;
mod measures;
mod outcomes;
mod rounds;

use super::*;
