//! Solves a saved problem and measures the time:
//! `solve_problem FILE PROFILE REPEATS BUDGET THREADS [STEPS]`.
//!
//! FILE is the header that `save_problem` wrote, PROFILE is `paper` (Adam), `bilevel` (Gauss–Newton) or `trust`. STEPS replaces the
//! 2000 steps of the profile `paper`, and the schedule of ρ scales with it. No repeat starts after BUDGET seconds. Prints a
//! JSON document. Reading the file is not timed, and preparing the round is timed separately.
#![allow(clippy::print_stdout)]

mod measuring;
mod problem_file;

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use equipoise_core::{Outcome, Round, Settings};
use measuring::{Repeats, peak_memory, repeat_solve};
use problem_file::Header;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, profile, repeats, budget, threads, steps @ ..] = arguments.as_slice() else {
        return Err("usage: solve_problem FILE PROFILE REPEATS BUDGET THREADS [STEPS]".into());
    };
    let repeats = Repeats { max: repeats.parse()?, budget: budget.parse()? };
    let threads = threads.parse()?;
    let (header, clients) = Header::load(Path::new(file))?;
    let mut settings = match profile.as_str() {
        "paper" => Settings::paper(header.fairness),
        "bilevel" => Settings::bilevel(header.fairness),
        "trust" => Settings::new(header.fairness),
        other => return Err(format!("unknown profile: {other}").into()),
    };
    settings.lambda = header.lambda;
    if let ("paper", [steps]) = (profile.as_str(), steps) {
        shorten(&mut settings, steps.parse()?);
    }
    let started = Instant::now();
    let round = Round::new(clients)?;
    let prepare_seconds = started.elapsed().as_secs_f64();
    let (seconds, outcome) = repeat_solve(&round, &settings.validate()?, repeats, threads)?;
    let answer = serde_json::json!({
        "solver": profile,
        "problem": header.name,
        "threads": threads,
        "steps": outcome.trace.len(),
        "seconds": seconds,
        "prepare_seconds": prepare_seconds,
        "own_objective": outcome.objective,
        "rho": outcome.rho,
        "path": trajectory(&outcome),
        "termination": outcome.termination,
        "gap": outcome.gap,
        "counts": outcome.counts,
        "peak_bytes": peak_memory(),
    });
    println!("{answer}");
    Ok(())
}

/// Reduces the number of steps, but keeps the values of ρ.
fn shorten(settings: &mut Settings, steps: usize) {
    let outer = &mut settings.outer;
    outer.rho.every = (outer.rho.every * steps / outer.iterations).max(1);
    outer.iterations = steps;
}

/// The weights at the start of each step and at the end.
fn trajectory(outcome: &Outcome) -> Vec<Vec<f64>> {
    let steps = outcome.trace.iter().map(|point| point.weights.clone());
    steps.chain([outcome.weights()]).collect()
}
