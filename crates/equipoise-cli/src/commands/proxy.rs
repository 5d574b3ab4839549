//! `equipoise proxy`: generates the dataset that a client submits instead of its data.

mod closeness;
pub(crate) mod origin;
mod privacy;
mod rate;
pub(crate) mod raw;
mod summary;
mod warnings;

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use clap::Args;
use equipoise_core::{
    Choice, ClientData, Error, FairProxyTest, Fairness, GeneratedProxy, Metrics, Privacy,
    ProxyGenerator, ProxyModels, ProxySettings, ProxyStart, Rows, Separation, Warning, WarningCode,
    cross_validate, generate_proxy, test_fair_proxy,
};
use equipoise_data::{
    EncodedTable, ProxyOrigin, Purpose, Schema, TableKind, check_output, read_rows, write_proxy_of,
};

use crate::choice_args::choice;
use crate::commands::setting::name_the_option;
use crate::delimiter_args::DelimiterArgs;
use crate::files::refuse_input_as_output;
use crate::output::{Answer, Output};
use crate::progress::Bar;
use summary::Summary;

/// Generate a proxy dataset to submit instead of your data
///
/// Generates rows such that a model trained on them is accurate and fair on the client's data. The rows start from a
/// smoothed sample, not from the data itself, and the summary reports how close they come to real rows. With --epsilon,
/// exit code 1 means that the proxy is not fair within that tolerance.
///
/// With --generator raw, the rows themselves are written as numbers, neither fair nor private: what other programs need to
/// work on the same numbers, and what an unreliable client sends in a rehearsal. `submit` refuses such a file.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise proxy north.csv --schema schema.toml --fairness sp \\
      -o proxies/north.parquet

Only encode the rows, in north.raw.parquet:
  equipoise proxy north.csv --schema schema.toml --generator raw")]
pub(crate) struct ProxyArgs {
    /// Table of the client's raw rows (.csv, .csv.gz or .parquet)
    data: PathBuf,
    #[command(flatten)]
    delimiter: DelimiterArgs,
    /// The schema that all parties agreed on
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    /// Fairness criterion, or a mixture such as sp:0.5,eo:0.5
    ///
    /// sp: statistical parity, equal selection rates;
    /// eo: equal opportunity, equal true positive rates;
    /// equalized-odds: equal true and equal false positive rates;
    /// fpr: predictive equality, equal false positive rates.
    #[arg(
        long,
        value_name = "CRITERION",
        required_unless_present = "generator",
        required_if_eq_any = all_but_raw()
    )]
    fairness: Option<Fairness>,
    /// How the proxy is made [default: thresholds, or paper with --epsilon]
    #[arg(long, value_parser = choice::<ProxyGenerator>(), value_name = "NAME")]
    generator: Option<ProxyGenerator>,
    /// Number of proxy rows [default: as many as the data has]
    ///
    /// With `--generator thresholds` the model is the same for any number, so 200 rows make a small file, and the default
    /// is at most 20,000.
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
    /// Share of rows that the proxy's model selects: kept, labels or a number [default: kept]
    ///
    /// `kept` is the share that a model of the data selects, and `labels` the share of positive labels in the data. A
    /// number lies between the two: 0 is kept, 1 is labels, 0.5 is halfway. If one label is rare, a model nearly always
    /// predicts the other; moving towards the labels then raises balanced accuracy and costs some accuracy. For
    /// `--generator thresholds` only.
    #[arg(long, value_parser = rate::parse_rate, value_name = "RATE", allow_negative_numbers = true)]
    rate: Option<f64>,
    /// Maximum fairness violation to accept [default: as small as possible]
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// Make the proxy differentially private with this ε, for example 3 [default: not private]
    ///
    /// The proxy then reveals almost the same with and without any one person's row: odds change by a factor of at most
    /// e^ε, except with probability δ. A smaller ε protects better and costs accuracy. A person must be
    /// in one row only. Not covered: the schema, if it was inferred from the data, and the root, which the server holds.
    #[arg(long, value_name = "E", allow_negative_numbers = true, help_heading = "Privacy")]
    dp_epsilon: Option<f64>,
    /// δ: how likely the guarantee may fail; much less than 1 over the number of rows [default: 1e-6]
    #[arg(
        long,
        value_name = "D",
        allow_negative_numbers = true,
        requires = "dp_epsilon",
        help_heading = "Privacy"
    )]
    dp_delta: Option<f64>,
    /// Make the noise reproducible, for tests: the proxy is then NOT private, and says so
    #[arg(long, value_name = "N", requires = "dp_epsilon", help_heading = "Privacy")]
    dp_test_seed: Option<u64>,
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
    /// Your name in the round, stored in the file [default: the file's name without its extension]
    ///
    /// A Parquet proxy says who made it, with which schema and for which criterion, so that `submit`, `check` and
    /// `defend` notice if it is mistaken for another. CSV files have no place for this.
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// File to write the proxy to, named after the client's id [default with --generator raw: <DATA>.raw.parquet]
    #[arg(
        short,
        long,
        value_name = "FILE",
        required_unless_present = "generator",
        required_if_eq_any = all_but_raw()
    )]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

