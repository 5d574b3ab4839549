//! The pool of threads that the maths runs on.

use anyhow::Context;

/// Starts the pool: as many threads as asked for, or as there are cores. Results never depend on it.
pub(crate) fn start(threads: Option<usize>) -> anyhow::Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .with_context(|| format!("--threads {threads}: the threads could not be started"))
}
