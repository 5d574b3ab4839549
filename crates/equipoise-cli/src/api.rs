//! What the Python package shares with the commands: the same options give the same settings, and the same tables the
//! same figures.

mod python_terms;

use std::path::{Path, PathBuf};

use clap::Parser;
use equipoise_core::{
    CheckedSettings, FairProxyTest, Fairness, GeneratedProxy, HomeModel, Outcome, PrivacyStatement,
    ProxyModels, ProxySettings, Requirements, Rows, Warning, check_fairness_is_measurable,
};
use equipoise_data::{EncodedTable, Model, ProxyOrigin, Schema, write_proxy_of};
use equipoise_lab::{Rehearsal, RehearsalClient, RehearsalSettings};
use equipoise_server::protocol::SubmissionLimits;
use equipoise_server::validator::{ChildValidator, Job};
use serde_json::{Value, to_value};

use crate::commands::adapt::Adapted;
use crate::commands::check::{Checked, Limits};
use crate::commands::defend::settings_args::SettingsArgs;
use crate::commands::evaluate::{Evaluated, Options, criterion_of};
use crate::commands::proxy::{MadeProxy, ProxyArgs, measure_held_out, origin, raw, warnings_about};
use crate::commands::split::{self, SplitArgs};
use crate::commands::validate_proxy;
use crate::failure::{usage_error, with_hint};

pub use python_terms::in_python_terms;

#[derive(Parser)]
struct SolveOptions {
    #[command(flatten)]
    settings: SettingsArgs,
}

#[derive(Parser)]
struct ProxyOptions {
    #[command(flatten)]
    proxy: ProxyArgs,
}

#[derive(Parser)]
struct SplitOptions {
    #[command(flatten)]
    split: SplitArgs,
}

/// A table split among clients.
pub struct Split {
    /// The clients and their rows.
    pub clients: Vec<RehearsalClient>,
    /// The document that `split` prints about them.
    pub document: Value,
}

/// An error as one message, with the hint of the command line.
pub fn describe(error: &anyhow::Error) -> String {
    with_hint(error).to_string()
}

/// The settings that options of `defend` stand for.
pub fn solve_settings(options: &[String]) -> anyhow::Result<CheckedSettings> {
    let options = ["defend"].into_iter().chain(options.iter().map(String::as_str));
    SolveOptions::try_parse_from(options).map_err(|e| usage_error(&e))?.settings.resolve()
}

/// The settings that options of `proxy` stand for; `None` if the rows are only encoded.
pub fn proxy_settings(options: &[String]) -> anyhow::Result<Option<ProxySettings>> {
    // The table and the files are not settings.
    let files = ["proxy", "table", "--schema", "schema", "--output", "output"];
    let options = files.into_iter().chain(options.iter().map(String::as_str));
    ProxyOptions::try_parse_from(options).map_err(|e| usage_error(&e))?.proxy.settings()
}

/// The settings that options of `split` stand for.
pub fn split_settings(options: &[String]) -> anyhow::Result<RehearsalSettings> {
    // The table and the files are not settings.
    let files = ["split", "table", "--schema", "schema", "--output", "output"];
    let options = files.into_iter().chain(options.iter().map(String::as_str));
    let args = SplitOptions::try_parse_from(options).map_err(|e| usage_error(&e))?.split;
    let settings = args.settings();
    settings.check()?;
    Ok(settings)
}

/// Splits rows as `split` does.
pub fn split_rows(
    rows: &Rows,
    schema: &Schema,
    settings: &RehearsalSettings,
) -> anyhow::Result<Split> {
    let rehearsal = Rehearsal::new(rows, settings)?;
    let document = split::describe(&rehearsal, settings, schema);
    Ok(Split { clients: rehearsal.clients, document })
}

/// The document that `proxy` prints about a proxy of `data`, its warnings included.
pub fn summarise_proxy(
    data: &EncodedTable,
    generated: &GeneratedProxy,
    test: &FairProxyTest,
    models: &ProxyModels,
    settings: &ProxySettings,
    schema: &Schema,
) -> anyhow::Result<Value> {
    let held_out = measure_held_out(&data.rows, generated, settings)?;
    let made = MadeProxy { generated, test, models, held_out: held_out.as_ref() };
    let mut warnings = warnings_about(data, settings);
    warnings.extend(made.warnings(&data.rows, settings, schema));
    let mut document = to_value(made.summary(Path::new(""), settings, schema, &warnings))?;
    if let Some(keys) = document.as_object_mut() {
        keys.remove("path");
    }
    Ok(document)
}

/// The document that `proxy --generator raw` prints about rows that it only encodes, its warnings included.
pub fn summarise_raw(data: &EncodedTable, schema: &Schema) -> anyhow::Result<Value> {
    Ok(to_value(raw::Summary::of(data, schema))?)
}

/// Writes the file that `proxy` writes. Rows without a criterion are raw.
pub fn write_proxy(
    path: &Path,
    rows: &Rows,
    schema: &Schema,
    (fairness, privacy): (Option<Fairness>, Option<PrivacyStatement>),
    force: bool,
) -> Result<(), equipoise_data::Error> {
    let origin = ProxyOrigin { privacy, ..origin::at(path, schema, fairness) };
    write_proxy_of(path, rows, schema, &origin, force)
}

/// Validates a received file as a server does, and writes its canonical table: in a sandboxed child process, which
/// `program` starts with `arguments` before those of the command line. Returns the verdict.
pub fn validate_proxy(
    (program, mut arguments): (PathBuf, Vec<String>),
    file: PathBuf,
    canonical: PathBuf,
    schema: &Schema,
) -> anyhow::Result<Value> {
    arguments.push(validate_proxy::NAME.to_owned());
    // Names matter only if several files are queued.
    let client = ("round".parse()?, "client".parse()?);
    let limits = SubmissionLimits::default();
    let job = Job { client, file, canonical, schema: schema.clone(), limits };
    Ok(to_value(ChildValidator::new(program, arguments, 0).validate_blocking(job))?)
}

/// The document that `check` prints.
pub fn check_proxy(
    proxy: &Rows,
    data: &EncodedTable,
    fairness: Fairness,
    max_gap: Option<f64>,
    epsilon: Option<f64>,
) -> anyhow::Result<Value> {
    let limits = Limits { max_gap, epsilon };
    limits.check_range()?;
    check_fairness_is_measurable(&data.rows, fairness)?;
    let warnings: Vec<&Warning> = data.warnings.iter().collect();
    Ok(to_value(Checked::new(proxy, &data.rows, fairness, limits)?.document(&warnings))?)
}

/// The file that `export --onnx` writes.
pub fn onnx(model: &Model, outcome: Option<&Outcome>) -> anyhow::Result<Vec<u8>> {
    crate::commands::export::onnx(model, outcome)
}

/// The document that `adapt` prints, and the model that it writes.
pub fn adapt_model(
    model: &Model,
    data: EncodedTable,
    proxy: Option<&Rows>,
    choose: Option<HomeModel>,
) -> anyhow::Result<(Value, Model)> {
    let adapted = Adapted::new(model, data, proxy, choose)?;
    Ok((to_value(adapted.document(None))?, adapted.model))
}

/// The document that `evaluate` prints. Without a criterion, the one that the model was made for counts.
pub fn evaluate_model(
    model: &Model,
    data: EncodedTable,
    fairness: Option<Fairness>,
    threshold: f64,
    require: Requirements,
) -> anyhow::Result<Value> {
    let fairness = criterion_of(model, fairness);
    let options = Options { fairness, threshold, require };
    options.check_range()?;
    Ok(to_value(Evaluated::new(model, data, options)?.document())?)
}
