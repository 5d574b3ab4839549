//! What `schema infer` and `schema merge` have in common: their options, and how they present the proposed schema.

use std::path::{Path, PathBuf};

use clap::Args;
use equipoise_data::{
    Digest, Fill, InferOptions, Inferred, Schema, Unknown, check_output, write_atomically,
};
use serde::Serialize;

use super::column_args::ColumnArgs;
use super::show;
use crate::choice_args::choice;
use crate::files::refuse_input_as_output;
use crate::output::{Answer, Output};

/// How the schema is proposed, and where it goes.
#[derive(Debug, Args)]
pub(super) struct ProposalArgs {
    /// Confirm that every label except the positive one counts as negative
    ///
    /// Needed if the label column has more than two values.
    #[arg(long)]
    label_rest_negative: bool,
    /// Compare the reference group with everyone else, as two groups
    #[arg(long)]
    two_groups: bool,
    /// Keep the groups out of the features: the model and `predict` do not need them
    #[arg(long)]
    blind: bool,
    #[command(flatten)]
    columns: ColumnArgs,
    /// What replaces missing values, such as median,mode [default: rows without a value are refused]
    ///
    /// median and mean are for numeric columns, mode is for categorical ones. Empty cells, NA, N/A, NaN and null, in any
    /// case, and ? count as missing. Labels and sensitive values are never filled.
    #[arg(long, value_parser = choice::<Fill>(), value_name = "RULE", num_args = 1.., value_delimiter = ',')]
    fill: Vec<Fill>,
    /// What to do with values that are not levels of a categorical column [default: error]
    ///
    /// With `other`, such a value becomes 0 in every encoded column of its feature, so that proxies, roots, `evaluate`
    /// and `predict` can have values that nobody knew of. The commands say how many there were.
    #[arg(long, value_parser = choice::<Unknown>(), value_name = "RULE")]
    unknown: Option<Unknown>,
    /// Fit the model without an intercept
    #[arg(long)]
    no_intercept: bool,
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
        InferOptions {
            label,
            label_rest_negative: self.label_rest_negative,
            sensitive,
            two_groups: self.two_groups,
            blind: self.blind,
            drop: self.columns.drop.clone(),
            intercept: !self.no_intercept,
            categorical: self.columns.categorical.clone(),
            numeric: self.columns.numeric.clone(),
            codes: true,
            fill: self.fill.clone(),
            unknown: self.unknown,
        }
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
