//! The command line: the whole program, or one command whose result is returned.

use std::ffi::OsString;
use std::path::PathBuf;

use equipoise_cli::Invocation;
use pyo3::prelude::*;

use crate::error::{Stage, json};
use crate::task;

/// Runs the program `equipoise` and ends the process with its exit code. The executable and the prefix start the program
/// again, for child processes.
#[pyfunction]
pub(crate) fn main(
    py: Python<'_>,
    arguments: Vec<OsString>,
    executable: PathBuf,
    prefix: Vec<String>,
) {
    let invocation = Invocation { arguments, executable: Some(executable), prefix };
    let code = py.detach(|| equipoise_cli::run(invocation));
    // The interpreter is not shut down: a child process that entered its sandbox could not do it.
    std::process::exit(code.into());
}

/// Runs one command and returns the document that it prints with `--json`, whether its answer is "yes", and its warnings.
/// `of_round` says that it asks a round server.
#[pyfunction]
pub(crate) fn call(
    py: Python<'_>,
    arguments: Vec<OsString>,
    of_round: bool,
) -> PyResult<(Py<PyAny>, bool, Vec<String>)> {
    let stage = if of_round { Stage::Round } else { Stage::Setting };
    let reply = task::run(py, stage, None, move |_| equipoise_cli::call(arguments))?;
    Ok((json(py, &reply.document)?, reply.yes, reply.warnings))
}
