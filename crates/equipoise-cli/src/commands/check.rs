//! `equipoise check`: is a proxy fair to the data it was made of?

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use equipoise_core::{Error, FairProxyTest, Fairness, Rows, Separation, test_fair_proxy};
use equipoise_data::{Purpose, Schema, read_proxy, read_rows};
use serde::Serialize;

use crate::answer::Answer;
use crate::commands::setting::name_the_option;
use crate::fairness_args::{self, FairnessArgs};
use crate::figures::{count, number};
use crate::output::Output;

/// Check whether a proxy is fair to a client's data
///
/// Fits a model on the proxy alone, without regulariser, and measures its violation on the data: the
/// paper's Definition 1. A proxy whose labels a plane separates has no such model and is not fair. Exit
/// code 1 means "not fair".
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise check proxies/north.parquet --data north.csv --schema schema.toml \\
    --fairness sp --epsilon 0.01")]
pub(crate) struct CheckArgs {
    /// The proxy
    proxy: PathBuf,
    /// Table of raw rows to measure on
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// The schema that all agreed on
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    #[command(flatten)]
    fairness: FairnessArgs,
    /// Largest violation that counts as fair
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

/// Runs the command.
pub(crate) fn run(args: &CheckArgs, output: &Output) -> anyhow::Result<Answer> {
    let fairness = args.fairness.resolve()?;
    let schema = Schema::read(&args.schema)?;
    let proxy = read_proxy(&args.proxy, &schema)?;
    let data = read_rows(&args.data, &schema, Purpose::Data)?;
    refuse_unmeasurable(&data.rows, fairness).with_context(|| args.data.display().to_string())?;
    data.warnings.iter().for_each(|warning| output.warn(warning));

    let test =
        test_fair_proxy(&proxy, &data.rows, fairness, args.epsilon).map_err(name_the_option)?;
    let document = Document { proxy_rows: proxy.len(), data_rows: data.rows.len(), test: &test };
    output.result(&document, || in_words(&document, fairness))?;
    Ok(Answer::holds(test.fair))
}

/// Whether the labels of rows can be separated, in words.
pub(crate) fn separation_in_words(separation: Separation) -> &'static str {
    match separation {
        Separation::None => "no plane separates the proxy's labels, so its model exists",
        Separation::Complete => "a plane separates the proxy's labels, so it has no model",
        Separation::Quasi => {
            "a plane separates the proxy's labels but for rows on it, so it has no model"
        }
        Separation::Undecided => "the proxy's model did not settle: it is too ill-conditioned",
    }
}

/// On rows of one group every model looks fair: that is no verdict.
fn refuse_unmeasurable(data: &Rows, fairness: Fairness) -> Result<(), Error> {
    let [others, privileged] = data.cell_counts();
    let n_privileged = privileged.iter().sum();
    if n_privileged == 0 || n_privileged == data.len() {
        return Err(Error::OneGroup { rows: data.len(), privileged: n_privileged });
    }
    if fairness.includes_eo() && (others[1] == 0 || privileged[1] == 0) {
        return Err(Error::NoPositives { privileged: privileged[1], others: others[1] });
    }
    Ok(())
}

fn in_words(document: &Document<'_>, fairness: Fairness) -> String {
    let test = document.test;
    let epsilon = test.epsilon;
    let verdict = match (test.fair, test.separation) {
        (true, _) => format!("fair: violation {} is within ε = {epsilon}", number(test.violation)),
        (false, Separation::None) => {
            format!("NOT fair: violation {} is above ε = {epsilon}", number(test.violation))
        }
        (false, separation) => format!("NOT fair: {}", separation_in_words(separation)),
    };
    let reason = match test.separation {
        Separation::None => separation_in_words(test.separation).to_string(),
        _ => format!("its direction, at length 1, has violation {}", number(test.violation)),
    };
    format!(
        "{verdict}\n  {}, measured on {}\n  {reason} ({})\n",
        fairness_args::in_words(fairness),
        count(document.data_rows, "row"),
        count(document.proxy_rows, "proxy row"),
    )
}
