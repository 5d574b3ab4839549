//! The schema of a table to be split: a given one, or one inferred from its columns.

use std::path::{Path, PathBuf};

use clap::Args;
use equipoise_data::{InferOptions, Schema, infer};

use crate::commands::schema::{names_of, parse_column, parse_pair};
use crate::delimiter_args::DelimiterArgs;
use crate::files::read_text;
use crate::output::Output;

/// Where the schema comes from.
#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    /// The table's schema; without it, one is inferred from --label and --sensitive
    #[arg(long, value_name = "FILE", conflicts_with_all = ["label", "sensitive", "drop"])]
    schema: Option<PathBuf>,
    /// Label column and its positive value, to infer a schema
    #[arg(long, value_name = "COL=POSITIVE", value_parser = parse_pair, required_unless_present = "schema")]
    label: Option<(String, String)>,
    /// Sensitive column and the value of its reference group, to infer a schema; may be repeated
    ///
    /// As in `equipoise schema infer`, which has more options.
    #[arg(
        long,
        value_name = "COL[=REFERENCE]",
        value_parser = parse_column,
        required_unless_present = "schema"
    )]
    sensitive: Vec<(String, Option<String>)>,
    /// Columns that an inferred schema ignores
    #[arg(long, value_name = "COL", num_args = 1..)]
    drop: Vec<String>,
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
        let options = InferOptions {
            label: self.label.clone().unwrap_or_default(),
            sensitive: self.sensitive.clone(),
            drop: self.drop.clone(),
            intercept: true,
            codes: true,
            ..InferOptions::default()
        };
        let columns = names_of(&options.label.0, &options.sensitive);
        let inferred = infer(delimiter.open(data, &columns)?, &options)?;
        inferred.notes.iter().for_each(|note| output.note(note));
        let toml = inferred.schema.to_toml();
        Ok((inferred.schema, toml))
    }
}
