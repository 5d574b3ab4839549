//! The schema of a table to be split: a given one, or one inferred from its columns.

use std::path::{Path, PathBuf};

use clap::Args;
use equipoise_data::{Schema, infer};

use crate::commands::schema::{InferenceArgs, names_of, parse_column, parse_pair};
use crate::delimiter_args::DelimiterArgs;
use crate::files::read_text;
use crate::output::Output;

/// Where the schema comes from.
#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    /// The table's schema; without it, one is inferred from --label, --sensitive and the options below
    #[arg(long, value_name = "FILE", conflicts_with_all = ["label", "sensitive"], conflicts_with_all = InferenceArgs::NAMES)]
    schema: Option<PathBuf>,
    /// Label column and its positive value, to infer a schema
    #[arg(long, value_name = "COL=POSITIVE", value_parser = parse_pair, required_unless_present = "schema")]
    label: Option<(String, String)>,
    /// Sensitive column and the value of its reference group, to infer a schema; repeat it for combinations of columns
    #[arg(
        long,
        value_name = "COL[=REFERENCE]",
        value_parser = parse_column,
        required_unless_present = "schema"
    )]
    sensitive: Vec<(String, Option<String>)>,
    #[command(flatten)]
    inference: InferenceArgs,
}

impl SchemaArgs {
    /// The schema, and the file to write.
    pub(super) fn resolve(
        &self,
        data: &Path,
        delimiter: &DelimiterArgs,
        output: &Output,
    ) -> anyhow::Result<(Schema, String)> {
        if let Some(path) = &self.schema {
            let text = read_text(path)?;
            return Ok((Schema::from_toml(&text, path)?, text));
        }
        let label = self.label.clone().unwrap_or_default();
        let options = self.inference.options(label, self.sensitive.clone());
        let columns = names_of(&options.label.0, &options.sensitive);
        let inferred = infer(delimiter.open(data, &columns)?, &options)?;
        inferred.notes.iter().for_each(|note| output.note(note));
        let toml = inferred.schema.to_toml();
        Ok((inferred.schema, toml))
    }
}
