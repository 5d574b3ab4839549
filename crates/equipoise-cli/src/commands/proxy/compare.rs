//! `equipoise proxy --compare`: what each generator would make of a client's data.

mod page;

use std::path::Path;
use std::time::Instant;

use anyhow::ensure;
use equipoise_core::{
    Choice, ClientData, Closeness, EncodedColumns, Error, Estimate, Fairness, MembershipAttack,
    Metrics, Privacy, ProxyGenerator, ProxySettings, Rows, attack_proxy,
    check_fairness_is_measurable, generate_proxy, random_halves,
};
use equipoise_data::{Purpose, Schema, check_output, read_rows, write_atomically};
use serde::Serialize;

use super::{ProxyArgs, warnings_about};
use crate::files::refuse_input_as_output;
use crate::formatting::{count, number, rate, table};
use crate::output::{Answer, Output};
use crate::progress::Bar;

/// ε of the private proxies in the comparison.
const EPSILONS: [f64; 2] = [3.0, 1.0];
/// ε of the curve that shows what privacy costs.
const CURVE: [f64; 7] = [0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0];
/// Proxies for each point of the curve, so that it shows the cost of noise and not its luck. Large tables have little luck.
const RUNS: u64 = 5;
const MANY_ROWS: usize = 50_000;

/// The generators on one client's data.
#[derive(Debug, Serialize)]
struct Comparison<'a> {
    path: &'a Path,
    /// Rows of the data.
    data_rows: usize,
    fairness: Fairness,
    /// Of a model of the data itself.
    data_model: Quality,
    generators: Vec<Line>,
    /// What differential privacy costs the default generator. Empty if no private proxy can be made.
    privacy_curve: Vec<CurvePoint>,
}

/// The mean quality of private proxies.
#[derive(Debug, Serialize)]
struct CurvePoint {
    dp_epsilon: f64,
    #[serde(flatten)]
    quality: Quality,
}

/// Accuracy and the size of the worst gap of a model, on the client's data.
#[derive(Debug, Clone, Copy, Serialize)]
struct Quality {
    accuracy: Option<f64>,
    gap: Option<f64>,
}

/// One generator: either `made` or `error`.
#[derive(Debug, Serialize)]
struct Line {
    generator: ProxyGenerator,
    /// ε, if the proxy is differentially private.
    dp_epsilon: Option<f64>,
    #[serde(flatten)]
    made: Option<Made>,
    error: Option<String>,
}

#[derive(Debug, Serialize)]
struct Made {
    #[serde(flatten)]
    quality: Quality,
    rows: usize,
    closeness: Closeness,
    /// Attacks on a proxy of a random half of the data. None if no proxy can be made of so few rows.
    membership: Vec<MembershipAttack>,
    /// To make the proxy of all data.
    seconds: f64,
}

impl Made {
    /// The AUC of the attack that succeeds best.
    fn membership_auc(&self) -> Option<Estimate> {
        self.membership.iter().map(|attack| attack.auc).max_by(|a, b| a.value.total_cmp(&b.value))
    }
}

impl Line {
    fn name(&self) -> String {
        let name = self.generator.name();
        self.dp_epsilon.map_or(name.to_owned(), |epsilon| format!("{name}, ε = {epsilon}"))
    }
}

