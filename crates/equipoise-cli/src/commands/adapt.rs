//! `equipoise adapt`: a client chooses between the published model, the same with its own thresholds, and its own model.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use equipoise_core::{
    Adaptation, Choice, Error, Fairness, HomeModel, Metrics, Rows, Warning, adapt,
};
use equipoise_data::{
    EncodedTable, Model, ProxyOrigin, Purpose, check_output, read_proxy, read_rows,
};
use serde::Serialize;

use crate::choice_args::choice;
use crate::commands::evaluate::criterion_of;
use crate::delimiter_args::DelimiterArgs;
use crate::files::refuse_input_as_output;
use crate::formatting::{count, gap_text, table, with_interval};
use crate::output::{Answer, Output};

/// Adapt a published model to your rows, and see whether joining was worth it
///
/// Compares three models on your own rows: `global`, the published model; `adapted`, the same model with one threshold
/// per group, so that all groups have equal rates by the criterion that the model was made for; and `own`, your own fair
/// model. Every row is decided by thresholds and an own model that were made of the other four fifths of the rows.
/// Nothing leaves this machine.
///
/// Recommended is the first of the three, unless a later one is better beyond chance: a model is out if its gap is
/// larger than the smallest by 0.02 or more, and of the others a later one must decide more rows correctly.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise adapt outcome/model.json north.csv
  equipoise adapt outcome/model.json north.csv --proxy proxies/north.parquet \\
      -o my-model.json")]
pub(crate) struct AdaptArgs {
    /// The published model (model.json)
    model: PathBuf,
    /// Table of your raw rows with labels (.csv, .csv.gz or .parquet)
    data: PathBuf,
    #[command(flatten)]
    delimiter: DelimiterArgs,
    /// Your proxy: your own model is then the one that anyone fits to it [default: a fair model of the rows]
    ///
    /// By default, your own model is a regularised model of the rows with one threshold per group. The proxy was made of
    /// all your rows, so the figures of its model are a little too good.
    #[arg(long, value_name = "FILE")]
    proxy: Option<PathBuf>,
    /// The model to write [default: the recommended one]
    #[arg(long, value_parser = choice::<HomeModel>(), value_name = "NAME")]
    choose: Option<HomeModel>,
    /// File to write the model to, made of all your rows; without it, the table is only printed
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

/// What `adapt` found out, for JSON.
#[derive(Serialize)]
pub(crate) struct Document<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a Path>,
    rows: usize,
    fairness: Fairness,
    models: Vec<Figures>,
    recommended: HomeModel,
    reason: &'a str,
    /// The model that is written.
    chosen: HomeModel,
    warnings: &'a [Warning],
}

/// The figures of a model on the client's rows.
#[derive(Serialize)]
struct Figures {
    model: HomeModel,
    accuracy: Option<f64>,
    accuracy_low: Option<f64>,
    accuracy_high: Option<f64>,
    gap: Option<f64>,
    gap_low: Option<f64>,
    gap_high: Option<f64>,
    /// The two groups compared.
    gap_groups: Option<[String; 2]>,
}

impl Figures {
    fn of(model: HomeModel, metrics: &Metrics, fairness: Fairness) -> Self {
        let (accuracy, gap) = (metrics.accuracy, metrics.gap(fairness));
        Self {
            model,
            accuracy: accuracy.map(|figure| figure.value),
            accuracy_low: accuracy.map(|figure| figure.low),
            accuracy_high: accuracy.map(|figure| figure.high),
            gap: gap.as_ref().map(|gap| gap.value),
            gap_low: gap.as_ref().map(|gap| gap.low),
            gap_high: gap.as_ref().map(|gap| gap.high),
            gap_groups: gap.map(|gap| gap.groups),
        }
    }
}

/// A model adapted to a client's rows.
pub(crate) struct Adapted {
    fairness: Fairness,
    found: Adaptation,
    chosen: HomeModel,
    warnings: Vec<Warning>,
    /// The chosen model.
    pub(crate) model: Model,
}

