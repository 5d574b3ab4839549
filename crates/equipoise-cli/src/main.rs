//! The `equipoise` binary.

use std::process::ExitCode;

use equipoise_cli::{Invocation, run};

fn main() -> ExitCode {
    ExitCode::from(run(Invocation::of_this_binary()))
}
