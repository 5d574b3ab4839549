//! `equipoise schema describe`: what a client may tell others about its table.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::Args;
use equipoise_data::{
    ColumnKind, DEFAULT_MIN_ROWS, DescribeOptions, DescribedColumn, Description, TableKind,
    check_output, describe, write_atomically,
};
use serde::Serialize;

use super::column_args::{ColumnArgs, names_of, parse_column};
use crate::delimiter_args::DelimiterArgs;
use crate::files::refuse_input_as_output;
use crate::formatting::{count, table};
use crate::output::{Answer, Output};

/// Describe a table for `schema merge`, without its rows
///
/// For clients who must agree on a schema but may not share rows. The description has the names of the columns, their
/// kinds, missing values, levels with counts, mean and variance of the numbers, and the sizes of groups and classes. It has
/// no rows, no smallest or largest number, and no combinations of columns except the groups. Values of a numeric column
/// are listed only if there are at most 12.
///
/// Levels, labels and groups in fewer than 5 rows (--min-rows) are withheld: they are not named, and no figure includes
/// them except the count of withheld rows. Read the file before you send it. Without -o, it is printed to stdout.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise schema describe north.csv --label passed=1 --sensitive group=A \\
      --drop id -o north.description.json")]
pub(crate) struct DescribeArgs {
    /// Table of raw rows (.csv, .csv.gz or .parquet)
    data: PathBuf,
    #[command(flatten)]
    delimiter: DelimiterArgs,
    /// Label column and its positive value
    ///
    /// The value may be left to `merge`.
    #[arg(long, value_name = "COL[=POSITIVE]", value_parser = parse_column)]
    label: (String, Option<String>),
    /// Sensitive column and the value of its reference group; repeat it for groups by combinations
    ///
    /// All clients must name the same columns in the same order. Without a value, the most frequent one of all clients is
    /// the reference.
    #[arg(long, value_name = "COL[=REFERENCE]", value_parser = parse_column, required = true)]
    sensitive: Vec<(String, Option<String>)>,
    #[command(flatten)]
    columns: ColumnArgs,
    /// Withhold values that occur in fewer rows than this; 1 withholds nothing
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MIN_ROWS, value_parser = clap::value_parser!(u64).range(1..))]
    min_rows: u64,
    /// The client's name [default: the table's file name without extension]
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// File to write the description to [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "output")]
    force: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    path: Option<&'a PathBuf>,
    description: &'a Description,
    notes: &'a [String],
}

pub(crate) fn run(args: &DescribeArgs, output: &Output) -> anyhow::Result<Answer> {
    if let Some(path) = &args.output {
        check_output(path, args.force)?;
        refuse_input_as_output(path, &[&args.data])?;
    }
    let client = match &args.client {
        Some(name) => name.trim().to_owned(),
        None => name_of(&args.data)?,
    };
    ensure!(!client.is_empty(), "--client must not be empty.");
    let options = DescribeOptions {
        client,
        label: args.label.clone(),
        sensitive: args.sensitive.clone(),
        drop: args.columns.drop.clone(),
        categorical: args.columns.categorical.clone(),
        numeric: args.columns.numeric.clone(),
        min_rows: args.min_rows,
    };
    let columns = names_of(&args.label.0, &args.sensitive);
    let described = describe(args.delimiter.open(&args.data, &columns)?, &options)?;
    let json = described.description.to_json();
    if let Some(path) = &args.output {
        write_atomically(path, args.force, |out| out.write_all(json.as_bytes()))?;
        output.note(format!("wrote {}; read it before you send it", path.display()));
    }
    described.notes.iter().for_each(|note| output.note(note));
    let document = Document {
        path: args.output.as_ref(),
        description: &described.description,
        notes: &described.notes,
    };
    output.result(&document, || match &args.output {
        Some(_) => summarise(&described.description),
        None => json.clone(),
    })
}

/// The file's name without the extension of a table.
fn name_of(data: &Path) -> anyhow::Result<String> {
    let extension = TableKind::of(data)?.extension();
    let name = data.file_name().unwrap_or_default().to_string_lossy();
    Ok(name[..name.len() - extension.len()].to_owned())
}

/// What the description reveals, as an aligned table.
fn summarise(description: &Description) -> String {
    let rows = description.columns.iter().map(column_row).collect();
    let groups = count(description.groups.len(), "group");
    let withheld = match description.withheld_groups {
        0 => String::new(),
        n => format!(", and that {n} rows are in groups that it does not name"),
    };
    format!(
        "client `{}`, {}\n\n{}\nIt also reveals the sizes of {groups}{withheld}.\n{}\n",
        description.client,
        count(description.rows as usize, "row"),
        table(&["column", "kind", "what it reveals", "missing", "withheld"], rows, &[3, 4]),
        description.rule,
    )
}

fn column_row(column: &DescribedColumn) -> Vec<String> {
    let values = column.values.as_ref().map(|values| count(values.len(), "value") + " with counts");
    let (kind, revealed) = match column.kind {
        ColumnKind::Label => ("label", values),
        ColumnKind::Sensitive => ("sensitive", None),
        ColumnKind::Numeric => ("numeric", values),
        ColumnKind::Categorical => ("categorical", values),
    };
    let moments = column.moments.map(|_| "mean and variance".to_owned());
    let revealed: Vec<String> = revealed.into_iter().chain(moments).collect();
    vec![
        column.column.clone(),
        kind.to_owned(),
        revealed.join(", "),
        column.missing.to_string(),
        column.withheld.to_string(),
    ]
}
