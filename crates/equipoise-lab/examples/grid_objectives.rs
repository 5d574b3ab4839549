//! Gauss–Newton against the paper's Adam on every round of the paper's grid: `grid_objectives [DATA [SEEDS]]`.
//!
//! Both solve the same 90 rounds: 18 scenarios with 5 seeds, or SEEDS seeds. `objective_at` evaluates `P` at their final
//! weights, with the model refitted to the limit of floating-point precision, because Adam reports `P` at a model fitted
//! only to the paper's inner tolerance. Prints a JSON document per round, then a summary.
#![allow(clippy::print_stdout)]

use std::error::Error;

use equipoise_core::{Fairness, NoopObserver, Round, Settings, objective_at, solve};
use equipoise_lab::{DATASETS, Generator, Preprocessing, ScenarioKind, ScenarioSettings, Split};

/// Datasets and fairness criteria. The paper does not use equal opportunity on Dutch.
const PARTS: [(usize, Fairness); 3] = [(0, Fairness::SP), (0, Fairness::EO), (1, Fairness::SP)];
const KINDS: [ScenarioKind; 2] = [ScenarioKind::Realistic, ScenarioKind::Ideal];
const SHARES: [f64; 3] = [0.2, 0.4, 0.6];
/// Objectives that differ by less count as equal.
const TOLERANCE: f64 = 1e-6;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "../shared/data".to_owned());
    let seeds: u64 = std::env::args().nth(2).map_or(Ok(5), |seeds| seeds.parse())?;
    let mut excesses = Vec::new();
    for (dataset, fairness) in PARTS {
        let rows = DATASETS[dataset].load(&[folder.clone().into()], Preprocessing::Paper)?;
        for seed in 1..=seeds {
            let settings = ScenarioSettings {
                generator: Generator::Adam,
                ..ScenarioSettings::new(KINDS[0], fairness, SHARES[0], seed)
            };
            let split = Split::new(&rows, &settings)?;
            for (kind, share) in
                KINDS.into_iter().flat_map(|kind| SHARES.map(|share| (kind, share)))
            {
                let round = split.scenario(kind, share, &mut |_, _| {})?.round()?;
                let adam = final_objectives(&round, Settings::paper(fairness))?;
                let gauss_newton = final_objectives(&round, Settings::bilevel(fairness))?;
                let excess = gauss_newton.0 - adam.0;
                excesses.push(excess);
                let line = serde_json::json!({
                    "dataset": DATASETS[dataset].name,
                    "fairness": fairness.criterion(),
                    "scenario": kind,
                    "unreliable": share,
                    "seed": seed,
                    "adam": adam.0,
                    "adam_reported": adam.1,
                    "gauss_newton": gauss_newton.0,
                    "excess": excess,
                });
                println!("{line}");
            }
        }
    }
    let count = |is: fn(f64) -> bool| excesses.iter().filter(|excess| is(**excess)).count();
    let summary = serde_json::json!({
        "rounds": excesses.len(),
        "lower_by_more": count(|excess| excess < -TOLERANCE),
        "same": count(|excess| excess.abs() <= TOLERANCE),
        "higher_by_more": count(|excess| excess > TOLERANCE),
        "largest_excess": excesses.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    });
    println!("{summary}");
    Ok(())
}

/// `P` at the final weights of a solve: evaluated with a refitted model, and as reported.
fn final_objectives(round: &Round, settings: Settings) -> Result<(f64, f64), Box<dyn Error>> {
    let settings = settings.validate()?;
    let outcome = solve(round, &settings, &mut NoopObserver)?;
    Ok((objective_at(round, &settings, &outcome.weights())?, outcome.objective))
}
