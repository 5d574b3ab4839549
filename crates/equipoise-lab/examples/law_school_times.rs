//! How long a solve of a Law School round takes, by profile:
//! `cargo run --release -p equipoise-lab --example law_school_times -- ../shared/data`.
#![allow(clippy::print_stdout)]

use equipoise_core::{Fairness, NoopObserver, Settings, solve};
use equipoise_lab::{DATASETS, Generator, Preprocessing, Scenario, ScenarioKind, ScenarioSettings};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "../shared/data".to_owned());
    let repeats: usize = std::env::args().nth(2).map_or(Ok(5), |argument| argument.parse())?;
    let rows = DATASETS[0].load(&[folder.into()], Preprocessing::Paper)?;
    for kind in [ScenarioKind::Realistic, ScenarioKind::Ideal] {
        for seed in 1..=2 {
            let settings = ScenarioSettings {
                generator: Generator::Adam,
                ..ScenarioSettings::new(kind, Fairness::SP, 0.6, seed)
            };
            let round = Scenario::build(&rows, &settings, &mut |_, _| {})?.round()?;
            let profiles = [
                ("paper", Settings::paper(Fairness::SP)),
                ("default", Settings::new(Fairness::SP)),
            ];
            for (name, settings) in profiles {
                let settings = settings.validate()?;
                let mut least = f64::INFINITY;
                let mut outcome = solve(&round, &settings, &mut NoopObserver)?;
                for _ in 0..repeats {
                    let start = Instant::now();
                    outcome = solve(&round, &settings, &mut NoopObserver)?;
                    least = least.min(start.elapsed().as_secs_f64());
                }
                println!(
                    "{kind:?} seed {seed} {name:8} {:8.1} ms  {:5} passes {:5} evaluations {:5} inner \
                     iterations  P {:.9}  gap {:.1e}  w {:.3?}",
                    1e3 * least,
                    outcome.counts.passes,
                    outcome.counts.evaluations,
                    outcome.counts.inner_iterations,
                    outcome.objective,
                    outcome.gap.unwrap_or(f64::NAN),
                    outcome.weights(),
                );
            }
        }
    }
    Ok(())
}
