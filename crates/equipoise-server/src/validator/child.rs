//! What happens inside the child: limits on itself, one file read, one verdict written.

use std::path::{Path, PathBuf};

use equipoise_data::{Error, Schema, TableKind, open_table, read_proxy, write_proxy};
use rustix::process::{Resource, Rlimit, setrlimit};
use sha2::{Digest as _, Sha256};

use super::{Job, Verdict};
use crate::protocol::Digest;
use crate::round::SubmissionLimits;

/// Address space of the child.
const MEMORY_BYTES: u64 = 2 << 30;
/// Processor time of the child.
const CPU_SECONDS: u64 = 60;
/// A table this small is never a bomb, however well it was packed.
const SMALL_BYTES: u64 = 64 << 20;

/// Everything that the hidden subcommand does: `file canonical schema limits`, a verdict on stdout.
pub fn run_child(file: PathBuf, canonical: PathBuf, schema: &Path, limits: &str) -> Verdict {
    for (resource, limit) in [
        (Resource::As, MEMORY_BYTES),
        (Resource::Cpu, CPU_SECONDS),
        // No file of memory is left behind by a child that died.
        (Resource::Core, 0),
    ] {
        if let Err(error) =
            setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })
        {
            return Verdict::Storage { message: format!("limits could not be set: {error}") };
        }
    }
    let job = Schema::read(schema).map_err(|error| error.to_string()).and_then(|schema| {
        let limits = serde_json::from_str(limits).map_err(|error| error.to_string())?;
        Ok(Job { file, canonical, schema, limits })
    });
    match job {
        Ok(job) => check_file(&job),
        Err(message) => Verdict::Storage { message },
    }
}

/// Reads a file by the schema and writes the checked table.
pub fn check_file(job: &Job) -> Verdict {
    match check(job) {
        Ok(verdict) => verdict,
        Err(error) => verdict_of(error, &job.file),
    }
}

fn check(job: &Job) -> Result<Verdict, Error> {
    if let Some(message) = over_limits(job)? {
        return Ok(Verdict::File { message });
    }
    let rows = read_proxy(&job.file, &job.schema)?;
    let distinct_rows = count_distinct(&rows);
    write_proxy(&job.canonical, &rows, &job.schema, true)?;
    let content = std::fs::read(&job.canonical)
        .map_err(|source| Error::Read { file: job.canonical.clone(), source })?;
    Ok(Verdict::Sound {
        canonical_sha256: Digest::of(&content),
        rows: rows.len() as u64,
        distinct_rows,
    })
}

/// Reads the file once without keeping anything: how many rows there really are, whatever a footer says.
fn over_limits(job: &Job) -> Result<Option<String>, Error> {
    let SubmissionLimits { rows: most_rows, columns, decoded_bytes, decoded_ratio, .. } =
        job.limits;
    let table = open_table(&job.file)?;
    let n_columns = table.columns().len() as u64;
    if n_columns > columns {
        return Ok(Some(format!(
            "the file has {n_columns} columns; at most {columns} are accepted"
        )));
    }
    let too_many =
        |rows: u64| format!("the file has {rows} rows; at most {most_rows} are accepted");
    if let Some(claimed) = table.claimed_rows()
        && claimed > most_rows
    {
        return Ok(Some(too_many(claimed)));
    }
    let file_bytes = std::fs::metadata(&job.file).map_or(0, |found| found.len());
    let most_bytes = decoded_bytes.min(file_bytes.saturating_mul(decoded_ratio).max(SMALL_BYTES));
    let row_bytes = n_columns * 8;
    // A column is enough to count rows; it must be one that can be read.
    let Some(first) = job
        .schema
        .encoded_names()
        .into_iter()
        .chain([job.schema.sensitive.column.clone()])
        .find_map(|name| table.position(&name).ok())
    else {
        return Ok(None);
    };
    let mut over = None;
    let visited = table.visit(&[first], |row, _| {
        if row > most_rows {
            over = Some(too_many(row));
        } else if row.saturating_mul(row_bytes) > most_bytes {
            over = Some(format!("the table is larger than {most_bytes} bytes when it is unpacked"));
        } else {
            return Ok(());
        }
        Err(Error::Empty { file: PathBuf::new() })
    });
    match over {
        Some(message) => Ok(Some(message)),
        None => visited.map(|_| None),
    }
}

/// Different rows, by 128 bits of a digest that nobody can make collide.
fn count_distinct(rows: &equipoise_core::Rows) -> u64 {
    let mut marks: Vec<u128> = (0..rows.len())
        .map(|i| {
            let mut hasher = Sha256::new();
            rows.a(i).iter().for_each(|value| hasher.update((value + 0.0).to_le_bytes()));
            hasher.update([u8::from(rows.is_positive(i))]);
            let digest: [u8; 32] = hasher.finalize().into();
            let mut half = [0; 16];
            half.copy_from_slice(&digest[..16]);
            u128::from_le_bytes(half)
        })
        .collect();
    marks.sort_unstable();
    marks.dedup();
    marks.len() as u64
}

fn verdict_of(error: Error, file: &Path) -> Verdict {
    // The name on the server's disk means nothing to the client.
    let message = error.to_string().replace(&file.display().to_string(), "the file");
    match error {
        Error::Cell { row, column, .. } => {
            Verdict::Value { message, row: Some(row), column: Some(column) }
        }
        Error::RaggedRow { row, .. } => Verdict::Value { message, row: Some(row), column: None },
        Error::MissingColumn { column, .. }
        | Error::ExtraProxyColumn { column, .. }
        | Error::DuplicateColumn { column, .. }
        | Error::ColumnType { column, .. } => {
            Verdict::Value { message, row: None, column: Some(column) }
        }
        Error::Write { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
            Verdict::DiskFull
        }
        Error::Write { .. } => Verdict::Storage { message },
        // Damaged gzip and the like come as read errors: the file is the client's.
        _ => Verdict::File { message },
    }
}

/// The kind of a file's table, for whoever names it.
pub(super) fn is_table(path: &Path) -> bool {
    TableKind::of(path).is_ok()
}
