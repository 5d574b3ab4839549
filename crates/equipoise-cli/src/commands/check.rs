//! `equipoise check`: tests whether a proxy is fair on the data it was generated from.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use equipoise_core::{
    FairProxyTest, Fairness, Gap, Metrics, ProxyModels, Rows, Separation, Warning,
    check_fairness_is_measurable, test_fair_proxy,
};
use equipoise_data::{ProxyOrigin, Purpose, Schema, read_proxy, read_rows};
use serde::Serialize;

use crate::commands::setting::name_the_option;
use crate::delimiter_args::DelimiterArgs;
use crate::fairness_args::FairnessArgs;
use crate::figures::{Headline, compare_with_data};
use crate::formatting::{count, number};
use crate::output::{Answer, Output};

/// Check whether a proxy is fair on a client's data
///
/// Fits a model to the proxy alone and measures it on the data. With --max-gap, the proxy is fair if no two groups'
/// rates differ by more than that, for the model that a server fits and for the one without regularisation. With
/// --epsilon, the covariance of group and score must be within ε (Definition 1 of the paper). A proxy whose labels are
/// linearly separable has no model without regularisation and is not fair. Exit code 1 means "not fair".
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise check proxies/north.parquet --data north.csv --schema schema.toml \\
      --fairness sp --max-gap 0.05")]
#[command(group = clap::ArgGroup::new("test").required(true).multiple(true))]
pub(crate) struct CheckArgs {
    /// The proxy to check (.csv, .csv.gz or .parquet)
    proxy: PathBuf,
    /// Table of the client's raw rows
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    #[command(flatten)]
    delimiter: DelimiterArgs,
    /// The schema that all parties agreed on
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    #[command(flatten)]
    fairness: FairnessArgs,
    /// Maximum gap between the rates of two groups to accept, such as 0.05
    #[arg(long, value_name = "G", allow_negative_numbers = true, group = "test")]
    max_gap: Option<f64>,
    /// Maximum covariance to accept, as in Definition 1 of the paper
    #[arg(long, value_name = "E", allow_negative_numbers = true, group = "test")]
    epsilon: Option<f64>,
}

#[derive(Serialize)]
pub(crate) struct Document<'a> {
    /// Whether the proxy passes every test requested.
    fair: bool,
    proxy_rows: usize,
    data_rows: usize,
    fairness: Fairness,
    #[serde(flatten)]
    headline: Headline,
    max_gap: Option<f64>,
    epsilon: Option<f64>,
    separation: Separation,
    /// The covariance of the model without regularisation, in size.
    violation: f64,
    /// On the client's data: the proxy's model as a server fits it, without regularisation, and the model of the data.
    proxy_model: &'a Metrics,
    unregularised: Option<&'a Metrics>,
    data_model: &'a Metrics,
    /// The model without regularisation, or the direction in which it diverges.
    theta: &'a [f64],
    warnings: &'a [&'a Warning],
}

/// A proxy that was checked on a client's data.
pub(crate) struct Checked {
    fair: bool,
    proxy_rows: usize,
    data_rows: usize,
    fairness: Fairness,
    limits: Limits,
    test: FairProxyTest,
    models: ProxyModels,
}

/// What is accepted; `None` accepts everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) max_gap: Option<f64>,
    pub(crate) epsilon: Option<f64>,
}

impl Limits {
    pub(crate) fn check_range(&self) -> anyhow::Result<()> {
        if let Some(max_gap) = self.max_gap.filter(|gap| !(0.0..=1.0).contains(gap)) {
            bail!("--max-gap must be between 0 and 1, found {max_gap}");
        }
        Ok(())
    }
}

impl Checked {
    pub(crate) fn new(
        proxy: &Rows,
        data: &Rows,
        fairness: Fairness,
        limits: Limits,
    ) -> anyhow::Result<Self> {
        let epsilon = limits.epsilon.unwrap_or(f64::MAX);
        let test = test_fair_proxy(proxy, data, fairness, epsilon).map_err(name_the_option)?;
        let models = ProxyModels::measure(proxy, data, &test)?;
        let is_within = limits.max_gap.is_none_or(|max| models.worst_gap(fairness) <= max);
        Ok(Self {
            fair: test.fair && is_within,
            proxy_rows: proxy.len(),
            data_rows: data.len(),
            fairness,
            limits,
            test,
            models,
        })
    }

