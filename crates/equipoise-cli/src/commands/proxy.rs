//! `equipoise proxy`: generates the dataset that a client submits instead of its data.

mod summary;

use std::path::PathBuf;

use clap::Args;
use equipoise_core::{
    Choice, Error, FEW_DATA_ROWS, ProxyMethod, ProxyModels, ProxySettings, ProxyStart, Separation,
    WarningCode, generate_proxy, test_fair_proxy,
};
use equipoise_data::{Purpose, Schema, TableKind, check_output, read_rows, write_proxy};

use crate::choice_args::choice;
use crate::commands::setting::name_the_option;
use crate::fairness_args::FairnessArgs;
use crate::files::refuse_input_as_output;
use crate::output::{Answer, Output};
use crate::progress::Bar;

/// Generate a proxy dataset to submit instead of your data
///
/// Generates rows such that a model trained on them is accurate and fair on the client's data. The rows start from a
/// smoothed sample, not from the data itself, and the summary reports how close they come to real rows. With --epsilon,
/// exit code 1 means that the proxy is not fair within that tolerance.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise proxy north.csv --schema schema.toml --fairness sp \\
      --epsilon 0.01 -o proxies/north.parquet")]
pub(crate) struct ProxyArgs {
    /// Table of the client's raw rows (.csv, .csv.gz or .parquet)
    data: PathBuf,
    /// The schema that all parties agreed on
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    #[command(flatten)]
    fairness: FairnessArgs,
    /// How the proxy is made [default: target, or paper with --epsilon]
    #[arg(long, value_parser = choice::<ProxyMethod>(), value_name = "METHOD")]
    method: Option<ProxyMethod>,
    /// Number of proxy rows [default: as many as the data has]
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
    /// Maximum fairness violation to accept [default: as small as possible]
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// Random seed for the initial sample [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How the initial rows are chosen
    #[arg(
        long,
        value_parser = choice::<ProxyStart>(),
        default_value = ProxyStart::default().name(),
        value_name = "START"
    )]
    init: ProxyStart,
    /// Regularisation strength of the proxy's model [default: 1e-4]
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// File to write the proxy to; its name without the extension is the client's id
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

impl ProxyArgs {
    fn settings(&self) -> anyhow::Result<ProxySettings> {
        let defaults = ProxySettings::new(self.fairness.fairness);
        // Only the paper's method works towards a violation, which is a covariance.
        let by_epsilon = if self.epsilon.is_some() { ProxyMethod::Paper } else { defaults.method };
        Ok(ProxySettings {
            method: self.method.unwrap_or(by_epsilon),
            rows: self.rows,
            epsilon: self.epsilon,
            start: self.init,
            lambda: self.lambda.unwrap_or(defaults.lambda),
            seed: self.seed.unwrap_or(defaults.seed),
            ..defaults
        })
    }
}

pub(crate) fn run(args: &ProxyArgs, output: &Output) -> anyhow::Result<Answer> {
    let settings = args.settings()?;
    TableKind::of(&args.output)?;
    check_output(&args.output, args.force)?;
    refuse_input_as_output(&args.output, &[&args.data, &args.schema])?;
    let schema = Schema::read(&args.schema)?;
    let data = read_rows(&args.data, &schema, Purpose::Data)?;
    for warning in &data.warnings {
        // Data of a single class or group is refused below, with the reason.
        if !matches!(warning.code, WarningCode::OneClass | WarningCode::OneGroup) {
            output.warn(warning);
        }
    }
    if settings.start == ProxyStart::Data {
        output.warn(
            "--init data starts from the private rows, so the proxy is nearly a copy of them. \
             Use it for experiments only, and do not submit it.",
        );
    }

    if data.rows.len() < FEW_DATA_ROWS {
        output.warn(format!(
            "the data has {} rows. With fewer than {FEW_DATA_ROWS}, a proxy says more about each of them: \
             someone who knows a person's values may guess whether that person is in the data.",
            data.rows.len()
        ));
    }

    let generated = {
        let mut bar = Bar::new(output);
        generate_proxy(&data.rows, &settings, &mut bar)
    };
    let generated = generated.map_err(|error| match error {
        Error::Setting { .. } => name_the_option(error),
        Error::FewProxyRows { .. } => anyhow::Error::from(error).context("--rows"),
        // Every other error is caused by the data.
        other => anyhow::Error::from(other).context(args.data.display().to_string()),
    })?;
    let test = test_fair_proxy(
        &generated.rows,
        &data.rows,
        settings.fairness,
        settings.epsilon.unwrap_or(0.0),
    )?;
    write_proxy(&args.output, &generated.rows, &schema, args.force)?;
    output.note(format!("wrote {}", args.output.display()));

    let models = ProxyModels::measure(&generated.rows, &data.rows, &test)?;
    let summary =
        summary::Summary::new(&args.output, &generated, &test, &models, &settings, &schema);
    summary.warn(output);
    output.result(&summary, || summary.describe())?;
    Ok(Answer::holds(test.separation == Separation::None && summary.is_fair() != Some(false)))
}
