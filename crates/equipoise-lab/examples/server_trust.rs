//! What the server makes of the clients' proxies: `server_trust DATA [FIRST_SEED] [SEEDS] [NAME] [GENERATOR]`.
//!
//! For the nine cells of the paper, four groups and blind models, this averages over seeds:
//!
//! - `trust`: the model of the defense `trust`;
//! - `bound`: the mean of the reliable clients' models, which nobody knows in practice;
//! - `pooled`: the gap of the model of all proxies together;
//! - the weight of unreliable clients, the effective number of reliable ones as a share of their number, how often the
//!   worst gap is at most half of pooled's, and how often the trust was undecided.
//!
//! DATA is the folder of the paper's datasets. NAME selects the lines that contain it. GENERATOR is `target` (the default)
//! or `smoothed`.
#![allow(clippy::print_stdout)]

mod models;

use std::path::PathBuf;

use equipoise_core::{
    Defense, Fairness, Metrics, NoopObserver, Outcome, Round, Rows, Settings, solve,
};
use equipoise_lab::{
    DATASETS, Generator, GroupView, Preprocessing, Scenario, ScenarioKind, ScenarioSettings, Split,
};
use models::{Answer, mean_model};

const RATES: [f64; 4] = [0.0, 0.2, 0.4, 0.6];

fn main() -> Answer<()> {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().ok_or("usage: server_trust DATA [FIRST_SEED] [SEEDS]")?);
    let first: u64 = args.next().map_or(Ok(101), |text| text.parse())?;
    let seeds: u64 = args.next().map_or(Ok(5), |text| text.parse())?;
    let only = args.next().unwrap_or_default();
    let generator = match args.next().as_deref() {
        None | Some("target") => Generator::Target,
        Some("smoothed") => Generator::Smoothed,
        Some(other) => return Err(format!("there is no generator `{other}`").into()),
    };
    println!(
        "{:36} {:>19} {:>19} {:>7} {:>6} {:>6} {:>6} {:>9}",
        "accuracy / balanced / worst gap",
        "trust",
        "bound",
        "pooled",
        "unrel.",
        "eff.",
        "halved",
        "undecided"
    );
    for (table, fairness) in [(0, "sp"), (0, "eo"), (1, "sp"), (1, "eo")] {
        for view in GroupView::ALL {
            let name = format!("{} {fairness}, {}", DATASETS[table].title, view.title());
            if !name.contains(&only) {
                continue;
            }
            let folder = [folder.clone()];
            let rows = DATASETS[table].load_view(&folder, Preprocessing::OneHot, view)?;
            let fairness: Fairness = fairness.parse()?;
            let mut figures = vec![Vec::new(); RATES.len()];
            for seed in first..first + seeds {
                let settings = ScenarioSettings {
                    generator,
                    ..ScenarioSettings::new(ScenarioKind::Realistic, fairness, 0.0, seed)
                };
                let split = Split::new(&rows, &settings)?;
                for (rate, figures) in RATES.into_iter().zip(&mut figures) {
                    let kind = ScenarioKind::Realistic;
                    figures.push(measure(&split.scenario(kind, rate, &mut |_, _| ())?, fairness)?);
                }
            }
            for (rate, figures) in RATES.iter().zip(&figures) {
                println!("{:36} {}", format!("{name}, {rate}"), line(figures));
            }
        }
    }
    Ok(())
}

#[derive(Clone)]
struct Figures {
    /// Accuracy, balanced accuracy and worst gap.
    trust: [f64; 3],
    bound: [f64; 3],
    pooled_gap: f64,
    unreliable_weight: f64,
    effective_share: f64,
    decided: bool,
}

fn measure(scenario: &Scenario, fairness: Fairness) -> Answer<Figures> {
    let round = scenario.round()?;
    let test = scenario.test_rows()?;
    let outcome = run(&round, fairness, Defense::Trust)?;
    let weights = outcome.weights();
    let reliable: Vec<usize> =
        (0..weights.len()).filter(|&c| scenario.clients[c].reliable).collect();
    let settings = Settings::new(fairness);
    let models = reliable
        .iter()
        .map(|&c| {
            let proxy = &scenario.clients[c].proxy;
            equipoise_core::fit_logistic(proxy, settings.lambda, &settings.inner)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let sum: f64 = reliable.iter().map(|&c| weights[c]).sum();
    let squares: f64 = reliable.iter().map(|&c| weights[c] * weights[c]).sum();
    Ok(Figures {
        trust: figures(&outcome.theta, &test, fairness)?,
        bound: figures(&mean_model(&models), &test, fairness)?,
        pooled_gap: figures(&run(&round, fairness, Defense::Pooled)?.theta, &test, fairness)?[2],
        unreliable_weight: scenario.unreliable_weight(&weights),
        effective_share: sum * sum / squares / reliable.len() as f64,
        decided: outcome.trust.is_some_and(|trust| trust.decided),
    })
}

fn run(round: &Round, fairness: Fairness, defense: Defense) -> Answer<Outcome> {
    let settings = Settings { defense, ..Settings::new(fairness) };
    Ok(solve(round, &settings.validate()?, &mut NoopObserver)?)
}

fn figures(theta: &[f64], test: &Rows, fairness: Fairness) -> Answer<[f64; 3]> {
    let metrics = Metrics::of(theta, test)?;
    let value = |figure: Option<equipoise_core::Estimate>| figure.map_or(f64::NAN, |e| e.value);
    let gap = metrics.gap(fairness).map_or(f64::NAN, |gap| gap.size());
    Ok([value(metrics.accuracy), value(metrics.balanced_accuracy), gap])
}

fn line(figures: &[Figures]) -> String {
    let n = figures.len() as f64;
    let mean = |of: &dyn Fn(&Figures) -> f64| figures.iter().map(of).sum::<f64>() / n;
    let count = |of: fn(&Figures) -> bool| figures.iter().filter(|f| of(f)).count();
    let three = |of: fn(&Figures) -> [f64; 3]| {
        let [accuracy, balanced, gap] = [0, 1, 2].map(|i| mean(&|f| of(f)[i]));
        format!("{:6.2}/{:5.2}/{gap:.4}", 100.0 * accuracy, 100.0 * balanced)
    };
    format!(
        "{:>19} {:>19} {:7.4} {:6.3} {:6.3} {:>6} {:>9}",
        three(|f| f.trust),
        three(|f| f.bound),
        mean(&|f| f.pooled_gap),
        mean(&|f| f.unreliable_weight),
        mean(&|f| f.effective_share),
        format!("{}/{n}", count(|f| f.trust[2] <= 0.5 * f.pooled_gap)),
        format!("{}/{n}", count(|f| !f.decided)),
    )
}
