//! Bytes, counted behind whatever unpacked them: neither an endless line nor a file of blank ones fills the memory.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::read_limits::{Excess, ReadLimits};

/// Gives an error, which holds the [`Excess`], in place of a byte too many.
pub(super) struct Counted<R> {
    inner: R,
    limits: ReadLimits,
    total: u64,
    of_record: RecordBytes,
}

/// Bytes read since the last record was complete, ahead of it by a buffer at most.
#[derive(Clone, Default)]
pub(super) struct RecordBytes(Arc<AtomicU64>);

impl RecordBytes {
    /// A record is complete.
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
            Err(io::Error::other(Excess::Bytes { limit: decoded_bytes }))
        } else if of_record > record_bytes {
            Err(io::Error::other(Excess::RecordBytes { limit: record_bytes }))
        } else {
            Ok(n)
        }
    }
}

/// The excess behind an error.
pub(super) fn excess_in(error: &io::Error) -> Option<Excess> {
    error.get_ref()?.downcast_ref().copied()
}
