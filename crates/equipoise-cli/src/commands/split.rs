//! `equipoise split`: one table becomes the tables of several clients, to rehearse a round.

mod report;
mod schema_args;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use equipoise_core::{Fairness, Rows};
use equipoise_data::{
    CLIENT_COLUMN, ColumnValues, OutputColumn, OutputFolder, Purpose, Schema, TableKind,
    names_clients, read_columns, read_rows, write_atomically, write_proxy_of, write_table,
};
use equipoise_lab::{Rehearsal, RehearsalSettings};

use crate::commands::proxy::origin;
use crate::delimiter_args::DelimiterArgs;
use crate::files::refuse_existing;
use crate::output::{Answer, Output};
use report::Report;

pub(crate) use report::describe;

/// Split one table among clients, to rehearse a round
///
/// Gives every client a table to train on, one to test models on, and trusted rows. Rows are assigned at random, stratified
/// by group and label: all tables have the same mixture, as far as whole rows allow, and every row is in exactly one of them.
/// (In the paper and in `demo`, the trusted rows are some of the training rows. Here they are apart from them, so figures
/// on trusted rows are figures on rows that no proxy was made from.) Every client has at least one trusted row of each group
/// with each label, if the share and the table allow it; otherwise a note says what is missing. The tables are written in
/// the format of the first, CSV with commas. Values stay as they are, only trimmed, and missing ones are empty. Columns that the schema
/// ignores are left out if they hold neither numbers nor text, such as dates.
///
/// Writes train/ and test/ with a table per client, test.csv with all test rows, trusted.csv with all trusted rows, whose
/// column `client` says whose they are (unless the table has such a column), schema.toml, and proxies/. The output ends with the commands that make the proxies, run the defense and evaluate the model.
///
/// With --unreliable, the clients whose own models are the most unfair send their training rows unchanged: these are
/// encoded into proxies/ right away. The other clients make fair proxies.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise split people.csv --label hired=yes --sensitive sex=male \\
      --drop id -o rehearsal
  equipoise split people.csv --schema schema.toml --clients 5 \\
      --trusted 0.01 --unreliable 2 -o rehearsal")]
pub(crate) struct SplitArgs {
    /// Table of raw rows (.csv, .csv.gz or .parquet)
    data: PathBuf,
    #[command(flatten)]
    delimiter: DelimiterArgs,
    #[command(flatten)]
    schema: schema_args::SchemaArgs,
    /// Number of clients
    #[arg(long, value_name = "K", default_value_t = 5)]
    clients: usize,
    /// Share of each client's rows to test models on
    #[arg(long, value_name = "SHARE", default_value_t = 0.2, allow_negative_numbers = true)]
    test: f64,
    /// Share of each client's rows that the coordinator trusts
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, allow_negative_numbers = true)]
    trusted: f64,
    /// Number of unreliable clients, which send their rows unchanged
    #[arg(long, value_name = "N", default_value_t = 0)]
    unreliable: usize,
    /// Fairness criterion that ranks the clients and appears in the commands; see `equipoise proxy --help`
    #[arg(long, value_name = "CRITERION", default_value = "sp")]
    fairness: Fairness,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Folder to write to; it must not exist
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

impl SplitArgs {
    pub(crate) fn settings(&self) -> RehearsalSettings {
        RehearsalSettings {
            n_clients: self.clients,
            test_share: self.test,
            root_share: self.trusted,
            n_unreliable: self.unreliable,
            fairness: self.fairness,
            seed: self.seed,
        }
    }
}