impl ProxyArgs {
    /// The settings; `None` if the rows are only encoded.
    pub(crate) fn settings(&self) -> anyhow::Result<Option<ProxySettings>> {
        let Some(fairness) = self.fairness.filter(|_| self.generator != Some(ProxyGenerator::Raw))
        else {
            return self.refuse_options_of_a_model().map(|()| None);
        };
        let defaults = ProxySettings::new(fairness);
        // Only the paper's method works towards a violation, which is a covariance.
        let by_epsilon =
            if self.epsilon.is_some() { ProxyGenerator::Paper } else { defaults.generator };
        let generator = self.generator.unwrap_or(by_epsilon);
        if generator != ProxyGenerator::Thresholds && self.rate.is_some() {
            bail!(
                "--rate needs --generator thresholds: the others do not control how many rows are selected"
            );
        }
        if self.dp_epsilon.is_some() {
            self.check_privacy(generator)?;
        }
        let privacy = self.dp_epsilon.map(|epsilon| Privacy {
            epsilon,
            delta: self.dp_delta.unwrap_or(Privacy::DELTA),
            test_seed: self.dp_test_seed,
        });
        Ok(Some(ProxySettings {
            privacy,
            generator,
            towards_label_rate: self.rate.unwrap_or(defaults.towards_label_rate),
            rows: self.rows,
            epsilon: self.epsilon,
            start: self.init,
            lambda: self.lambda.unwrap_or(defaults.lambda),
            seed: self.seed.unwrap_or(defaults.seed),
            ..defaults
        }))
    }

    /// Refuses options that have no effect on rows that are only encoded.
    fn refuse_options_of_a_model(&self) -> anyhow::Result<()> {
        for (option, is_given) in [
            ("--fairness", self.fairness.is_some()),
            ("--rows", self.rows.is_some()),
            ("--rate", self.rate.is_some()),
            ("--epsilon", self.epsilon.is_some()),
            ("--dp-epsilon", self.dp_epsilon.is_some()),
            ("--seed", self.seed.is_some()),
            ("--init", self.init != ProxyStart::default()),
            ("--lambda", self.lambda.is_some()),
        ] {
            ensure!(
                !is_given,
                "{option} has no effect with --generator raw, which writes all rows as they are. Leave it out, or choose \
                 another generator"
            );
        }
        Ok(())
    }

    /// Refuses options that contradict `--dp-epsilon`.
    fn check_privacy(&self, generator: ProxyGenerator) -> anyhow::Result<()> {
        if generator != ProxyGenerator::Thresholds {
            bail!(
                "--dp-epsilon needs --generator thresholds: no other generator is differentially private"
            );
        }
        if self.init != ProxyStart::Smoothed {
            bail!(
                "--dp-epsilon and --init data contradict each other: private rows are not private"
            );
        }
        if self.seed.is_some() {
            bail!(
                "--seed and --dp-epsilon contradict each other: noise that can be repeated can be removed. For a test \
                 run, use --dp-test-seed instead; its proxy is marked as not private"
            );
        }
        Ok(())
    }
}

/// Warnings about the data that a proxy is made of. Data of a single class or group is refused later, with the reason.
pub(crate) fn warnings_about(data: &EncodedTable, settings: &ProxySettings) -> Vec<Warning> {
    let is_refused = |w: &Warning| matches!(w.code, WarningCode::OneClass | WarningCode::OneGroup);
    let of_table = data.warnings.iter().filter(|warning| !is_refused(warning)).cloned();
    of_table.chain(warnings::about_data(&data.rows, settings)).collect()
}

