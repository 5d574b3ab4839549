//! One pass: blocks are summed up by all threads, and their sums are added in the order of the rows.

use rayon::prelude::*;
use std::cell::RefCell;

use super::BLOCK_ROWS;
use super::block_keeper::{BlockKeeper, PackedBlock};
use crate::error::Error;
use crate::kernel::lanes::Quad;
use crate::kernel::{Scratch, n_sums, sum_block};
use crate::statistics::{ClientPlace, Order};

/// Below this many rows times entries a pass is not worth the hand-over to other threads. The blocks stay
/// the same.
const PARALLEL_NUMBERS: usize = 32 * BLOCK_ROWS;

/// Bytes of the sums of blocks that are summed together before they are added up; and blocks for each thread, so
/// that no thread waits long for the others.
const SUMS_BYTES: usize = 1 << 20;
const BLOCKS_PER_THREAD: usize = 16;

/// A block, where its sums go, and how far they are wanted.
pub(super) struct WantedBlock<'a> {
    pub(super) place: usize,
    pub(super) order: Order,
    pub(super) block: &'a PackedBlock,
}

/// The model at which a pass sums up, and who has the blocks.
pub(super) struct Pass<'a> {
    pub(super) theta: &'a [f64],
    pub(super) keeper: &'a BlockKeeper,
}

/// What a thread keeps from one block to the next.
#[derive(Default)]
struct ThreadMemory {
    kernel: Scratch,
    buffer: Vec<Quad>,
    sums: Vec<f64>,
}

thread_local! {
    static MEMORY: RefCell<ThreadMemory> = RefCell::default();
}

/// A block that is all there is of its client goes straight to its place.
type Alone<'a, 'b> = (&'b WantedBlock<'a>, ClientPlace<'b>);
/// Blocks of a client that has several go to the place of this number, one after the other.
type OneOfSeveral<'a, 'b> = (&'b WantedBlock<'a>, usize);

impl Pass<'_> {
    /// Adds the sums of blocks, which are in the order of their places, to `places`.
    pub(super) fn add_up(
        &self,
        blocks: &[WantedBlock<'_>],
        places: Vec<ClientPlace<'_>>,
    ) -> Result<(), Error> {
        let mut places = places.into_iter().enumerate();
        let (mut alone, mut several, mut places_of_several) = (Vec::new(), Vec::new(), Vec::new());
        for of_one in blocks.chunk_by(|a, b| a.place == b.place) {
            let place = places.find(|(place, _)| *place == of_one[0].place);
            let place = place.map(|(_, place)| place);
            if let [block] = of_one {
                alone.extend(place.map(|place| (block, place)));
            } else {
                several.extend(of_one.iter().map(|block| (block, places_of_several.len())));
                places_of_several.extend(place);
            }
        }
        self.add_alone(alone)?;
        self.add_several(&several, &mut places_of_several)
    }

    fn add_alone(&self, mut blocks: Vec<Alone<'_, '_>>) -> Result<(), Error> {
        let split = Split::of(blocks.iter().map(|(block, _)| *block), self.theta.len());
        let add = |(block, place): &mut Alone<'_, '_>| {
            MEMORY.with_borrow_mut(|memory| {
                let ThreadMemory { kernel, buffer, sums } = memory;
                sums.resize(n_sums(self.theta.len(), block.order), 0.0);
                self.sum(block, kernel, buffer, sums)?;
                place.add(sums);
                Ok(())
            })
        };
        if split.in_parallel {
            split.share(blocks.par_iter_mut()).try_for_each(add)
        } else {
            blocks.iter_mut().try_for_each(add)
        }
    }

    fn add_several(
        &self,
        blocks: &[OneOfSeveral<'_, '_>],
        places: &mut [ClientPlace<'_>],
    ) -> Result<(), Error> {
        let n = self.theta.len();
        let Some(highest) = blocks.iter().map(|(block, _)| block.order).max() else {
            return Ok(());
        };
        let stride = n_sums(n, highest);
        let at_once =
            (SUMS_BYTES / (8 * stride)).max(BLOCKS_PER_THREAD * rayon::current_num_threads());
        let mut sums = vec![0.0; at_once.min(blocks.len()) * stride];
        let split = Split::of(blocks.iter().map(|(block, _)| *block), n);
        let sum = |((block, _), sums): (&OneOfSeveral<'_, '_>, &mut [f64])| {
            let sums = &mut sums[..n_sums(n, block.order)];
            MEMORY.with_borrow_mut(|memory| {
                self.sum(block, &mut memory.kernel, &mut memory.buffer, sums)
            })
        };
        for blocks in blocks.chunks(at_once) {
            if split.in_parallel {
                let sums = blocks.par_iter().zip(sums.par_chunks_exact_mut(stride));
                split.share(sums).try_for_each(sum)?;
            } else {
                blocks.iter().zip(sums.chunks_exact_mut(stride)).try_for_each(sum)?;
            }
            for ((block, place), sums) in blocks.iter().zip(sums.chunks_exact(stride)) {
                places[*place].add(&sums[..n_sums(n, block.order)]);
            }
        }
        Ok(())
    }

    fn sum(
        &self,
        wanted: &WantedBlock<'_>,
        kernel: &mut Scratch,
        buffer: &mut Vec<Quad>,
        sums: &mut [f64],
    ) -> Result<(), Error> {
        let block = self.keeper.open(wanted.block, self.theta.len(), buffer)?;
        sum_block(block, self.theta, wanted.order, kernel, sums);
        Ok(())
    }
}

/// How blocks are shared out among threads.
struct Split {
    in_parallel: bool,
    /// As many blocks as have the rows of a full one: a thread that is done early takes over what the other has not begun.
    in_one_go: usize,
}

impl Split {
    fn of<'a>(blocks: impl ExactSizeIterator<Item = &'a WantedBlock<'a>>, n: usize) -> Self {
        let n_blocks = blocks.len();
        let n_rows: usize = blocks.map(|wanted| wanted.block.n_rows).sum();
        Self {
            in_parallel: n_rows * n >= PARALLEL_NUMBERS,
            in_one_go: (n_blocks * BLOCK_ROWS / n_rows.max(1)).max(1),
        }
    }

    fn share<I: IndexedParallelIterator>(
        &self,
        blocks: I,
    ) -> impl IndexedParallelIterator<Item = I::Item> {
        blocks.with_min_len(self.in_one_go).with_max_len(self.in_one_go)
    }
}