pub(crate) fn run(args: &SplitArgs, output: &Output) -> anyhow::Result<Answer> {
    let settings = args.settings();
    settings.check()?;
    refuse_existing(&args.output)?;
    let (schema, toml) = args.schema.resolve(&args.data, &args.delimiter, output)?;
    let table = read_rows(args.delimiter.of(&args.data), &schema, Purpose::Data)?;
    table.warnings.iter().for_each(|warning| output.warn(warning));
    let rehearsal =
        Rehearsal::new(&table.rows, &settings).with_context(|| args.data.display().to_string())?;

    let kind = TableKind::of(&args.data)?;
    let folder = OutputFolder::create(&args.output, false)?;
    let at = folder.path();
    write_atomically(&at.join("schema.toml"), false, |out| out.write_all(toml.as_bytes()))?;
    let columns = read_columns(args.delimiter.of(&args.data), &schema)?;
    let n_rows = columns.first().map_or(0, |column| column.values.len());
    anyhow::ensure!(n_rows == table.rows.len(), "{} changed. Start again.", args.data.display());
    write_tables(at, &columns, kind, &rehearsal)?;
    write_trusted(at, &columns, kind, &rehearsal, names_clients(&schema))?;
    write_raw_proxies(at, &rehearsal, &table.rows, &schema)?;
    folder.commit()?;

    output.note(format!("wrote {}", args.output.display()));
    let report = Report::new(&args.output, &rehearsal, &settings, &schema, kind);
    let document = report.document();
    let notes = document["notes"].as_array().into_iter().flatten();
    notes.filter_map(|note| note.as_str()).for_each(|note| output.note(note));
    output.result(&document, || report.text())
}

/// Writes the tables of all clients, and all test rows together.
fn write_tables(
    folder: &Path,
    columns: &[OutputColumn],
    kind: TableKind,
    rehearsal: &Rehearsal,
) -> anyhow::Result<()> {
    let write = |table: PathBuf, rows: &[usize]| {
        write_table(&with_extension(&table, kind), &selected(columns, rows), false)
    };
    let mut all_tests = Vec::new();
    for part in ["train", "test"] {
        create_folder(&folder.join(part))?;
    }
    for client in &rehearsal.clients {
        let members = &client.members;
        for (part, rows) in [("train", &members.train), ("test", &members.test)] {
            write(folder.join(part).join(&client.id), rows)?;
        }
        all_tests.extend(&members.test);
    }
    all_tests.sort_unstable();
    Ok(write(folder.join("test"), &all_tests)?)
}

/// Writes the trusted rows of all clients, with the client of each unless the table has a column of that name.
fn write_trusted(
    folder: &Path,
    columns: &[OutputColumn],
    kind: TableKind,
    rehearsal: &Rehearsal,
    with_clients: bool,
) -> anyhow::Result<()> {
    let (mut rows, mut owners) = (Vec::new(), Vec::new());
    for client in &rehearsal.clients {
        rows.extend(&client.members.root);
        owners.resize(rows.len(), client.id.clone());
    }
    let owners = OutputColumn::new(CLIENT_COLUMN, ColumnValues::Texts(owners));
    let mut table: Vec<OutputColumn> = Vec::from_iter(with_clients.then_some(owners));
    table.extend(selected(columns, &rows));
    Ok(write_table(&with_extension(&folder.join("trusted"), kind), &table, false)?)
}

fn selected(columns: &[OutputColumn], rows: &[usize]) -> Vec<OutputColumn> {
    columns.iter().map(|column| column.select(rows)).collect()
}

fn with_extension(table: &Path, kind: TableKind) -> PathBuf {
    table.with_added_extension(&kind.extension()[1..])
}

/// Encodes what the unreliable clients send.
fn write_raw_proxies(
    folder: &Path,
    rehearsal: &Rehearsal,
    rows: &Rows,
    schema: &Schema,
) -> anyhow::Result<()> {
    let proxies = folder.join("proxies");
    create_folder(&proxies)?;
    for client in rehearsal.clients.iter().filter(|client| !client.reliable) {
        let path = proxies.join(format!("{}.parquet", client.id));
        let origin = origin::at(&path, schema, None);
        write_proxy_of(&path, &rows.select(&client.members.train), schema, &origin, false)?;
    }
    Ok(())
}

fn create_folder(path: &Path) -> anyhow::Result<()> {
    std::fs::create_dir(path).with_context(|| path.display().to_string())
}
