//! `equipoise schema show`: a schema as a readable table.

use std::path::PathBuf;

use clap::Args;
use equipoise_data::{Digest, Encoding, Feature, Group, Label, Schema, Sensitive, Unknown};
use serde::Serialize;

use crate::formatting::{count, number, table};
use crate::output::{Answer, Output};

/// Show the columns, encodings and digest of a schema
///
/// Prints the kind of each column, how its values become numbers, and the names of the encoded columns. Parties whose
/// schemas have the same digest encode rows identically.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  equipoise schema show schema.toml")]
pub(crate) struct ShowArgs {
    /// Schema to show
    schema: PathBuf,
}

#[derive(Serialize)]
struct Document<'a> {
    digest: Digest,
    encoded: Vec<String>,
    theta: Vec<String>,
    schema: &'a Schema,
}

pub(crate) fn run(args: &ShowArgs, output: &Output) -> anyhow::Result<Answer> {
    let schema = Schema::read(&args.schema)?;
    let document = Document {
        digest: schema.digest(),
        encoded: schema.encoded_names(),
        theta: schema.theta_names(),
        schema: &schema,
    };
    output.result(&document, || describe(&schema))
}

/// The schema as an aligned table.
pub(super) fn describe(schema: &Schema) -> String {
    let mut rows = vec![row(&schema.label.column, "label", label_details(&schema.label), "")];
    rows.extend(sensitive_rows(&schema.sensitive));
    rows.extend(schema.features.iter().map(feature_row));
    rows.extend(schema.ignore.iter().map(|column| row(column, "ignored", String::new(), "")));
    format!(
        "{}\n{}\ndigest {}\n",
        table(&["column", "kind", "details", "encoded as"], rows, &[]),
        describe_columns(schema),
        schema.digest(),
    )
}

fn label_details(Label { positive, negative, .. }: &Label) -> String {
    let negative: Vec<String> = negative.iter().map(|value| format!("`{value}`")).collect();
    match &negative[..] {
        [] => format!("`{positive}` is +1, other values −1"),
        [negative] => format!("`{positive}` is +1, {negative} is −1"),
        _ => format!("`{positive}` is +1, {} are −1", negative.join(", ")),
    }
}

/// What the encoded columns are for, and how many there are.
fn describe_columns(schema: &Schema) -> String {
    let layout = schema.layout();
    let coefficients = count(layout.n(), "coefficient");
    let group = match layout.indicators().len() {
        0 => "the model is blind to the group, which adds none".to_owned(),
        1 => "the group adds 1 column".to_owned(),
        n => format!("the group adds {n}, one for each group but the first"),
    };
    let intercept = if schema.intercept { "the intercept adds 1" } else { "there is no intercept" };
    format!(
        "{} become {}: one for a number, one per level for a category\n{group}, and {intercept}: a model has {}\n\
         a proxy has {}: these {}, the group and the label\n",
        count(schema.features.len(), "feature"),
        count(layout.n_x, "encoded column"),
        coefficients,
        count(layout.n_x + 2, "column"),
        layout.n_x,
    )
}

fn sensitive_rows(sensitive: &Sensitive) -> Vec<Vec<String>> {
    let name = sensitive.column_name();
    let encoded = if sensitive.as_feature { name.as_str() } else { "(the model is blind to it)" };
    if let Some(privileged) = sensitive.privileged() {
        let details = match &sensitive.unprivileged()[..] {
            [] => format!("`{privileged}` is 1, other values 0"),
            [other] => format!("`{privileged}` is 1, `{other}` is 0"),
            others => format!("`{privileged}` is 1, `{}` are 0", others.join("`, `")),
        };
        return vec![row(&name, "sensitive", details, encoded)];
    }
    let group = |(index, group): (usize, &Group)| {
        let reference = if index == sensitive.reference { ", the reference" } else { "" };
        let encoded = match (sensitive.as_feature, index) {
            (false, _) => "",
            (true, 0) => "(all group columns are 0)",
            (true, _) => &group.name,
        };
        row("", "", format!("{index}: {}{reference}", group.name), encoded)
    };
    let heading = row(&name, "sensitive", count(sensitive.groups.len(), "group"), "");
    let groups = sensitive.groups.iter().enumerate().map(group);
    std::iter::once(heading).chain(groups).collect()
}

fn feature_row(feature: &Feature) -> Vec<String> {
    let (kind, mut details, fill) = match &feature.encoding {
        Encoding::Numeric { center, scale, fill } => {
            let details = match (*center, *scale) {
                (0.0, 1.0) => "unchanged".to_string(),
                (center, scale) => format!("(value − {}) / {}", number(center), number(scale)),
            };
            ("numeric", details, fill.map(number))
        }
        Encoding::Categorical { levels, fill, .. } => {
            ("categorical", count(levels.len(), "level"), fill.clone())
        }
    };
    if let Some(fill) = fill {
        details += &format!(", missing → {fill}");
    }
    if let Encoding::Categorical { unknown: Unknown::Other, .. } = &feature.encoding {
        details += ", unknown → other (all 0)";
    }
    let names = feature.encoded_names();
    let mut encoded = names[..names.len().min(MAX_NAMES)].join(", ");
    if names.len() > MAX_NAMES {
        encoded += &format!(" and {} more", names.len() - MAX_NAMES);
    }
    row(&feature.column, kind, details, &encoded)
}

/// Number of encoded columns shown per feature.
const MAX_NAMES: usize = 4;

fn row(column: &str, kind: &str, details: String, encoded: &str) -> Vec<String> {
    vec![column.to_string(), kind.to_string(), details, encoded.to_string()]
}
