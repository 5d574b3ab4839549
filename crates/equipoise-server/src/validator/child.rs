//! What happens inside the child: limits on itself, one file read, one verdict written.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use equipoise_data::{
    DistinctRowCounter, Error, Hasher, ProxyWriter, ReadLimits, Schema, TableKind, visit_proxy,
};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::{Job, Verdict};
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

/// Reads once, a piece at a time, and writes what was read: no more of the table is in memory.
fn check(job: &Job) -> Result<Verdict, Error> {
    let failed = |source| Error::Write { file: job.canonical.clone(), source };
    let mut hasher = Hasher::default();
    let file = std::fs::File::create(&job.canonical).map_err(failed)?;
    let mut out = BufWriter::new(Hashed { file, hasher: &mut hasher });
    let mut writer = ProxyWriter::new(&mut out, &job.schema);
    let mut distinct = DistinctRowCounter::default();
    let rows = visit_proxy(&job.file, &job.schema, limits(job), |rows| {
        distinct.add(rows);
        writer.push(rows).map_err(failed)
    })?;
    writer.finish().and_then(|()| out.flush()).map_err(failed)?;
    drop(out);
    Ok(Verdict::Sound { canonical_sha256: hasher.finish(), rows, distinct_rows: distinct.count() })
}

fn limits(job: &Job) -> ReadLimits {
    let SubmissionLimits { rows, columns, decoded_bytes, decoded_ratio, .. } = job.limits;
    let file_bytes = std::fs::metadata(&job.file).map_or(0, |found| found.len());
    let decoded = decoded_bytes.min(file_bytes.saturating_mul(decoded_ratio).max(SMALL_BYTES));
    ReadLimits::new(rows, columns, decoded)
}

struct Hashed<'a> {
    file: std::fs::File,
    hasher: &'a mut Hasher,
}

impl Write for Hashed<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.file.write(bytes)?;
        self.hasher.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn verdict_of(error: Error, file: &Path) -> Verdict {
    // The name on the server's disk means nothing to the client.
    let message = error.to_string().replace(&file.display().to_string(), "the file");
    match error {
        Error::Table { row, column, .. } if row.is_some() || column.is_some() => {
            Verdict::Value { message, row, column }
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
