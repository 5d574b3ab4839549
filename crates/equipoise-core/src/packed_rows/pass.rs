//! One pass: all threads sum up blocks, and the sums are added in the order of the rows.

use rayon::prelude::*;
use std::cell::RefCell;

use super::BLOCK_ROWS;
use super::packed_block::PackedBlock;
use crate::kernel::{Scratch, n_sums, sum_block};
use crate::statistics::{ClientSlots, Order};

/// Minimum number of entries (rows times row length) for which using several threads is worthwhile. The blocks are the
/// same either way.
const PARALLEL_NUMBERS: usize = 32 * BLOCK_ROWS;

/// Bytes of block sums that are computed before they are added up.
const SUMS_BYTES: usize = 1 << 20;
/// Blocks per thread between two such additions, so that no thread waits long for the others.
const BLOCKS_PER_THREAD: usize = 16;

/// A block, the slot for its sums, and the order requested.
pub(super) struct RequestedBlock<'a> {
    pub(super) slot: usize,
    pub(super) order: Order,
    pub(super) block: &'a PackedBlock,
}

/// A pass at a model.
pub(super) struct Pass<'a> {
    pub(super) theta: &'a [f64],
}

/// Memory that a thread reuses from block to block.
#[derive(Default)]
struct ThreadMemory {
    kernel: Scratch,
    sums: Vec<f64>,
}

thread_local! {
    static MEMORY: RefCell<ThreadMemory> = RefCell::default();
}

/// The only block of its client, whose sums go straight to the client's slot.
type OnlyBlock<'a, 'b> = (&'b RequestedBlock<'a>, ClientSlots<'b>);
/// One of several blocks of a client, whose sums are added one after the other to the slot of this index.
type OneOfSeveral<'a, 'b> = (&'b RequestedBlock<'a>, usize);

impl Pass<'_> {
    /// Adds the sums of blocks, which are ordered by slot, to `slots`.
    pub(super) fn add_up(&self, blocks: &[RequestedBlock<'_>], slots: Vec<ClientSlots<'_>>) {
        let mut slots = slots.into_iter().enumerate();
        let (mut only, mut several, mut slots_of_several) = (Vec::new(), Vec::new(), Vec::new());
        for of_client in blocks.chunk_by(|a, b| a.slot == b.slot) {
            let slot = slots.find(|(slot, _)| *slot == of_client[0].slot).map(|(_, slot)| slot);
            if let [block] = of_client {
                only.extend(slot.map(|slot| (block, slot)));
            } else {
                several.extend(of_client.iter().map(|block| (block, slots_of_several.len())));
                slots_of_several.extend(slot);
            }
        }
        self.add_only(only);
        self.add_several(&several, &mut slots_of_several);
    }

    fn add_only(&self, mut blocks: Vec<OnlyBlock<'_, '_>>) {
        let split = Split::of(blocks.iter().map(|(block, _)| *block), self.theta.len());
        let add = |(block, slot): &mut OnlyBlock<'_, '_>| {
            MEMORY.with_borrow_mut(|memory| {
                let ThreadMemory { kernel, sums } = memory;
                sums.resize(n_sums(self.theta.len(), block.order), 0.0);
                self.sum(block, kernel, sums);
                slot.add(sums);
            });
        };
        if split.in_parallel {
            split.share(blocks.par_iter_mut()).for_each(add);
        } else {
            blocks.iter_mut().for_each(add);
        }
    }

    fn add_several(&self, blocks: &[OneOfSeveral<'_, '_>], slots: &mut [ClientSlots<'_>]) {
        let n = self.theta.len();
        let Some(highest) = blocks.iter().map(|(block, _)| block.order).max() else {
            return;
        };
        let stride = n_sums(n, highest);
        let at_once =
            (SUMS_BYTES / (8 * stride)).max(BLOCKS_PER_THREAD * rayon::current_num_threads());
        let mut sums = vec![0.0; at_once.min(blocks.len()) * stride];
        let split = Split::of(blocks.iter().map(|(block, _)| *block), n);
        let sum = |((block, _), sums): (&OneOfSeveral<'_, '_>, &mut [f64])| {
            let sums = &mut sums[..n_sums(n, block.order)];
            MEMORY.with_borrow_mut(|memory| self.sum(block, &mut memory.kernel, sums));
        };
        for blocks in blocks.chunks(at_once) {
            if split.in_parallel {
                let sums = blocks.par_iter().zip(sums.par_chunks_exact_mut(stride));
                split.share(sums).for_each(sum);
            } else {
                blocks.iter().zip(sums.chunks_exact_mut(stride)).for_each(sum);
            }
            for ((block, slot), sums) in blocks.iter().zip(sums.chunks_exact(stride)) {
                slots[*slot].add(&sums[..n_sums(n, block.order)]);
            }
        }
    }

    fn sum(&self, requested: &RequestedBlock<'_>, kernel: &mut Scratch, sums: &mut [f64]) {
        let block = requested.block.in_kernel_format(self.theta.len());
        sum_block(block, self.theta, requested.order, kernel, sums);
    }
}

/// How blocks are divided among threads.
struct Split {
    in_parallel: bool,
    /// Blocks per task: about enough to have as many rows as a full block. An idle thread takes over tasks
    /// from the others.
    per_task: usize,
}

impl Split {
    fn of<'a>(blocks: impl ExactSizeIterator<Item = &'a RequestedBlock<'a>>, n: usize) -> Self {
        let n_blocks = blocks.len();
        let n_rows: usize = blocks.map(|requested| requested.block.n_rows).sum();
        Self {
            in_parallel: n_rows * n >= PARALLEL_NUMBERS,
            per_task: (n_blocks * BLOCK_ROWS / n_rows.max(1)).max(1),
        }
    }

    fn share<I: IndexedParallelIterator>(
        &self,
        blocks: I,
    ) -> impl IndexedParallelIterator<Item = I::Item> {
        blocks.with_min_len(self.per_task).with_max_len(self.per_task)
    }
}
