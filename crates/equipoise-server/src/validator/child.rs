//! The child process: sets its own limits, reads one file, writes one verdict.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use equipoise_data::{
    DistinctRowCounter, Error, Hasher, ProxyWriter, ReadLimits, Schema, visit_proxy,
};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::{Job, Verdict};
use crate::protocol::{SubmissionLimits, Validated};

const MEMORY_BYTES: u64 = 2 << 30;
const CPU_SECONDS: u64 = 60;
/// A table below this size is never a decompression bomb, whatever its ratio.
const SMALL_BYTES: u64 = 64 << 20;

/// The hidden subcommand `file canonical schema limits`, which prints a verdict.
pub fn run_child(file: PathBuf, canonical: PathBuf, schema: &Path, limits: &str) -> Verdict {
    for (resource, limit) in [
        (Resource::As, MEMORY_BYTES),
        (Resource::Cpu, CPU_SECONDS),
        // A crashed child leaves no core dump.
        (Resource::Core, 0),
    ] {
        if let Err(error) =
            setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })
        {
            return Verdict::Storage { message: format!("cannot set resource limits: {error}") };
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

/// Validates a file against the schema and writes the canonical table.
pub fn check_file(job: &Job) -> Verdict {
    match check(job) {
        Ok(verdict) => verdict,
        Err(error) => verdict_of(error, &job.file),
    }
}

/// Reads and writes chunk by chunk, so the table is never in memory as a whole.
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
    let canonical_sha256 = hasher.finish();
    Ok(Verdict::Valid(Validated { canonical_sha256, rows, distinct_rows: distinct.count() }))
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
    // The path on the server means nothing to the client.
    let message = error.to_string().replace(&file.display().to_string(), "the file");
    match error {
        Error::Table { row, column, .. } if row.is_some() || column.is_some() => {
            Verdict::Value { message, row, column }
        }
        Error::Write { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
            Verdict::DiskFull
        }
        Error::Write { .. } => Verdict::Storage { message },
        // Read errors such as damaged gzip are the client's fault, because the file itself is readable.
        _ => Verdict::File { message },
    }
}
