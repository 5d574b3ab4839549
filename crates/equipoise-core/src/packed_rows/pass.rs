//! One pass: all threads sum up blocks, and the sums are added in the order of the rows.

use rayon::prelude::*;
use std::cell::RefCell;

use super::BLOCK_ROWS;
use crate::kernel::{Block, Scratch, n_sums, sum_block};
use crate::statistics::{Order, Statistics};

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
    pub(super) block: &'a Block,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Sums up blocks at a model, and adds the sums of one block after the other to its slot in `totals`.
pub(super) fn add_blocks(requests: &[RequestedBlock<'_>], theta: &[f64], totals: &mut Statistics) {
    let n = theta.len();
    let Some(highest) = requests.iter().map(|request| request.order).max() else { return };
    let stride = n_sums(n, highest);
    let n_rows: usize = requests.iter().map(|request| request.block.n_rows).sum();
    let in_parallel = n_rows * n >= PARALLEL_NUMBERS;
    // Blocks per task: about enough to have as many rows as a full block. An idle thread takes over tasks from the others.
    let per_task = (requests.len() * BLOCK_ROWS / n_rows.max(1)).max(1);
    let at_once = (SUMS_BYTES / (8 * stride)).max(BLOCKS_PER_THREAD * rayon::current_num_threads());
    let mut sums = vec![0.0; at_once.min(requests.len()) * stride];
    let sum = |(request, sums): (&RequestedBlock<'_>, &mut [f64])| {
        let &RequestedBlock { order, block, .. } = request;
        SCRATCH.with_borrow_mut(|scratch| {
            sum_block(block, theta, order, scratch, &mut sums[..n_sums(n, order)]);
        });
    };
    for requests in requests.chunks(at_once) {
        if in_parallel {
            let pairs = requests.par_iter().zip(sums.par_chunks_exact_mut(stride));
            pairs.with_min_len(per_task).with_max_len(per_task).for_each(sum);
        } else {
            requests.iter().zip(sums.chunks_exact_mut(stride)).for_each(sum);
        }
        for (request, sums) in requests.iter().zip(sums.chunks_exact(stride)) {
            totals.add(request.slot, &sums[..n_sums(n, request.order)]);
        }
    }
}
