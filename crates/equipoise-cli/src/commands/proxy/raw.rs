//! `--generator raw`: the rows of any table as numbers, neither fair nor private.

use std::path::{Path, PathBuf};

use anyhow::Context;
use equipoise_core::{Choice, ProxyGenerator, Warning, WarningCode};
use equipoise_data::{
    Digest, EncodedTable, ProxyOrigin, Purpose, Schema, client_of, read_rows, write_proxy_of,
};
use serde::Serialize;

use super::ProxyArgs;
use crate::formatting::count;
use crate::output::{Answer, Output};

/// What everyone must know who handles such a file.
const NOT_PRIVATE: &str = "the proxy is the rows themselves, only written as numbers: neither fair nor private. `submit` \
                           refuses it unless you confirm a rehearsal";

/// What was written, for JSON and as text.
#[derive(Serialize)]
pub(crate) struct Summary {
    generator: &'static str,
    rows: usize,
    columns: Vec<String>,
    schema_digest: Digest,
    warnings: Vec<Warning>,
}

#[derive(Serialize)]
struct Document<'a> {
    path: &'a Path,
    #[serde(flatten)]
    summary: &'a Summary,
}

impl Summary {
    pub(crate) fn of(data: &EncodedTable, schema: &Schema) -> Self {
        let mut columns = schema.encoded_names();
        columns.extend([schema.sensitive.column_name(), schema.label.column.clone()]);
        let mut warnings = data.warnings.clone();
        warnings.push(Warning::new(WarningCode::RawRows, NOT_PRIVATE));
        Self {
            generator: ProxyGenerator::Raw.name(),
            rows: data.rows.len(),
            columns,
            schema_digest: schema.digest(),
            warnings,
        }
    }
}

/// The file for the rows of `data` unless another is named. `submit` knows it by its name.
pub(super) fn path_beside(data: &Path) -> anyhow::Result<PathBuf> {
    let name = client_of(data)
        .with_context(|| format!("{}: name the file to write with --output", data.display()))?;
    Ok(data.with_file_name(format!("{name}.raw.parquet")))
}

pub(super) fn run(
    args: &ProxyArgs,
    path: &Path,
    schema: &Schema,
    origin: &ProxyOrigin,
    output: &Output,
) -> anyhow::Result<Answer> {
    let data = read_rows(args.delimiter.of(&args.data), schema, Purpose::Data)?;
    let summary = Summary::of(&data, schema);
    write_proxy_of(path, &data.rows, schema, origin, args.force)?;
    output.note(format!("wrote {}", path.display()));
    summary.warnings.iter().for_each(|warning| output.warn(warning));
    output.result(&Document { path, summary: &summary }, || {
        format!(
            "{} of {} under schema {}\n",
            count(summary.rows, "encoded row"),
            count(summary.columns.len(), "column"),
            summary.schema_digest
        )
    })
}
