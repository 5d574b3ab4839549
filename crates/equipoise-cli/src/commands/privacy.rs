//! `equipoise privacy`: what a proxy discloses about the people in a client's data.

mod findings;

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use equipoise_core::{
    ClientData, Closeness, Criterion, Estimate, Fairness, MembershipAttack, NoopObserver, Privacy,
    PrivacyStatement, ProxyGenerator, ProxySettings, SmallestCell, attack_membership,
    generate_proxy, measure_closeness, random_halves, smallest_cell,
};
use equipoise_data::{ProxyOrigin, Purpose, Schema, read_proxy, read_rows};
use serde::Serialize;

use crate::choice_args::choice;
use crate::delimiter_args::DelimiterArgs;
use crate::formatting::{count, table};
use crate::output::{Answer, Output};
use findings::Finding;

/// Fewest people on either side of an attack whose result means anything.
const MIN_PEOPLE: usize = 40;

/// Check what a proxy discloses about the people in your data
///
/// Looks for copies of your rows in the proxy, for rows that are close to them, and for groups and labels with few people,
/// and attacks it as someone would who wants to know whether a person is in your data. Attacks compare people in the data
/// with others. If you have a table of other people of the same population, give it with --others; otherwise, a trial proxy is
/// made of a random half of your rows and attacked, which shows what proxies of your data disclose. Nothing leaves this
/// computer. Exit code 1 means that a problem was found.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise privacy proxies/north.parquet --data north.csv --schema schema.toml")]
pub(crate) struct PrivacyArgs {
    /// The proxy to check (.csv, .csv.gz or .parquet)
    proxy: PathBuf,
    /// Table of the client's raw rows, of which the proxy was made
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    #[command(flatten)]
    delimiter: DelimiterArgs,
    /// The schema that all parties agreed on
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    /// Table of raw rows of other people, none of whom is in the data
    #[arg(long, value_name = "FILE")]
    others: Option<PathBuf>,
    /// How the trial proxy is made [default: thresholds, with the privacy that the file declares]
    #[arg(long, value_parser = choice::<ProxyGenerator>(), value_name = "NAME", conflicts_with = "others")]
    generator: Option<ProxyGenerator>,
    /// Random seed of the halves [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "others")]
    seed: Option<u64>,
}

#[derive(Serialize)]
struct Document<'a> {
    /// Whether any finding is a problem.
    problem: bool,
    findings: &'a [Finding],
    proxy_rows: usize,
    data_rows: usize,
    /// What the file promises.
    privacy: Option<&'a PrivacyStatement>,
    /// What was attacked: `proxy`, or a `trial` proxy of half of the data. `None` if there are too few people.
    attacked: Option<&'static str>,
    membership: Option<&'a [MembershipAttack]>,
    closeness: Closeness,
    smallest_cell: Option<SmallestCell>,
}

pub(crate) fn run(args: &PrivacyArgs, output: &Output) -> anyhow::Result<Answer> {
    let schema = Schema::read(&args.schema)?;
    let origin = ProxyOrigin::read(&args.proxy)?;
    origin.check_schema(&args.proxy, &schema)?;
    let proxy = read_proxy(&args.proxy, &schema)?;
    let data = read_rows(args.delimiter.of(&args.data), &schema, Purpose::Data)?;
    data.warnings.iter().for_each(|warning| output.warn(warning));
    let others = match &args.others {
        Some(path) => Some(read_rows(args.delimiter.of(path), &schema, Purpose::Data)?.rows),
        None => None,
    };
    let columns = schema.encoded_columns();
    let client = ClientData { rows: &data.rows, columns };
    let seed = args.seed.unwrap_or(1);
    let attacks = match &others {
        Some(others) if others.len() < 2 * MIN_PEOPLE || data.rows.len() < MIN_PEOPLE => None,
        Some(others) => Some(attack_membership(&proxy, &data.rows, others)?),
        None if data.rows.len() < 3 * MIN_PEOPLE => None,
        None => {
            let attacked = attack_trial(&client, &origin, args.generator, seed);
            Some(attacked.context("the trial proxy of half of the data")?)
        }
    };
    let closeness = measure_closeness(&proxy, &data.rows, seed);
    let smallest_cell = smallest_cell(&data.rows);
    let findings = findings::of(
        &closeness,
        attacks.as_deref(),
        origin.privacy.as_ref(),
        data.rows.len(),
        smallest_cell.as_ref(),
    );
    let document = Document {
        problem: findings.iter().any(|finding| finding.problem),
        findings: &findings,
        proxy_rows: proxy.len(),
        data_rows: data.rows.len(),
        privacy: origin.privacy.as_ref(),
        attacked: attacks.as_ref().map(|_| if others.is_some() { "proxy" } else { "trial" }),
        membership: attacks.as_deref(),
        closeness,
        smallest_cell,
    };
    output.result(&document, || describe(&document))?;
    Ok(Answer::holds(!document.problem))
}

/// Makes a proxy of a random half of the data and attacks it.
fn attack_trial(
    data: &ClientData<'_>,
    origin: &ProxyOrigin,
    generator: Option<ProxyGenerator>,
    seed: u64,
) -> anyhow::Result<Vec<MembershipAttack>> {
    let (members, others) = random_halves(data.rows, seed);
    let fairness = origin.fairness.unwrap_or(Fairness::from(Criterion::Sp));
    let generator = generator.unwrap_or(match origin.raw_rows {
        true => ProxyGenerator::Raw,
        false => ProxyGenerator::Thresholds,
    });
    let declared = origin.privacy.as_ref().filter(|_| generator == ProxyGenerator::Thresholds);
    let privacy = declared.map(|p| Privacy { epsilon: p.epsilon, delta: p.delta, test_seed: None });
    let settings = ProxySettings {
        generator,
        privacy,
        seed,
        closeness_rows: 0,
        ..ProxySettings::new(fairness)
    };
    let half = ClientData { rows: &members, columns: data.columns.clone() };
    let trial = generate_proxy(half, &settings, &mut NoopObserver)?;
    Ok(attack_membership(&trial.rows, &members, &others)?)
}

fn describe(document: &Document<'_>) -> String {
    let mut text = format!(
        "{} made of {}\n",
        count(document.proxy_rows, "proxy row"),
        count(document.data_rows, "data row")
    );
    if let Some(attacks) = document.membership {
        let what = match document.attacked {
            Some("proxy") => "people in the data against the others given",
            _ => "a trial proxy of half of the data: people in that half against the other half",
        };
        let share = |e: &Estimate| format!("{:.3} [{:.3}, {:.3}]", e.value, e.low, e.high);
        let rows = attacks.iter().map(|attack| {
            vec![
                format!("is someone in the data? by {}", attack.attack),
                share(&attack.auc),
                "0.5".to_owned(),
            ]
        });
        text += &format!("\nAttacked: {what}\n");
        text += &table(&["attack", "success", "without the proxy"], rows.collect(), &[]);
        text += "[ ] is a 95 % interval\n";
    }
    text += "\n";
    for finding in document.findings {
        text += &finding.describe();
    }
    text
}