/// A finished proxy and what was measured of it.
pub(crate) struct MadeProxy<'a> {
    pub(crate) generated: &'a GeneratedProxy,
    pub(crate) test: &'a FairProxyTest,
    pub(crate) models: &'a ProxyModels,
    /// Of models made in the same way, on rows that they were not made of.
    pub(crate) held_out: Option<&'a Metrics>,
}

/// Figures of models made like that of the proxy, on rows that they were not made of, if the model was chosen by
/// cross-validation.
pub(crate) fn measure_held_out(
    data: &Rows,
    generated: &GeneratedProxy,
    settings: &ProxySettings,
) -> Result<Option<Metrics>, Error> {
    let measure = |strength| cross_validate(data, strength, settings);
    generated.summary.strength.map(measure).transpose()
}

impl<'a> MadeProxy<'a> {
    pub(crate) fn warnings(
        &self,
        data: &Rows,
        settings: &ProxySettings,
        schema: &Schema,
    ) -> Vec<Warning> {
        let is_blind = !schema.sensitive.as_feature;
        let summary = &self.generated.summary;
        let mut warnings =
            warnings::about_proxy(summary, self.test, self.models, settings, is_blind);
        let noise = self.generated.privacy.as_ref().and_then(|statement| {
            statement.warn_of_large_noise(&data.layout().groups, &data.cell_counts())
        });
        warnings.extend(noise);
        warnings
    }

    pub(crate) fn summary(
        &self,
        path: &'a Path,
        settings: &ProxySettings,
        schema: &Schema,
        warnings: &'a [Warning],
    ) -> Summary<'a> {
        Summary::new(path, self, settings, schema, warnings)
    }
}

/// The generators that make a model, and need a criterion.
fn all_but_raw() -> Vec<(&'static str, &'static str)> {
    let names = ProxyGenerator::ALL.iter().filter(|generator| **generator != ProxyGenerator::Raw);
    names.map(|generator| ("generator", generator.name())).collect()
}

pub(crate) fn run(args: &ProxyArgs, output: &Output) -> anyhow::Result<Answer> {
    let settings = args.settings()?;
    let path = args.output.clone().map_or_else(|| raw::path_beside(&args.data), Ok)?;
    TableKind::of(&path)?;
    check_output(&path, args.force)?;
    refuse_input_as_output(&path, &[&args.data, &args.schema])?;
    let schema = Schema::read(&args.schema)?;
    let origin = origin::of(args, &path, &schema)?;
    let Some(settings) = settings else {
        return raw::run(args, &path, &schema, &origin, output);
    };
    let data = read_rows(args.delimiter.of(&args.data), &schema, Purpose::Data)?;
    let mut warnings = warnings_about(&data, &settings);
    warnings.iter().for_each(|warning| output.warn(warning));

    let generated = {
        let mut bar = Bar::new(output);
        let columns = schema.encoded_columns();
        generate_proxy(ClientData { rows: &data.rows, columns }, &settings, &mut bar)
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
    let origin = ProxyOrigin { privacy: generated.privacy.clone(), ..origin };
    let (written, (models, held_out)) = rayon::join(
        || write_proxy_of(&path, &generated.rows, &schema, &origin, args.force),
        || {
            let models = ProxyModels::measure(&generated.rows, &data.rows, &test);
            (models, measure_held_out(&data.rows, &generated, &settings))
        },
    );
    written?;
    output.note(format!("wrote {}", path.display()));
    let (models, held_out) = (models?, held_out?);
    let made = MadeProxy {
        generated: &generated,
        test: &test,
        models: &models,
        held_out: held_out.as_ref(),
    };
    let about_proxy = made.warnings(&data.rows, &settings, &schema);
    about_proxy.iter().for_each(|warning| output.warn(warning));
    warnings.extend(about_proxy);
    if test.separation == Separation::None
        && generated.summary.epsilon_met == Some(true)
        && !test.fair
    {
        output.note(
            "ε is met with regularisation but not without it. A smaller --lambda brings the two models \
             closer; a smaller --epsilon leaves a margin.",
        );
    }
    let summary = made.summary(&path, &settings, &schema, &warnings);
    output.result(&summary, || summary.describe())?;
    Ok(Answer::holds(test.separation == Separation::None && summary.is_fair() != Some(false)))
}
