//! What each attack does to the server's model: `attacked_rounds DATA [FIRST_SEED] [SEEDS] [RATE] [NAME] [FAIRNESS]`.
//!
//! For Law School and Dutch, prints the mean accuracy and gap over the seeds, on the test rows of the reliable
//! clients, of three models: that of `trust`, that of all proxies pooled, and the mean of the truly reliable clients'
//! models. The last column is the weight that `trust` gives to unreliable clients.
//!
//! DATA is the folder of the paper's datasets. RATE is the share of unreliable clients, 0.4 if not given. NAME selects
//! the attacks that contain it. FAIRNESS is `sp` if not given.
#![allow(clippy::print_stdout)]

mod models;

use std::path::PathBuf;
use std::time::Instant;

use equipoise_core::{
    Choice, Defense, Fairness, InnerSettings, Metrics, NoopObserver, Round, Rows, Settings,
    fit_logistic, solve,
};
use equipoise_lab::{
    Attack, Attackers, DATASETS, Generator, Preprocessing, Scenario, ScenarioKind,
    ScenarioSettings, Split,
};
use models::{Answer, mean_model};

fn main() -> Answer<()> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: attacked_rounds DATA [FIRST_SEED] [SEEDS] [RATE] [NAME] [FAIRNESS]";
    let folder = [PathBuf::from(args.next().ok_or(usage)?)];
    let first: u64 = args.next().map_or(Ok(1), |text| text.parse())?;
    let seeds: u64 = args.next().map_or(Ok(3), |text| text.parse())?;
    let rate: f64 = args.next().map_or(Ok(0.4), |text| text.parse())?;
    let name = args.next().unwrap_or_default();
    let attacks: Vec<Attack> =
        Attack::ALL.iter().copied().filter(|attack| attack.name().contains(&name)).collect();
    let fairness: Fairness = args.next().as_deref().unwrap_or("sp").parse()?;
    for dataset in DATASETS {
        let rows = dataset.load(&folder, Preprocessing::OneHot)?;
        let mut figures = vec![Vec::new(); attacks.len()];
        for seed in first..first + seeds {
            let settings = ScenarioSettings {
                generator: Generator::Target,
                ..ScenarioSettings::new(ScenarioKind::Realistic, fairness, rate, seed)
            };
            let split = Split::new(&rows, &settings)?;
            let scenario = split.scenario(settings.kind, rate, &mut |_, _| ())?;
            let honest = split.honest_proxies(rate)?;
            let attackers = Attackers {
                scenario: &scenario,
                honest: &honest,
                fairness,
                lambda: settings.lambda,
                seed,
            };
            for (attack, figures) in attacks.iter().zip(&mut figures) {
                let start = Instant::now();
                let attacked = attack.apply(&attackers)?;
                let seconds = start.elapsed().as_secs_f64();
                figures.push(measure(&attacked, fairness, seconds)?);
            }
        }
        println!("{} {}, {rate} unreliable: accuracy / gap", dataset.title, fairness.name());
        println!(
            "{:22} {:>12} {:>12} {:>12} {:>7} {:>8}",
            "", "trust", "pooled", "reliable", "unrel.", "seconds"
        );
        for (attack, figures) in attacks.iter().zip(&figures) {
            println!("{:22} {}", attack.name(), line(figures));
        }
    }
    Ok(())
}

#[derive(Clone)]
struct Figures {
    /// Accuracy and gap.
    trust: [f64; 2],
    pooled: [f64; 2],
    reliable: [f64; 2],
    unreliable_weight: f64,
    seconds: f64,
}

fn measure(scenario: &Scenario, fairness: Fairness, seconds: f64) -> Answer<Figures> {
    let (round, test) = (scenario.round()?, scenario.test_rows()?);
    let lambda = Settings::new(fairness).lambda;
    let reliable = scenario.clients.iter().filter(|client| client.reliable);
    let models = reliable
        .map(|client| fit_logistic(&client.proxy, lambda, &InnerSettings::default()))
        .collect::<Result<Vec<_>, _>>()?;
    let reliable = match models.is_empty() {
        true => [f64::NAN; 2],
        false => figures(&mean_model(&models), &test, fairness)?,
    };
    let (trust, weights) = run(&round, fairness, Defense::Trust)?;
    Ok(Figures {
        trust: figures(&trust, &test, fairness)?,
        pooled: figures(&run(&round, fairness, Defense::Pooled)?.0, &test, fairness)?,
        reliable,
        unreliable_weight: scenario.unreliable_weight(&weights),
        seconds,
    })
}

fn run(round: &Round, fairness: Fairness, defense: Defense) -> Answer<(Vec<f64>, Vec<f64>)> {
    let settings = Settings { defense, ..Settings::new(fairness) };
    let outcome = solve(round, &settings.validate()?, &mut NoopObserver)?;
    let weights = outcome.weights();
    Ok((outcome.theta, weights))
}

fn figures(theta: &[f64], test: &Rows, fairness: Fairness) -> Answer<[f64; 2]> {
    let metrics = Metrics::of(theta, test)?;
    let gap = metrics.gap(fairness).map_or(f64::NAN, |gap| gap.size());
    Ok([metrics.accuracy.map_or(f64::NAN, |accuracy| accuracy.value), gap])
}

fn line(figures: &[Figures]) -> String {
    let mean =
        |of: &dyn Fn(&Figures) -> f64| figures.iter().map(of).sum::<f64>() / figures.len() as f64;
    let two = |of: fn(&Figures) -> [f64; 2]| {
        format!("{:5.2}/{:.4}", 100.0 * mean(&|f| of(f)[0]), mean(&|f| of(f)[1]))
    };
    format!(
        "{:>12} {:>12} {:>12} {:7.3} {:8.2}",
        two(|f| f.trust),
        two(|f| f.pooled),
        two(|f| f.reliable),
        mean(&|f| f.unreliable_weight),
        mean(&|f| f.seconds),
    )
}
