//! `equipoise export`: a model in a format that other programs run.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::Args;
use equipoise_core::Outcome;
use equipoise_data::{Model, check_output, outcome, write_atomically};
use serde_json::json;

use crate::files::refuse_input_as_output;
use crate::output::{Answer, Output};

/// Export a model for other programs
///
/// --onnx writes an ONNX file that starts from raw columns, with scaling and one-hot encoding inside, in 64-bit floats.
/// Its outputs are score, probability and selected (1 or 0), with an underscore after the name if a column has it. The schema and, if an outcome is known, the figures of the
/// model on the root are in the file's metadata.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  equipoise export --onnx outcome/model.json -o model.onnx")]
pub(crate) struct ExportArgs {
    /// The model (model.json)
    model: PathBuf,
    /// Write ONNX
    #[arg(long)]
    onnx: bool,
    /// The outcome of the model [default: outcome.json in the model's folder, if it is there]
    #[arg(long, value_name = "FILE")]
    outcome: Option<PathBuf>,
    /// File to write to
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &ExportArgs, output: &Output) -> anyhow::Result<Answer> {
    ensure!(args.onnx, "choose a format: add --onnx");
    check_output(&args.output, args.force)?;
    refuse_input_as_output(&args.output, &[&args.model])?;
    let model = Model::read(&args.model)?;
    let file = args.outcome.clone().or_else(|| beside(&args.model));
    let outcome = file.as_deref().map(outcome::read).transpose()?;
    let bytes = onnx(&model, outcome.as_ref())?;
    write_atomically(&args.output, args.force, |out| out.write_all(&bytes))?;
    output.note(format!("wrote {}", args.output.display()));
    let document = json!({ "path": args.output, "bytes": bytes.len(), "outcome": file });
    output.result(&document, || format!("ONNX, {} bytes", bytes.len()))
}

/// The outcome in the same folder.
fn beside(model: &Path) -> Option<PathBuf> {
    let file = model.with_file_name("outcome.json");
    file.is_file().then_some(file)
}

/// The ONNX file of a model, with the figures of its outcome.
pub(crate) fn onnx(model: &Model, outcome: Option<&Outcome>) -> anyhow::Result<Vec<u8>> {
    let mut metadata = Vec::new();
    if let Some(outcome) = outcome {
        ensure!(
            outcome.theta == model.theta(),
            "the outcome belongs to another model. Give the outcome.json that was written with this model."
        );
        let figures = json!({
            "fairness": outcome.settings.fairness,
            "verdict": outcome.verdict,
            "judgements": outcome.judgements,
            "root_metrics": outcome.root_metrics,
        });
        metadata.push(("equipoise.figures".to_owned(), figures.to_string()));
    }
    Ok(model.to_onnx(&metadata)?)
}
