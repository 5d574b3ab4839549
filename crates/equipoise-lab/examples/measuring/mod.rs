//! What measurements share: repeats of a solve on a number of threads, and memory.

use std::error::Error;
use std::time::Instant;

use equipoise_core::{CheckedSettings, NoopObserver, Order, Outcome, Round, solve};

/// Passes that are timed by themselves, at least, and how long they take together, at least.
const MIN_PASSES: usize = 15;
const PASSES_SECONDS: f64 = 0.5;

/// How often a solve is repeated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Repeats {
    /// Most repeats that count.
    pub(crate) most: usize,
    /// No repeat begins after so many seconds.
    pub(crate) budget: f64,
}

/// Seconds of each solve on a pool of `threads` threads, and the last outcome. The first solve warms up and is
/// dropped, unless it is the only one that the budget leaves time for.
pub(crate) fn repeat_solve(
    round: &Round,
    settings: &CheckedSettings,
    repeats: Repeats,
    threads: usize,
) -> Result<(Vec<f64>, Outcome), Box<dyn Error>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let timed = || {
        let started = Instant::now();
        let outcome = pool.install(|| solve(round, settings, &mut NoopObserver));
        outcome.map(|outcome| (started.elapsed().as_secs_f64(), outcome))
    };
    let (first, mut outcome) = timed()?;
    let mut seconds = Vec::with_capacity(repeats.most);
    while seconds.len() < repeats.most && first + seconds.iter().sum::<f64>() < repeats.budget {
        let last = timed()?;
        seconds.push(last.0);
        outcome = last.1;
    }
    if seconds.is_empty() {
        seconds.push(first);
    }
    Ok((seconds, outcome))
}

/// Seconds of each of many passes over all proxy rows, with Hessians, on a pool of `threads` threads; the first is dropped.
/// Short ones are repeated more often, or what else the machine does for some milliseconds would be all that is seen.
#[allow(dead_code)] // Not every example tells it.
pub(crate) fn repeat_pass(
    round: &Round,
    theta: &[f64],
    threads: usize,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let timed = || {
        let started = Instant::now();
        round.proxies().evaluate(theta, Order::Hessian).map(|_| started.elapsed().as_secs_f64())
    };
    // As within a solve, the pool is entered once, not for every pass.
    let seconds = pool.install(|| {
        timed()?;
        let mut seconds = Vec::new();
        while seconds.len() < MIN_PASSES || seconds.iter().sum::<f64>() < PASSES_SECONDS {
            seconds.push(timed()?);
        }
        Ok::<_, equipoise_core::Error>(seconds)
    })?;
    Ok(seconds)
}

/// The most memory that this process has had at any time, in bytes; `None` where the system does not tell.
#[allow(dead_code)] // Not every example tells it.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(1024 * kibibytes)
}
