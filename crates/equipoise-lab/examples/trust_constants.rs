//! How much the constants of the defense `trust` matter: `trust_constants DATA [FIRST_SEED] [SEEDS]`.
//!
//! Every constant is halved and doubled (of probabilities, the odds). For the nine cells of the paper's Table III this
//! prints in how many the mean accuracy and the mean gap still beat the paper's, the largest change of a cell's mean gap
//! and mean accuracy, and the largest mean weight of unreliable clients. DATA is the folder of the paper's datasets.
#![allow(clippy::print_stdout)]

mod models;

use std::path::PathBuf;

use equipoise_core::{
    CheckedSettings, Fairness, Metrics, Round, Rows, Settings, TrustConstants, trust_with,
};
use equipoise_lab::{
    DATASETS, Generator, Preprocessing, Scenario, ScenarioKind, ScenarioSettings, Split,
};
use models::Answer;

/// The paper's accuracy and gap at 20, 40 and 60 %.
type Paper = [(f64, f64); 3];

/// Dataset, fairness, and the paper's figures.
const CELLS: [(usize, Fairness, Paper); 3] = [
    (0, Fairness::SP, [(0.8452, 0.0369), (0.8507, 0.0382), (0.8472, 0.0403)]),
    (0, Fairness::EO, [(0.8132, 0.0120), (0.8184, 0.0174), (0.8154, 0.0255)]),
    (1, Fairness::SP, [(0.7691, 0.0519), (0.7699, 0.0530), (0.7676, 0.0442)]),
];
const RATES: [f64; 3] = [0.2, 0.4, 0.6];

fn main() -> Answer<()> {
    let mut args = std::env::args().skip(1);
    let folder = [PathBuf::from(args.next().ok_or("usage: trust_constants DATA")?)];
    let first: u64 = args.next().map_or(Ok(101), |text| text.parse())?;
    let seeds: u64 = args.next().map_or(Ok(5), |text| text.parse())?;
    let mut cells = Vec::new();
    for (dataset, fairness, paper) in CELLS {
        let rows = DATASETS[dataset].load(&folder, Preprocessing::Inferred)?;
        let mut rounds = [const { Vec::new() }; 3];
        for seed in first..first + seeds {
            let settings = ScenarioSettings {
                generator: Generator::Target,
                ..ScenarioSettings::new(ScenarioKind::Realistic, fairness, 0.0, seed)
            };
            let split = Split::new(&rows, &settings)?;
            for (rate, rounds) in RATES.into_iter().zip(&mut rounds) {
                let scenario = split.scenario(ScenarioKind::Realistic, rate, &mut |_, _| ())?;
                rounds.push(Case::new(scenario, fairness)?);
            }
        }
        cells.extend(rounds.into_iter().zip(paper));
    }
    println!(
        "{:22} {:>6} {:>10} {:>12} {:>15} {:>18}",
        "constant", "factor", "beat paper", "gap changes", "accuracy changes", "unreliable weight"
    );
    let standard = TrustConstants::default();
    let base = measure(&cells, &standard)?;
    print("none", 1.0, &base, &base, &cells);
    for (place, name) in TrustConstants::NAMES.iter().enumerate() {
        for factor in [0.5, 2.0] {
            let found = measure(&cells, &standard.scaled(place, factor))?;
            print(name, factor, &found, &base, &cells);
        }
    }
    Ok(())
}

/// A round, and how to judge a model of it.
struct Case {
    round: Round,
    test: Rows,
    scenario: Scenario,
    settings: CheckedSettings,
}

impl Case {
    fn new(scenario: Scenario, fairness: Fairness) -> Answer<Self> {
        let (round, test) = (scenario.round()?, scenario.test_rows()?);
        Ok(Self { round, test, scenario, settings: Settings::new(fairness).validate()? })
    }
}

type Cells = [(Vec<Case>, (f64, f64))];

/// Mean accuracy, gap and weight of unreliable clients, for each cell.
fn measure(cells: &Cells, constants: &TrustConstants) -> Answer<Vec<[f64; 3]>> {
    let mut means = Vec::new();
    for (cases, _) in cells {
        let mut sums = [0.0; 3];
        for case in cases {
            let (weights, theta) = trust_with(&case.round, &case.settings, constants)?;
            let metrics = Metrics::of(&theta, &case.test)?;
            let gap = metrics.gap(case.settings.fairness).map_or(f64::NAN, |gap| gap.size());
            sums[0] += metrics.accuracy.map_or(f64::NAN, |e| e.value);
            sums[1] += gap;
            sums[2] += case.scenario.unreliable_weight(&weights);
        }
        means.push(sums.map(|sum| sum / cases.len() as f64));
    }
    Ok(means)
}

fn print(name: &str, factor: f64, found: &[[f64; 3]], base: &[[f64; 3]], cells: &Cells) {
    let beats = found.iter().zip(cells).filter(|(f, (_, paper))| f[0] > paper.0 && f[1] < paper.1);
    let change = |i: usize| {
        let changes = found.iter().zip(base).map(|(f, b)| f[i] - b[i]);
        changes.fold(0.0, |most: f64, change| if change.abs() > most.abs() { change } else { most })
    };
    let unreliable = found.iter().map(|f| f[2]).fold(0.0, f64::max);
    println!(
        "{name:22} {factor:>6} {:>10} {:>+12.4} {:>+15.4} {unreliable:>18.3}",
        format!("{}/{}", beats.count(), cells.len()),
        change(1),
        change(0),
    );
}
