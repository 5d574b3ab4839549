//! `equipoise schema show`: a schema for people.

use std::path::PathBuf;

use clap::Args;
use equipoise_data::{Digest, Encoding, Feature, Schema};
use serde::Serialize;

use crate::answer::Answer;
use crate::figures::{count, number, table};
use crate::output::Output;

/// Show a schema: columns, encodings, digest
///
/// Prints each column with its kind, how its values become numbers and the names of the encoded columns.
/// Parties that see the same digest encode the same row to the same numbers.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  equipoise schema show schema.toml")]
pub(crate) struct ShowArgs {
    /// The schema file
    schema: PathBuf,
}

#[derive(Serialize)]
struct Document<'a> {
    digest: Digest,
    encoded: Vec<String>,
    theta: Vec<String>,
    schema: &'a Schema,
}

/// Runs the command.
pub(crate) fn run(args: &ShowArgs, output: &Output) -> anyhow::Result<Answer> {
    let schema = Schema::read(&args.schema)?;
    let document = Document {
        digest: schema.digest(),
        encoded: schema.encoded_names(),
        theta: schema.theta_names(),
        schema: &schema,
    };
    output.result(&document, || in_words(&schema))?;
    Ok(Answer::Done)
}

/// The schema as an aligned table.
pub(super) fn in_words(schema: &Schema) -> String {
    let label = format!("`{}` is +1, the rest −1", schema.label.positive);
    let sensitive = format!("`{}` is 1, the rest 0", schema.sensitive.privileged);
    let mut rows = vec![
        row(&schema.label.column, "label", label, ""),
        row(&schema.sensitive.column, "sensitive", sensitive, &schema.sensitive.column),
    ];
    rows.extend(schema.features.iter().map(feature_row));
    rows.extend(schema.ignore.iter().map(|column| row(column, "ignored", String::new(), "")));
    let n_features = schema.features.len();
    format!(
        "{}\n{} → {}{}\ndigest {}\n",
        table(&["column", "kind", "details", "encoded as"], rows, &[]),
        count(n_features, "feature"),
        count(schema.layout().n_x, "encoded column"),
        if schema.intercept { ", with an intercept" } else { ", without an intercept" },
        schema.digest(),
    )
}

fn feature_row(feature: &Feature) -> Vec<String> {
    let fill = |fill: Option<String>| fill.map_or(String::new(), |f| format!(", missing → {f}"));
    let (kind, details) = match &feature.encoding {
        Encoding::Numeric { center, scale, fill: missing } => {
            let fill = fill(missing.map(number));
            let coded = if *center == 0.0 && *scale == 1.0 {
                "as it is".to_string()
            } else {
                format!("(value − {}) / {}", number(*center), number(*scale))
            };
            ("numeric", coded + &fill)
        }
        Encoding::Categorical { levels, fill: missing } => {
            ("categorical", count(levels.len(), "level") + &fill(missing.clone()))
        }
    };
    row(&feature.column, kind, details, &shortened(&feature.encoded_names()))
}

/// At most this many names of a feature are shown.
const SHOWN: usize = 4;

fn shortened(names: &[String]) -> String {
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(SHOWN);
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

fn row(column: &str, kind: &str, details: String, encoded: &str) -> Vec<String> {
    vec![column.to_string(), kind.to_string(), details, encoded.to_string()]
}
