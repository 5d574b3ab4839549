//! What the defense `trust` knows, and whether it says so, round by round:
//! `trust_rounds DATA DATASET FAIRNESS RATE FIRST_SEED SEEDS [people=N] [root=SHARE] [split=sizes|shifted] [attack=NAME] [quiet]`.
//!
//! For every round: the weight of unreliable clients; the weight that `trust` itself expects on unfair clients, one
//! minus the weighted mean of the reliabilities; whether it warned that the root cannot tell, with the rows it asked
//! for; the effective number of reliable clients; the gap on the test rows, that of the pooled model, and that of the
//! mean of the reliable clients' models; and the gap of the mean model according to the root and to the clients' rows,
//! with what the test rows say about it. The last line has the means.
//!
//! “Small” is how often the root was
//! called too small to tell whether the model is fair, and “rows” the reliable clients' effective share of rows.
//!
//! DATA is the folder of the paper's datasets.
#![allow(clippy::print_stdout)]

mod models;

use std::path::PathBuf;

use equipoise_core::{
    Choice, Condition, Defense, Fairness, InnerSettings, Metrics, NoopObserver, Outcome, Round,
    Rows, Settings, TrustSummary, WarningCode, fit_logistic, solve,
};
use equipoise_lab::{
    Attack, Attackers, Distribution, Generator, Preprocessing, Scenario, ScenarioKind,
    ScenarioSettings, Sources, Split,
};
use models::{Answer, mean_model};

const SLOPE: f64 = 3.0;

fn main() -> Answer<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, dataset, fairness, rate, first, seeds, options @ ..] = arguments.as_slice() else {
        return Err(
            "usage: trust_rounds DATA DATASET FAIRNESS RATE FIRST_SEED SEEDS [OPTION…]".into()
        );
    };
    let fairness: Fairness = fairness.parse()?;
    let (rate, first, seeds): (f64, u64, u64) = (rate.parse()?, first.parse()?, seeds.parse()?);
    let option = |name: &str| {
        options
            .iter()
            .find_map(|text| text.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
    };
    let quiet = options.iter().any(|text| text == "quiet");
    let sources = Sources { data: vec![PathBuf::from(data)], schema: None, n_people: 20_000 };
    let rows = sources.load(dataset, Preprocessing::Inferred)?;
    let attack = option("attack")
        .map(|name| Attack::ALL.iter().copied().find(|a| a.name() == name).ok_or("unknown attack"))
        .transpose()?;
    let mut figures = Vec::new();
    if !quiet {
        println!("{HEADER}");
    }
    for seed in first..first + seeds {
        let standard = ScenarioSettings::new(ScenarioKind::Realistic, fairness, rate, seed);
        let settings = ScenarioSettings {
            generator: Generator::Target,
            n_people: option("people").map(|text| text.parse()).transpose()?,
            root_share: option("root").map_or(Ok(standard.root_share), |text| text.parse())?,
            distribution: match option("split").as_deref() {
                None => Distribution::Even,
                Some("sizes") => Distribution::Sizes,
                Some("shifted") => Distribution::Shifted,
                Some(other) => return Err(format!("unknown split `{other}`").into()),
            },
            ..standard
        };
        let split = Split::new(&rows, &settings)?;
        let mut scenario = split.scenario(settings.kind, rate, &mut |_, _| ())?;
        if let Some(attack) = attack {
            let honest = split.honest_proxies(rate)?;
            let lambda = settings.lambda;
            scenario = attack.apply(&Attackers {
                scenario: &scenario,
                honest: &honest,
                fairness,
                lambda,
                seed,
            })?;
        }
        let found = match measure(&scenario, fairness) {
            Ok(found) => found,
            Err(problem) => {
                println!("{seed:>5} cannot be run: {problem}");
                continue;
            }
        };
        if !quiet {
            println!("{:>5} {}", seed, found.line());
        }
        figures.push(found);
    }
    if figures.is_empty() {
        return Err("no round could be run".into());
    }
    println!("{HEADER}\n mean {}", Figures::mean(&figures).line());
    Ok(())
}

const HEADER: &str = " seed  unrel. expect. warned    N  effective |    gap  pooled  bound | level: \
                      root (error)    rows (error)    test  biased   bias |  soft: root    test   shift: rows    test | small  rows";

#[derive(Clone, Default)]
struct Figures {
    values: Vec<f64>,
}

impl Figures {
    fn mean(all: &[Self]) -> Self {
        let n = all[0].values.len();
        let mean = |j: usize| {
            let known: Vec<f64> =
                all.iter().map(|f| f.values[j]).filter(|value| value.is_finite()).collect();
            known.iter().sum::<f64>() / known.len() as f64
        };
        Self { values: (0..n).map(mean).collect() }
    }