pub(super) fn run(
    args: &ProxyArgs,
    settings: &ProxySettings,
    output: &Output,
) -> anyhow::Result<Answer> {
    let is_page = args.output.extension().is_some_and(|extension| extension == "html");
    ensure!(is_page, "--compare writes a page: {} must end in .html", args.output.display());
    check_output(&args.output, args.force)?;
    refuse_input_as_output(&args.output, &[&args.data, &args.schema])?;
    let schema = Schema::read(&args.schema)?;
    let data = read_rows(args.delimiter.of(&args.data), &schema, Purpose::Data)?;
    warnings_about(&data, settings).iter().for_each(|warning| output.warn(warning));
    check_fairness_is_measurable(&data.rows, settings.fairness)?;

    let halves = random_halves(&data.rows, settings.seed);
    let columns = schema.encoded_columns();
    let lines = candidates(settings).into_iter().map(|settings| {
        let made = measure(&data.rows, &halves, &columns, &settings, output);
        let (made, error) = match made {
            Ok(made) => (Some(made), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let dp_epsilon = settings.privacy.map(|privacy| privacy.epsilon);
        Line { generator: settings.generator, dp_epsilon, made, error }
    });
    let generators: Vec<Line> = lines.collect();
    let own = ProxySettings { generator: ProxyGenerator::Raw, closeness_rows: 0, ..*settings };
    let own = generate_proxy(&data.rows, &own, &mut Bar::new(output))?.summary.theta;
    let comparison = Comparison {
        path: &args.output,
        data_rows: data.rows.len(),
        fairness: settings.fairness,
        data_model: quality(&own, &data.rows, settings.fairness)?,
        generators,
        privacy_curve: privacy_curve(&data.rows, &columns, settings, output),
    };
    let html = page::page(&comparison).render();
    write_atomically(&args.output, args.force, |out| out.write_all(html.as_bytes()))?;
    output.note(format!("wrote {}", args.output.display()));
    output.result(&comparison, || comparison.describe())
}

/// The settings of each line: every generator, and the default one with differential privacy.
fn candidates(settings: &ProxySettings) -> Vec<ProxySettings> {
    let plain =
        ProxyGenerator::ALL.iter().map(|&generator| ProxySettings { generator, ..*settings });
    // The private proxies are thrown away, so their noise may be repeatable.
    let private = EPSILONS.into_iter().map(|epsilon| ProxySettings {
        generator: ProxyGenerator::Thresholds,
        privacy: Some(Privacy { epsilon, delta: Privacy::DELTA, test_seed: Some(settings.seed) }),
        ..*settings
    });
    plain.chain(private).collect()
}

fn measure(
    data: &Rows,
    halves: &(Rows, Rows),
    columns: &EncodedColumns,
    settings: &ProxySettings,
    output: &Output,
) -> Result<Made, Error> {
    let make = |rows, settings: &ProxySettings| {
        let data = ClientData { rows, columns: columns.clone() };
        generate_proxy(data, settings, &mut Bar::new(output))
    };
    let start = Instant::now();
    let whole = make(data, settings)?;
    let seconds = start.elapsed().as_secs_f64();
    let (members, others) = halves;
    let half = make(members, &ProxySettings { closeness_rows: 0, ..*settings });
    Ok(Made {
        quality: quality(&whole.summary.theta, data, settings.fairness)?,
        rows: whole.rows.len(),
        closeness: whole.summary.closeness,
        membership: match half {
            Ok(half) => attack_proxy(&half.rows, members, others)?.membership,
            Err(_) => Vec::new(),
        },
        seconds,
    })
}

/// Accuracy and gap over ε.
fn privacy_curve(
    data: &Rows,
    columns: &EncodedColumns,
    settings: &ProxySettings,
    output: &Output,
) -> Vec<CurvePoint> {
    let runs = if data.len() > MANY_ROWS { 1 } else { RUNS };
    let mut bar = Bar::new(output);
    let point = |epsilon: f64| -> Option<CurvePoint> {
        let (mut accuracy, mut gap) = (0.0, 0.0);
        for run in 0..runs {
            let test_seed = Some(settings.seed.wrapping_add(run));
            let privacy = Some(Privacy { epsilon, delta: Privacy::DELTA, test_seed });
            let generator = ProxyGenerator::Thresholds;
            let own = ProxySettings { privacy, generator, closeness_rows: 0, ..*settings };
            let data_and_columns = ClientData { rows: data, columns: columns.clone() };
            let theta = generate_proxy(data_and_columns, &own, &mut bar).ok()?.summary.theta;
            let found = quality(&theta, data, settings.fairness).ok()?;
            accuracy += found.accuracy? / runs as f64;
            gap += found.gap? / runs as f64;
        }
        let quality = Quality { accuracy: Some(accuracy), gap: Some(gap) };
        Some(CurvePoint { dp_epsilon: epsilon, quality })
    };
    CURVE.into_iter().filter_map(point).collect()
}

fn quality(theta: &[f64], data: &Rows, fairness: Fairness) -> Result<Quality, Error> {
    let metrics = Metrics::of(theta, data)?;
    Ok(Quality {
        accuracy: metrics.accuracy.map(|accuracy| accuracy.value),
        gap: metrics.gap(fairness).map(|gap| gap.size()),
    })
}

impl Comparison<'_> {
    fn describe(&self) -> String {
        let made = |line: &Line, made: &Made| {
            vec![
                line.name(),
                rate(made.quality.accuracy),
                rate(made.quality.gap),
                made.rows.to_string(),
                number(made.closeness.proxy_to_data.median),
                made.closeness.copies.to_string(),
                rate(made.membership_auc().map(|auc| auc.value)),
                format!("{:.1} s", made.seconds),
            ]
        };
        let failed = |line: &Line| {
            let mut row = vec![line.name(), "failed".to_owned()];
            row.resize(8, String::new());
            row
        };
        let lines = self.generators.iter();
        let rows = lines
            .clone()
            .map(|line| line.made.as_ref().map_or_else(|| failed(line), |m| made(line, m)));
        let table = table(
            &["generator", "accuracy", "gap", "rows", "distance", "copies", "membership", "time"],
            rows.collect(),
            &[1, 2, 3, 4, 5, 6, 7],
        );
        let failures: String = lines
            .filter_map(|line| Some(format!("{} failed: {}\n", line.name(), line.error.as_ref()?)))
            .collect();
        let between = self.generators.iter().find_map(|line| line.made.as_ref());
        format!(
            "{} for {}; a model of the data itself has accuracy {} and gap {}\n\n{table}{failures}\n{}",
            count(self.data_rows, "row"),
            self.fairness,
            rate(self.data_model.accuracy),
            rate(self.data_model.gap),
            explanation(between.map(|made| made.closeness.data_to_data.median)),
        )
    }
}

/// What the columns mean.
fn explanation(between_rows: Option<f64>) -> String {
    format!(
        "Accuracy and gap: of the model fitted to the proxy, on your data.\n\
         Distance: from a proxy row to the most similar row of your data, median; between rows of your data it is {}.\n\
         Copies: proxy rows among those measured that equal a row of your data.\n\
         Membership: how well the better of two attacks tells people in the data from others (AUC); 0.5 is a guess, 1 is certainty.\n",
        between_rows.map_or_else(|| "unknown".to_owned(), number),
    )
}
