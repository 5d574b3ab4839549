//! The memory limit of a round, and how it is divided.

use std::path::PathBuf;
use std::sync::Arc;

use equipoise_core::{BlockKeeper, ClientPacker, SamplePlan};

use crate::error::Error;
use crate::proxy::CHUNK_ROWS;
use crate::row_sketch::{RowSketch, RowSketcher};
use crate::scratch_file::ScratchFile;

/// Bytes used by the program itself, including roots, model and report.
const PROGRAM_BYTES: usize = 48 << 20;

/// Bytes that a decoder typically uses per column of a table: a page as stored, and the same page decompressed.
const COLUMN_BYTES: usize = 5 << 19;

/// How much memory a round may use while it is read and solved.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    limit: Option<(usize, PathBuf)>,
}

/// How the memory is divided.
pub(crate) struct Shares {
    /// Number of files read at the same time.
    pub(crate) n_readers: usize,
    /// Stores the rows.
    pub(crate) keeper: BlockKeeper,
}

impl Memory {
    /// Keeps all proxies in memory, whatever their size.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// Limits the memory of the whole program. Rows that do not fit go to an unnamed file in the scratch folder.
    /// The program itself uses about 48 MiB and a decoder 2.5 MiB per column, which no limit can reduce.
    pub fn at_most(bytes: usize, scratch: PathBuf) -> Self {
        Self { limit: Some((bytes, scratch)) }
    }

    /// Stores rows of `n` entries in memory up to this limit, apart from what reading and summing take, and then in the
    /// scratch folder.
    pub fn for_rows(&self, n: usize) -> Result<BlockKeeper, Error> {
        let Some((bytes, scratch)) = &self.limit else { return Ok(BlockKeeper::in_memory()) };
        let file = ScratchFile::create(scratch, ClientPacker::block_bytes(n))?;
        Ok(BlockKeeper::with_memory_limit(*bytes, Arc::new(file)))
    }

    /// Divides the memory for rows of `n` entries.
    pub(crate) fn share_out(
        &self,
        n: usize,
        n_clients: usize,
        n_threads: usize,
        plan: &SamplePlan,
    ) -> Result<Shares, Error> {
        let Some((bytes, scratch)) = &self.limit else {
            return Ok(Shares { n_readers: n_threads, keeper: BlockKeeper::in_memory() });
        };
        let block = ClientPacker::block_bytes(n);
        // The chunk, decoded and as rows.
        let chunk = 2 * CHUNK_ROWS * n * size_of::<f64>();
        let packing = ClientPacker::max_bytes(n) + chunk + RowSketcher::BYTES;
        let summing = n_threads * block;
        if *bytes < packing + summing {
            return Err(Error::TooLittleMemory { limit: *bytes, required: packing + summing, n });
        }
        let reader = packing + n * COLUMN_BYTES;
        // The sketches are dropped before the solver starts.
        let later = solver_bytes(n, n_clients).max(RowSketch::max_bytes(n_clients));
        let left = bytes.saturating_sub(PROGRAM_BYTES + summing + later + plan.max_bytes());
        // Reading several files at once is worth part of the memory, but not all of it.
        let n_readers = (left / 2 / reader).clamp(1, n_threads);
        let room = left.saturating_sub(n_readers * reader);
        let keeper =
            BlockKeeper::with_memory_limit(room, Arc::new(ScratchFile::create(scratch, block)?));
        Ok(Shares { n_readers, keeper })
    }
}

/// Bytes used by a solver: the statistics of all clients at up to eight models, as measured.
fn solver_bytes(n: usize, n_clients: usize) -> usize {
    let statistics = n_clients.saturating_mul(1 + n + n * (n + 1) / 2);
    statistics.saturating_mul(8 * size_of::<f64>())
}