    fn line(&self) -> String {
        let v = &self.values;
        format!(
            "{:7.3} {:7.3} {:6.2} {:5.0} {:9.2}  | {:6.3} {:7.3} {:6.3} | {:12.3} {:6.3} {:8.3} {:6.3} {:7.3} {:7.2} \
             {:6.3} | {:11.3} {:7.3} {:13.3} {:7.3} | {:5.2} {:6.2}",
            v[0],
            v[1],
            v[2],
            v[3],
            v[4],
            v[5],
            v[6],
            v[7],
            v[8],
            v[9],
            v[10],
            v[11],
            v[12],
            v[13],
            v[14],
            v[15],
            v[16],
            v[17],
            v[18],
            v[19],
            v[20]
        )
    }
}

fn measure(scenario: &Scenario, fairness: Fairness) -> Answer<Figures> {
    let (round, test) = (scenario.round()?, scenario.test_rows()?);
    let outcome = run(&round, fairness, Defense::Trust)?;
    let pooled = run(&round, fairness, Defense::Pooled)?;
    let weights = outcome.weights();
    let lambda = Settings::new(fairness).lambda;
    let inner = InnerSettings::default();
    let models = scenario.clients.iter().map(|client| fit_logistic(&client.proxy, lambda, &inner));
    let models = models.collect::<Result<Vec<_>, _>>()?;
    let kinds = || scenario.clients.iter().zip(&models);
    let reliable: Vec<Vec<f64>> =
        kinds().filter(|(client, _)| client.reliable).map(|(_, model)| model.clone()).collect();
    let of_reliable = || {
        let pairs = scenario.clients.iter().zip(&weights);
        pairs.filter(|(client, _)| client.reliable).map(|(_, w)| *w)
    };
    let squares: f64 = of_reliable().map(|w| w * w).sum();
    let reliabilities = outcome.clients.iter().map(|client| client.trust.as_ref());
    let trusted: f64 =
        reliabilities.zip(&weights).filter_map(|(trust, w)| Some(trust?.reliability * w)).sum();
    let summary: &TrustSummary = outcome.trust.as_ref().ok_or("no trust")?;
    let warned = outcome.warnings.iter().any(|warning| warning.code == WarningCode::CannotTell);
    let too_small =
        f64::from(u8::from(outcome.warnings.iter().any(|w| w.code == WarningCode::RootTooSmall)));
    let sizes = scenario.clients.iter().zip(&weights).filter(|(client, _)| client.reliable);
    let (mut rows, mut squares_by_row) = (0.0, 0.0);
    for (client, w) in sizes {
        rows += client.proxy.len() as f64;
        squares_by_row += w * w / client.proxy.len() as f64;
    }
    let effective_rows = of_reliable().sum::<f64>().powi(2) / squares_by_row / rows;
    let axis = summary.axes.first().ok_or("no axis")?;
    let condition = fairness.conditions().next().map_or(Condition::All, |(c, _)| c);
    let level = |rows: &Rows, slope: f64| mean_level(&models, rows, condition, slope);
    let all_root = round.root().all_rows()?;
    let soft_root = level(&all_root, 1.0);
    let (soft_test, steep_test) = (level(&test, 1.0), level(&test, SLOPE));
    let bound =
        if reliable.is_empty() { f64::NAN } else { gap(&mean_model(&reliable), &test, fairness)? };
    Ok(Figures {
        values: vec![
            scenario.unreliable_weight(&weights),
            1.0 - trusted,
            f64::from(u8::from(warned)),
            summary.rows_needed.map_or(f64::NAN, |rows| rows as f64),
            of_reliable().sum::<f64>().powi(2) / squares,
            gap(&outcome.theta, &test, fairness)?,
            gap(&pooled.theta, &test, fairness)?,
            bound,
            axis.root_gap,
            axis.root_error,
            axis.rows_gap,
            axis.rows_error,
            steep_test,
            axis.biased_probability,
            axis.bias,
            soft_root,
            soft_test,
            axis.root_gap - soft_root,
            steep_test - soft_test,
            too_small,
            effective_rows,
        ],
    })
}

/// The mean over models of the difference of soft rates between group 1 and group 0, with this slope.
fn mean_level(models: &[Vec<f64>], rows: &Rows, condition: Condition, slope: f64) -> f64 {
    let rate = |theta: &[f64], group: usize| {
        let counted = (0..rows.len())
            .filter(|&i| rows.group(i) == group && condition.includes(rows.is_positive(i)));
        let decisions: Vec<f64> = counted
            .map(|i| {
                let score: f64 = rows.a(i).iter().zip(theta).map(|(a, t)| a * t).sum();
                1.0 / (1.0 + (-slope * score).exp())
            })
            .collect();
        decisions.iter().sum::<f64>() / decisions.len() as f64
    };
    models.iter().map(|theta| rate(theta, 1) - rate(theta, 0)).sum::<f64>() / models.len() as f64
}

fn run(round: &Round, fairness: Fairness, defense: Defense) -> Answer<Outcome> {
    let settings = Settings { defense, ..Settings::new(fairness) };
    Ok(solve(round, &settings.validate()?, &mut NoopObserver)?)
}

fn gap(theta: &[f64], test: &Rows, fairness: Fairness) -> Answer<f64> {
    Ok(Metrics::of(theta, test)?.gap(fairness).map_or(f64::NAN, |gap| gap.size()))
}
