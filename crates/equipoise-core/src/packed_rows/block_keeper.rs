//! Storage of packed blocks: in memory while there is room, then elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Error;
use crate::kernel::Block;
use crate::kernel::lanes::{Quad, as_bytes, as_bytes_mut};

/// Storage outside memory for blocks of packed rows. The core does no I/O, so the caller implements this.
pub trait Spill: Send + Sync {
    /// Writes the bytes and returns their location.
    fn write(&self, bytes: &[u8]) -> Result<u64, SpillError>;

    /// Reads everything that was written at a location.
    fn read(&self, location: u64, bytes: &mut [u8]) -> Result<(), SpillError>;

    /// Frees a location.
    fn forget(&self, location: u64);
}

/// Why a [`Spill`] could not write or read.
pub type SpillError = Box<dyn std::error::Error + Send + Sync>;

/// Stores the blocks of all clients of a round. Which of them stay in memory does not affect any result.
#[derive(Clone)]
pub struct BlockKeeper {
    /// Bytes left for blocks in memory, and the storage for the others. `None`: all stay in memory.
    limit: Option<(Arc<AtomicUsize>, Arc<dyn Spill>)>,
}

/// Rows of a client, four to a panel: the entries of all panels, then the counts of all rows, if any. Its storage is free
/// for others when it is dropped.
#[derive(Debug)]
pub(super) struct PackedBlock {
    /// Number of rows without padding.
    pub(super) n_rows: usize,
    /// Whether rows have counts.
    pub(super) counted: bool,
    pub(super) storage: Storage,
    pub(super) keeper: BlockKeeper,
}

#[derive(Debug)]
pub(super) enum Storage {
    Memory(Box<[Quad]>),
    /// The location in the [`Spill`].
    Spilled(u64),
}

impl PackedBlock {
    /// Bytes in memory.
    pub(super) fn bytes_in_memory(&self) -> usize {
        match &self.storage {
            Storage::Memory(quads) => size_of_val(&**quads),
            Storage::Spilled(_) => 0,
        }
    }
}

impl Drop for PackedBlock {
    fn drop(&mut self) {
        let Some((room, spill)) = &self.keeper.limit else { return };
        match &mut self.storage {
            Storage::Memory(quads) => {
                let bytes = size_of_val(&**quads);
                drop(std::mem::take(quads));
                room.fetch_add(bytes, Ordering::Relaxed);
            }
            Storage::Spilled(location) => spill.forget(*location),
        }
    }
}

impl BlockKeeper {
    /// Keeps all blocks in memory.
    pub fn in_memory() -> Self {
        Self { limit: None }
    }

    /// Keeps up to `bytes` of blocks in memory and spills the others.
    pub fn with_memory_limit(bytes: usize, spill: Arc<dyn Spill>) -> Self {
        Self { limit: Some((Arc::new(AtomicUsize::new(bytes)), spill)) }
    }

    /// Stores a block and leaves `quads` empty. A spilled block leaves its memory to the next one.
    pub(super) fn keep(
        &self,
        quads: &mut Vec<Quad>,
        n_rows: usize,
        counted: bool,
    ) -> Result<PackedBlock, Error> {
        let bytes = size_of_val(&**quads);
        let take = |room: usize| room.checked_sub(bytes);
        let storage = match &self.limit {
            Some((room, spill))
                if room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() =>
            {
                let location = spill.write(as_bytes(quads)).map_err(Error::Source)?;
                quads.clear();
                Storage::Spilled(location)
            }
            _ => Storage::Memory(std::mem::take(quads).into_boxed_slice()),
        };
        Ok(PackedBlock { n_rows, counted, storage, keeper: self.clone() })
    }

    /// Appends the bytes of a block with rows of `n` entries.
    pub(super) fn copy_out(
        &self,
        block: &PackedBlock,
        n: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let mut buffer = Vec::new();
        let Block { values, counts, .. } = self.open(block, n, &mut buffer)?;
        bytes.extend_from_slice(as_bytes(values));
        bytes.extend_from_slice(as_bytes(counts.unwrap_or_default()));
        Ok(())
    }

    /// Stores the block at the start of `bytes`, with rows of `n` entries, and moves on. `None` if there are too few bytes.
    pub(super) fn copy_in(
        &self,
        (n_rows, n): (usize, usize),
        counted: bool,
        bytes: &mut &[u8],
    ) -> Result<Option<PackedBlock>, Error> {
        let size = n.checked_add(1).and_then(|n| n.checked_mul(n_rows.div_ceil(4)));
        if size.is_none_or(|size| size > bytes.len()) {
            return Ok(None);
        }
        let mut quads = vec![Quad::default(); n_rows.div_ceil(4) * (n + usize::from(counted))];
        let Some((block, rest)) = bytes.split_at_checked(size_of_val(&*quads)) else {
            return Ok(None);
        };
        as_bytes_mut(&mut quads).copy_from_slice(block);
        *bytes = rest;
        self.keep(&mut quads, n_rows, counted).map(Some)
    }

    /// A block with rows of `n` entries in the kernel's format. A spilled block is read into `buffer`.
    pub(super) fn open<'a>(
        &self,
        block: &'a PackedBlock,
        n: usize,
        buffer: &'a mut Vec<Quad>,
    ) -> Result<Block<'a>, Error> {
        let panels = block.n_rows.div_ceil(4);
        let quads: &[Quad] = match &block.storage {
            Storage::Memory(quads) => quads,
            Storage::Spilled(location) => {
                buffer.resize(panels * (n + usize::from(block.counted)), Quad::default());
                if let Some((_, spill)) = &self.limit {
                    spill.read(*location, as_bytes_mut(buffer)).map_err(Error::Source)?;
                }
                buffer
            }
        };
        let (values, counts) = quads.split_at(panels * n);
        Ok(Block { values, counts: block.counted.then_some(counts), n_rows: block.n_rows })
    }
}

impl std::fmt::Debug for BlockKeeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let room = self.limit.as_ref().map(|(room, _)| room.load(Ordering::Relaxed));
        f.debug_struct("BlockKeeper").field("room", &room).finish_non_exhaustive()
    }
}