    pub(crate) fn document<'a>(&'a self, warnings: &'a [&'a Warning]) -> Document<'a> {
        Document {
            fair: self.fair,
            proxy_rows: self.proxy_rows,
            data_rows: self.data_rows,
            fairness: self.fairness,
            headline: Headline::of(&self.models.proxy, self.fairness),
            max_gap: self.limits.max_gap,
            epsilon: self.limits.epsilon,
            separation: self.test.separation,
            violation: self.test.violation,
            proxy_model: &self.models.proxy,
            unregularised: self.models.unregularised.as_ref(),
            data_model: &self.models.data,
            theta: &self.test.theta,
            warnings,
        }
    }
}

pub(crate) fn run(args: &CheckArgs, output: &Output) -> anyhow::Result<Answer> {
    let fairness = args.fairness.fairness;
    let limits = Limits { max_gap: args.max_gap, epsilon: args.epsilon };
    limits.check_range()?;
    let schema = Schema::read(&args.schema)?;
    let origin = ProxyOrigin::read(&args.proxy)?;
    origin.check_schema(&args.proxy, &schema)?;
    let proxy = read_proxy(&args.proxy, &schema)?;
    let data = read_rows(args.delimiter.of(&args.data), &schema, Purpose::Data)?;
    check_fairness_is_measurable(&data.rows, fairness)
        .with_context(|| args.data.display().to_string())?;
    let other_criterion = origin.warn_of_criterion(&args.proxy, fairness);
    let warnings: Vec<&Warning> = data.warnings.iter().chain(&other_criterion).collect();
    warnings.iter().for_each(|warning| output.warn(warning));

    let checked = Checked::new(&proxy, &data.rows, fairness, limits)?;
    let document = checked.document(&warnings);
    output.result(&document, || describe(&document, &checked.models, &checked.test))?;
    Ok(Answer::holds(checked.fair))
}

/// Whether the proxy's labels are linearly separable, and what that implies.
pub(crate) fn describe_separation(separation: Separation) -> &'static str {
    match separation {
        Separation::None => "the proxy's labels are not linearly separable, so its model exists",
        Separation::Complete => {
            "the proxy's labels are linearly separable, so without regularisation it has no model"
        }
        Separation::Quasi => {
            "without regularisation the proxy has no model, because some of its rows are separable: perhaps all rows of a \
             rare category have the same label"
        }
        Separation::Undecided => "fitting the proxy's model failed: it is too ill-conditioned",
    }
}

fn describe(document: &Document<'_>, models: &ProxyModels, test: &FairProxyTest) -> String {
    let verdict = if document.fair { "fair" } else { "NOT fair" };
    let mut reasons: Vec<String> = Vec::new();
    if test.separation != Separation::None {
        reasons.push(describe_separation(test.separation).to_owned());
    }
    if let Some(max) = document.max_gap {
        let gap = models.proxy.gap(document.fairness);
        let groups = gap.as_ref().map_or(String::new(), named_groups);
        // A proxy without a model has no gap, but the model that a server fits has one.
        let (model, worst) = match models.worst_gap(document.fairness) {
            worst if worst.is_finite() => ("", worst),
            _ => (" of the model that a server fits", gap.map_or(f64::NAN, |gap| gap.value.abs())),
        };
        let comparison = if worst <= max { "within" } else { "above" };
        reasons.push(format!("the worst gap{model} is {worst:.3}, {comparison} {max}{groups}"));
    }
    if let Some(epsilon) = document.epsilon.filter(|_| test.separation == Separation::None) {
        let comparison = if test.violation <= epsilon { "within" } else { "above" };
        reasons.push(format!(
            "the covariance is {}, {comparison} ε = {epsilon}",
            number(test.violation)
        ));
    }
    format!(
        "{verdict}: {}\n{}, {} measured on {}\n\n{}[ ] is a 95 % interval\n",
        reasons.join("; "),
        document.fairness,
        count(document.proxy_rows, "proxy row"),
        count(document.data_rows, "row"),
        compare_with_data(document.fairness, &models.labels, &models.data, &models.proxy, None),
    )
}

fn named_groups(gap: &Gap) -> String {
    let [first, second] = &gap.groups;
    format!(" ({first} and {second}, {})", gap.condition.rate_name())
}
