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

/// How exactly the entries of rows are kept. Sums are of double precision in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// As they come.
    #[default]
    Double,
    /// Rounded to single precision, some seven digits: half the memory, and half the bytes that a pass reads. Small
    /// whole numbers, as one-hot columns have, lose nothing.
    Single,
}

/// Keeps blocks, for all clients of a round. Which of them stay in memory changes no bit of any result.
#[derive(Clone)]
pub struct BlockKeeper {
    precision: Precision,
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
    /// Of its entries. Blocks with counts are always exact: merging leaves few of them.
    pub(super) precision: Precision,
    pub(super) place: Place,
}

#[derive(Debug, Clone)]
pub(super) enum Place {
    Memory(Box<[Quad]>),
    /// The bytes of numbers of single precision.
    Singles(Box<[u8]>),
    Spilled(u64),
}

impl BlockKeeper {
    /// Keeps all blocks in memory.
    pub fn in_memory() -> Self {
        Self { precision: Precision::Double, limit: None }
    }

    /// Keeps blocks of so many bytes in memory, and spills the others.
    pub fn with_room(bytes: usize, spill: Arc<dyn Spill>) -> Self {
        let limit = Some((Arc::new(AtomicUsize::new(bytes)), spill));
        Self { precision: Precision::Double, limit }
    }

    /// Keeps entries as exactly as this.
    pub fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// How exactly entries are kept.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Keeps a block. Its memory is left to the next one if it is not needed for this one.
    pub(super) fn keep(
        &self,
        quads: &mut Vec<Quad>,
        n_rows: usize,
        counted: bool,
    ) -> Result<PackedBlock, Error> {
        let precision = if counted { Precision::Double } else { self.precision };
        let place = match precision {
            Precision::Single => {
                let singles = as_singles(quads);
                quads.clear();
                self.find_place(singles, |bytes| bytes, |bytes| Place::Singles(bytes.into()))?
            }
            Precision::Double => {
                let place = self.find_place(
                    &mut *quads,
                    |quads| as_bytes(quads),
                    |quads| Place::Memory(std::mem::take(quads).into_boxed_slice()),
                )?;
                quads.clear();
                place
            }
        };
        Ok(PackedBlock { n_rows, counted, precision, place })
    }

    /// In memory where there is room, otherwise spilled.
    fn find_place<T>(
        &self,
        block: T,
        bytes: impl Fn(&T) -> &[u8],
        in_memory: impl FnOnce(T) -> Place,
    ) -> Result<Place, Error> {
        if let Some((room, spill)) = &self.limit {
            let take = |room: usize| room.checked_sub(bytes(&block).len());
            if room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
                return Ok(Place::Spilled(spill.write(bytes(&block)).map_err(Error::Source)?));
            }
        }
        Ok(in_memory(block))
    }

    /// Makes room: the block is not needed any more.
    pub(super) fn forget(&self, block: PackedBlock) {
        let Some((room, spill)) = &self.limit else { return };
        let bytes = match &block.place {
            Place::Memory(quads) => size_of_val(&**quads),
            Place::Singles(bytes) => bytes.len(),
            Place::Spilled(place) => return spill.forget(*place),
        };
        drop(block);
        room.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The block with rows of `n` entries, as the kernel wants it. One that is kept otherwise is put into `buffers`.
    pub(super) fn open<'a>(
        &self,
        block: &'a PackedBlock,
        n: usize,
        buffers: &'a mut Buffers,
    ) -> Result<Block<'a>, Error> {
        let Buffers { quads, singles } = buffers;
        let panels = block.n_rows.div_ceil(4);
        let size = panels * (n + usize::from(block.counted));
        let quads: &[Quad] = match (&block.place, block.precision) {
            (Place::Memory(quads), _) => quads,
            (Place::Singles(bytes), _) => from_singles(bytes, quads),
            (Place::Spilled(place), Precision::Double) => {
                quads.resize(size, Quad::default());
                self.read_back(*place, as_bytes_mut(quads))?;
                quads
            }
            (Place::Spilled(place), Precision::Single) => {
                singles.resize(size * size_of::<[f32; 4]>(), 0);
                self.read_back(*place, singles)?;
                from_singles(singles, quads)
            }
        };
        let (values, counts) = quads.split_at(panels * n);
        Ok(Block { values, counts: block.counted.then_some(counts), n_rows: block.n_rows })
    }

    fn read_back(&self, place: u64, bytes: &mut [u8]) -> Result<(), Error> {
        match &self.limit {
            Some((_, spill)) => spill.read(place, bytes).map_err(Error::Source),
            None => Ok(()),
        }
    }
}

/// Memory of a thread for blocks that are not in memory as the kernel wants them.
#[derive(Default)]
pub(super) struct Buffers {
    quads: Vec<Quad>,
    singles: Vec<u8>,
}

/// Rounded to single precision, as bytes.
fn as_singles(quads: &[Quad]) -> Vec<u8> {
    quads.iter().flat_map(|quad| quad.0).flat_map(|v| (v as f32).to_ne_bytes()).collect()
}

/// Back again.
fn from_singles<'a>(bytes: &[u8], quads: &'a mut Vec<Quad>) -> &'a [Quad] {
    quads.clear();
    quads.extend(bytes.as_chunks::<16>().0.iter().map(|four| {
        let single = |l: usize| {
            f32::from_ne_bytes([four[4 * l], four[4 * l + 1], four[4 * l + 2], four[4 * l + 3]])
        };
        Quad([single(0), single(1), single(2), single(3)].map(f64::from))
    }));
    quads
}

impl std::fmt::Debug for BlockKeeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let room = self.limit.as_ref().map(|(room, _)| room.load(Ordering::Relaxed));
        f.debug_struct("BlockKeeper").field("room", &room).finish_non_exhaustive()
    }
}
