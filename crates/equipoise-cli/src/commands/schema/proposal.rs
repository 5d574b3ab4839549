//! What `schema infer` and `schema merge` have in common: their options, and how they present the proposed schema.

use std::path::{Path, PathBuf};

use clap::Args;
use equipoise_data::{Digest, InferOptions, Inferred, Schema, check_output, write_atomically};
use serde::Serialize;

use super::inference_args::InferenceArgs;
use super::show;
use crate::files::refuse_input_as_output;
use crate::output::{Answer, Output};

/// How the schema is proposed, and where it goes.
#[derive(Debug, Args)]
pub(super) struct ProposalArgs {
    #[command(flatten)]
    inference: InferenceArgs,
    /// File to write the schema to [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "output")]
    force: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    path: Option<&'a PathBuf>,
    digest: Digest,
    schema: &'a Schema,
    notes: &'a [String],
}

impl ProposalArgs {
    /// Fails early if the schema cannot be written.
    pub(super) fn check_output(&self, inputs: &[PathBuf]) -> anyhow::Result<()> {
        if let Some(path) = &self.output {
            check_output(path, self.force)?;
            refuse_input_as_output(
                path,
                &inputs.iter().map(PathBuf::as_path).collect::<Vec<&Path>>(),
            )?;
        }
        Ok(())
    }

    pub(super) fn options(
        &self,
        label: (String, String),
        sensitive: Vec<(String, Option<String>)>,
    ) -> InferOptions {
        self.inference.options(label, sensitive)
    }

    /// Writes the schema, and prints it with its notes.
    pub(super) fn present(&self, inferred: &Inferred, output: &Output) -> anyhow::Result<Answer> {
        let toml = inferred.schema.to_toml();
        if let Some(path) = &self.output {
            write_atomically(path, self.force, |out| out.write_all(toml.as_bytes()))?;
            output.note(format!(
                "wrote {}; review it before agreeing on it with the other parties",
                path.display()
            ));
        }
        inferred.notes.iter().for_each(|note| output.note(note));
        let document = Document {
            path: self.output.as_ref(),
            digest: inferred.schema.digest(),
            schema: &inferred.schema,
            notes: &inferred.notes,
        };
        output.result(&document, || match &self.output {
            Some(_) => show::describe(&inferred.schema),
            None => toml.clone(),
        })
    }
}
