//! The `equipoise` command.
fn main() {}
