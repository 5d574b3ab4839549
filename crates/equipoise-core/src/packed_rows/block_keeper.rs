//! Where packed blocks are kept: in memory as long as there is room, and elsewhere from then on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Error;
use crate::kernel::Block;
use crate::kernel::lanes::{Quad, as_bytes, as_bytes_mut};

/// A place outside memory for blocks of packed rows. The core does no I/O: whoever has a disk implements this.
pub trait Spill: Send + Sync {
    /// Takes some bytes, and says where they are.
    fn write(&self, bytes: &[u8]) -> Result<u64, SpillError>;

    /// Gives back what was written there, all of it.
    fn read(&self, place: u64, bytes: &mut [u8]) -> Result<(), SpillError>;

    /// What was written there is not needed any more.
    fn forget(&self, place: u64);
}

/// Why a [`Spill`] could not write or read.
pub type SpillError = Box<dyn std::error::Error + Send + Sync>;

/// Keeps blocks, for all clients of a round. Which of them stay in memory changes no bit of any result.
#[derive(Clone)]
pub struct BlockKeeper {
    /// Bytes that blocks may still take, and where the others go; `None`: all stay in memory.
    limit: Option<(Arc<AtomicUsize>, Arc<dyn Spill>)>,
}

/// Some rows of a client, four to a panel: the entries of all panels, then the counts of all rows, if any.
#[derive(Debug, Clone)]
pub(super) struct PackedBlock {
    /// Rows, without those that fill up the last panel.
    pub(super) n_rows: usize,
    /// Whether rows have counts.
    pub(super) counted: bool,
    pub(super) place: Place,
}

#[derive(Debug, Clone)]
pub(super) enum Place {
    Memory(Box<[Quad]>),
    Spilled(u64),
}

impl BlockKeeper {
    /// Keeps all blocks in memory.
    pub fn in_memory() -> Self {
        Self { limit: None }
    }

    /// Keeps blocks of so many bytes in memory, and spills the others.
    pub fn with_room(bytes: usize, spill: Arc<dyn Spill>) -> Self {
        let limit = Some((Arc::new(AtomicUsize::new(bytes)), spill));
        Self { limit }
    }

    /// Keeps a block. Its memory is left to the next one if it is not needed for this one.
    pub(super) fn keep(
        &self,
        quads: &mut Vec<Quad>,
        n_rows: usize,
        counted: bool,
    ) -> Result<PackedBlock, Error> {
        let bytes = size_of_val(&**quads);
        let take = |room: usize| room.checked_sub(bytes);
        let place = match &self.limit {
            Some((room, spill))
                if room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() =>
            {
                let offset = spill.write(as_bytes(quads)).map_err(Error::Source)?;
                quads.clear();
                Place::Spilled(offset)
            }
            _ => Place::Memory(std::mem::take(quads).into_boxed_slice()),
        };
        Ok(PackedBlock { n_rows, counted, place })
    }

    /// Makes room: the block is not needed any more.
    pub(super) fn forget(&self, block: PackedBlock) {
        let Some((room, spill)) = &self.limit else { return };
        let bytes = match &block.place {
            Place::Memory(quads) => size_of_val(&**quads),
            Place::Spilled(place) => return spill.forget(*place),
        };
        drop(block);
        room.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The block with rows of `n` entries, as the kernel wants it. One that is kept otherwise is read into `buffer`.
    pub(super) fn open<'a>(
        &self,
        block: &'a PackedBlock,
        n: usize,
        buffer: &'a mut Vec<Quad>,
    ) -> Result<Block<'a>, Error> {
        let panels = block.n_rows.div_ceil(4);
        let quads: &[Quad] = match &block.place {
            Place::Memory(quads) => quads,
            Place::Spilled(offset) => {
                buffer.resize(panels * (n + usize::from(block.counted)), Quad::default());
                if let Some((_, spill)) = &self.limit {
                    spill.read(*offset, as_bytes_mut(buffer)).map_err(Error::Source)?;
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
