//! How much memory the proxies of a round may take, and how it is shared out.

use std::path::PathBuf;
use std::sync::Arc;

use equipoise_core::{BlockKeeper, ClientPacker};

use crate::error::Error;
use crate::proxy::CHUNK_ROWS;
use crate::row_sketch::{RowSketch, RowSketcher};
use crate::scratch_file::ScratchFile;

/// Bytes that the program itself takes, roots, model and report included.
const PROGRAM_BYTES: usize = 48 << 20;

/// Bytes that a decoder takes for each column of a table, as files are commonly written: a page of a column as it
/// comes, and the same decompressed.
const COLUMN_BYTES: usize = 5 << 19;

/// How much memory a round may take while it is read and solved.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    limit: Option<(usize, PathBuf)>,
}

/// How the memory is shared out for rows of some length.
pub(crate) struct Shares {
    /// Files that are read at the same time.
    pub(crate) n_readers: usize,
    /// Keeps the rows.
    pub(crate) keeper: BlockKeeper,
}

impl Memory {
    /// All proxies are kept in memory, whatever they take.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// The whole program shall take no more than so many bytes; rows for which there is no room go to a nameless
    /// file in the scratch folder. The program itself takes about 48 MiB and a decoder 2.5 MiB per column: with
    /// less, no rows stay in memory, and what is left cannot be made smaller.
    pub fn at_most(bytes: usize, scratch: PathBuf) -> Self {
        Self { limit: Some((bytes, scratch)) }
    }

    /// Shares the memory out for rows of `n` entries, of so many clients, and so many threads.
    pub(crate) fn share_out(
        &self,
        n: usize,
        n_clients: usize,
        n_threads: usize,
    ) -> Result<Shares, Error> {
        let Some((bytes, scratch)) = &self.limit else {
            return Ok(Shares { n_readers: n_threads, keeper: BlockKeeper::in_memory() });
        };
        let block = ClientPacker::block_bytes(n);
        // The chunk as it is decoded and as rows.
        let chunk = 2 * CHUNK_ROWS * n * size_of::<f64>();
        let packing = ClientPacker::most_bytes(n) + chunk + RowSketcher::BYTES;
        let summing = n_threads * block;
        if *bytes < packing + summing {
            return Err(Error::TooLittleMemory { found: *bytes, least: packing + summing, n });
        }
        let reader = packing + n * COLUMN_BYTES;
        // The sketches are gone before the solver begins.
        let later = solver_bytes(n, n_clients).max(RowSketch::max_bytes(n_clients));
        let left = bytes.saturating_sub(PROGRAM_BYTES + summing + later);
        // Reading several files at once is worth a part of the memory, but not all of it.
        let n_readers = (left / 2 / reader).clamp(1, n_threads);
        let room = left.saturating_sub(n_readers * reader);
        let keeper = BlockKeeper::with_room(room, Arc::new(ScratchFile::create(scratch, block)?));
        Ok(Shares { n_readers, keeper })
    }
}

/// Bytes that a solver takes: statistics of all clients at a few models at a time, eight of them as measured.
fn solver_bytes(n: usize, n_clients: usize) -> usize {
    let statistics = n_clients.saturating_mul(1 + n + n * (n + 1) / 2);
    statistics.saturating_mul(8 * size_of::<f64>())
}
