//! Measures time and memory.

use std::error::Error;
use std::time::Instant;

use equipoise_core::{CheckedSettings, NoopObserver, Order, Outcome, Round, solve};

/// Minimum number of timed passes, and their minimum total time.
const MIN_PASSES: usize = 15;
const MIN_PASSES_SECONDS: f64 = 0.5;

/// How often a solve is repeated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Repeats {
    /// Maximum number of timed repeats.
    pub(crate) max: usize,
    /// Seconds after which no repeat starts.
    pub(crate) budget: f64,
}

/// The seconds of each solve on `threads` threads, and the last outcome. The first solve is a warm-up and does not
/// count, unless the budget leaves no time for another one.
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
    let mut seconds = Vec::with_capacity(repeats.max);
    while seconds.len() < repeats.max && first + seconds.iter().sum::<f64>() < repeats.budget {
        let last = timed()?;
        seconds.push(last.0);
        outcome = last.1;
    }
    if seconds.is_empty() {
        seconds.push(first);
    }
    Ok((seconds, outcome))
}

/// The seconds of passes over all proxy rows with Hessians on `threads` threads, after a warm-up. Short passes are
/// repeated more often, to average out background load.
#[allow(dead_code)] // Not every example uses it.
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
    // As in a solve, all passes run inside the pool.
    let seconds = pool.install(|| {
        timed()?;
        let mut seconds = Vec::new();
        while seconds.len() < MIN_PASSES || seconds.iter().sum::<f64>() < MIN_PASSES_SECONDS {
            seconds.push(timed()?);
        }
        Ok::<_, equipoise_core::Error>(seconds)
    })?;
    Ok(seconds)
}

/// The peak resident memory of this process in bytes, `None` if the system does not report it.
#[allow(dead_code)] // Not every example uses it.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(1024 * kibibytes)
}
