//! `equipoise check`: tests whether a proxy is fair on the data it was generated from.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use equipoise_core::{
    FairProxyTest, Fairness, Separation, check_fairness_is_measurable, test_fair_proxy,
};
use equipoise_data::{Purpose, Schema, read_proxy, read_rows};
use serde::Serialize;

use crate::commands::setting::name_the_option;
use crate::fairness_args::FairnessArgs;
use crate::formatting::{count, number};
use crate::output::{Answer, Output};

/// Check whether a proxy is fair on a client's data
///
/// Fits an unregularised model to the proxy alone and measures its fairness violation on the data (Definition 1 of the
/// paper). A proxy whose labels are linearly separable has no such model and is not fair. Exit code 1 means "not fair".
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise check proxies/north.parquet --data north.csv --schema schema.toml \\
      --fairness sp --epsilon 0.01")]
pub(crate) struct CheckArgs {
    /// The proxy to check (.csv, .csv.gz or .parquet)
    proxy: PathBuf,
    /// Table of the client's raw rows
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// The schema that all parties agreed on
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    #[command(flatten)]
    fairness: FairnessArgs,
    /// Maximum fairness violation to accept
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    epsilon: f64,
}

#[derive(Serialize)]
struct Document<'a> {
    proxy_rows: usize,
    data_rows: usize,
    #[serde(flatten)]
    test: &'a FairProxyTest,
}

pub(crate) fn run(args: &CheckArgs, output: &Output) -> anyhow::Result<Answer> {
    let fairness = args.fairness.fairness;
    let schema = Schema::read(&args.schema)?;
    let proxy = read_proxy(&args.proxy, &schema)?;
    let data = read_rows(&args.data, &schema, Purpose::Data)?;
    check_fairness_is_measurable(&data.rows, fairness)
        .with_context(|| args.data.display().to_string())?;
    data.warnings.iter().for_each(|warning| output.warn(warning));

    let test =
        test_fair_proxy(&proxy, &data.rows, fairness, args.epsilon).map_err(name_the_option)?;
    let document = Document { proxy_rows: proxy.len(), data_rows: data.rows.len(), test: &test };
    output.result(&document, || describe(&document, fairness))?;
    Ok(Answer::holds(test.fair))
}

/// Whether the proxy's labels are linearly separable, and what that implies.
pub(crate) fn describe_separation(separation: Separation) -> &'static str {
    match separation {
        Separation::None => "the proxy's labels are not linearly separable, so its model exists",
        Separation::Complete => "the proxy's labels are linearly separable, so it has no model",
        Separation::Quasi => {
            "the proxy's labels are linearly separable except for rows on the boundary, so it has no model"
        }
        Separation::Undecided => "fitting the proxy's model failed: it is too ill-conditioned",
    }
}

fn describe(document: &Document<'_>, fairness: Fairness) -> String {
    let test = document.test;
    let (epsilon, violation) = (test.epsilon, number(test.violation));
    let verdict = match (test.fair, test.separation) {
        (true, _) => format!("fair: violation {violation} is within ε = {epsilon}"),
        (false, Separation::None) => {
            format!("NOT fair: violation {violation} exceeds ε = {epsilon}")
        }
        (false, separation) => format!("NOT fair: {}", describe_separation(separation)),
    };
    let reason = match test.separation {
        Separation::None => describe_separation(test.separation).to_string(),
        _ => format!("the separating direction, scaled to unit length, has violation {violation}"),
    };
    format!(
        "{verdict}\n  {}, measured on {}\n  {reason} ({})\n",
        fairness,
        count(document.data_rows, "row"),
        count(document.proxy_rows, "proxy row"),
    )
}