impl Adapted {
    pub(crate) fn new(
        model: &Model,
        data: EncodedTable,
        proxy: Option<&Rows>,
        choose: Option<HomeModel>,
    ) -> anyhow::Result<Self> {
        let fairness = criterion_of(model, None);
        let mut found = adapt(model.theta(), &data.rows, proxy, fairness)?;
        let chosen = choose.unwrap_or(found.recommended);
        let theta = std::mem::take(&mut found.theta[chosen as usize]);
        let warnings = data.warnings.into_iter().chain(found.warnings.drain(..)).collect();
        let model = model.with_theta(theta)?;
        Ok(Self { fairness, found, chosen, warnings, model })
    }

    pub(crate) fn document<'a>(&'a self, path: Option<&'a Path>) -> Document<'a> {
        let measured = HomeModel::ALL.iter().zip(&self.found.metrics);
        Document {
            path,
            rows: self.found.metrics[0].rows,
            fairness: self.fairness,
            models: measured.map(|(&m, metrics)| Figures::of(m, metrics, self.fairness)).collect(),
            recommended: self.found.recommended,
            reason: &self.found.reason,
            chosen: self.chosen,
            warnings: &self.warnings,
        }
    }

    fn describe(&self) -> String {
        let conditions: Vec<_> = self.fairness.conditions().collect();
        let gap = match conditions[..] {
            [(condition, _)] => format!("gap in {}", condition.rate_name()),
            _ => "worst gap".to_owned(),
        };
        let row = |(model, metrics): (&HomeModel, &Metrics)| {
            let gap = gap_text(metrics.gap(self.fairness).as_ref());
            let (name, description) = model.describe();
            vec![name.to_owned(), with_interval(metrics.accuracy), gap, description.to_owned()]
        };
        let figures = HomeModel::ALL.iter().zip(&self.found.metrics).map(row).collect();
        format!(
            "{}[ ] is a 95 % interval, from {} in five folds\n\nrecommended: {}, because {}\n",
            table(&["model", "accuracy", &gap, ""], figures, &[]),
            count(self.found.metrics[0].rows, "row"),
            self.found.recommended.name(),
            self.found.reason
        )
    }
}

pub(crate) fn run(args: &AdaptArgs, output: &Output) -> anyhow::Result<Answer> {
    if let Some(path) = &args.output {
        check_output(path, args.force)?;
        let inputs = [Some(&args.model), Some(&args.data), args.proxy.as_ref()];
        let inputs: Vec<&Path> = inputs.into_iter().flatten().map(PathBuf::as_path).collect();
        refuse_input_as_output(path, &inputs)?;
    }
    let model = Model::read(&args.model)?;
    let schema = model.schema();
    let mut data = read_rows(args.delimiter.of(&args.data), schema, Purpose::Data)?;
    let proxy = args.proxy.as_ref().map(|path| -> Result<Rows, equipoise_data::Error> {
        let origin = ProxyOrigin::read(path)?;
        origin.check_schema(path, schema)?;
        data.warnings.extend(origin.warn_of_criterion(path, criterion_of(&model, None)));
        read_proxy(path, schema)
    });
    let proxy = proxy.transpose()?;
    let adapted = Adapted::new(&model, data, proxy.as_ref(), args.choose);
    let adapted = match adapted {
        Err(error) if is_about_rows(&error) => {
            return Err(error).with_context(|| args.data.display().to_string());
        }
        other => other?,
    };
    adapted.warnings.iter().for_each(|warning| output.warn(warning));
    if let Some(path) = &args.output {
        adapted.model.write(path, args.force)?;
        output.note(format!("wrote {}: the model `{}`", path.display(), adapted.chosen.name()));
    }
    output.result(&adapted.document(args.output.as_deref()), || adapted.describe())
}

fn is_about_rows(error: &anyhow::Error) -> bool {
    let rows = |error: &Error| {
        matches!(error, Error::OneClass { .. } | Error::OneGroup { .. } | Error::NoRate { .. })
    };
    error.downcast_ref().is_some_and(rows)
}
