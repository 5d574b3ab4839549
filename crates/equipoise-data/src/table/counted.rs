//! Counts decompressed bytes, so that neither an endless line nor a file of blank lines fills the memory.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::TableProblem;
use crate::read_limits::ReadLimits;

/// Fails with a [`TableProblem`] when a limit is exceeded.
pub(super) struct Counted<R> {
    inner: R,
    limits: ReadLimits,
    total: u64,
    of_record: RecordBytes,
}

/// Bytes read since the last complete record, which is at most one buffer behind.
#[derive(Clone, Default)]
pub(super) struct RecordBytes(Arc<AtomicU64>);

impl RecordBytes {
    /// Called after each complete record.
    pub(super) fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl<R: Read> Counted<R> {
    pub(super) fn new(inner: R, limits: &ReadLimits) -> (Self, RecordBytes) {
        let of_record = RecordBytes::default();
        let shared = of_record.clone();
        (Self { inner, limits: *limits, total: 0, of_record }, shared)
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.total += n as u64;
        let of_record = self.of_record.0.fetch_add(n as u64, Ordering::Relaxed) + n as u64;
        let ReadLimits { decoded_bytes, record_bytes, .. } = self.limits;
        if self.total > decoded_bytes {
            Err(io::Error::other(TableProblem::too_many_bytes(decoded_bytes)))
        } else if of_record > record_bytes {
            Err(io::Error::other(TableProblem::new(format!(
                "a row is longer than {record_bytes} bytes."
            ))))
        } else {
            Ok(n)
        }
    }
}

pub(super) fn exceeded_limit(error: &io::Error) -> Option<TableProblem> {
    error.get_ref()?.downcast_ref().cloned()
}
