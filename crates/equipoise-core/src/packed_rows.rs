//! The rows of all clients as the kernel wants them: labels multiplied in, four rows to a panel.
//!
//! Rows that occur several times are kept once, with a count, where that leaves little enough of them. The
//! order of the rows decides which of them stand where, and nothing else does: the sums are a function of the
//! rows, whatever the number of threads, and whether a block is in memory or has to be read from elsewhere.

mod block_keeper;
mod client_packer;
mod kinds;

use rayon::prelude::*;
use std::cell::RefCell;

use crate::error::Error;
use crate::kernel::lanes::Quad;
use crate::kernel::{Scratch, n_sums, sum_block};
use crate::rows::Rows;
use crate::statistics::{ClientStatistics, Order, Statistics};
use block_keeper::{Buffers, PackedBlock, Place};
use client_packer::pack_row;

pub use block_keeper::{BlockKeeper, Precision, Spill, SpillError};
pub use client_packer::{ClientPacker, PackedClient};

/// Rows that are summed by one thread in one go. The sums of the blocks are added in the order of the
/// rows, so the grouping, and with it every bit of the result, is the same for any number of threads.
pub(crate) const BLOCK_ROWS: usize = 1024;

/// Below this many rows times entries a pass is not worth the hand-over to other threads. The blocks stay
/// the same.
const PARALLEL_NUMBERS: usize = 32 * BLOCK_ROWS;

/// Bytes of the sums of blocks that are summed together before they are added up; and blocks for each thread, so
/// that no thread waits long for the others.
const SUMS_BYTES: usize = 1 << 20;
const BLOCKS_PER_THREAD: usize = 16;

/// The rows of all clients, packed.
#[derive(Debug, Clone)]
pub struct PackedRows {
    n: usize,
    /// Rows of each client.
    n_rows: Vec<usize>,
    /// Client after client, each with the client that it is of.
    blocks: Vec<(usize, PackedBlock)>,
    keeper: BlockKeeper,
    /// The norm of the longest row, where the packer has told it.
    longest_row: Option<f64>,
}

#[derive(Default)]
struct ThreadMemory {
    kernel: Scratch,
    block: Buffers,
}

thread_local! {
    static MEMORY: RefCell<ThreadMemory> = RefCell::default();
}

impl PackedRows {
    /// The clients, in this order, whose blocks `keeper` has. All must have one layout.
    pub fn new(clients: Vec<PackedClient>, keeper: BlockKeeper) -> Result<Self, Error> {
        let layout = clients.first().ok_or(Error::NoClients)?.layout;
        if let Some(other) = clients.iter().find(|client| client.layout != layout) {
            return Err(Error::Features { expected: layout.n(), found: other.layout.n() });
        }
        let n_rows = clients.iter().map(|client| client.n_rows).collect();
        let longest_row =
            clients.iter().map(|client| client.longest_row).fold(Some(0.0), longest_of_both);
        let blocks = clients.into_iter().enumerate();
        let blocks = blocks.flat_map(|(c, client)| client.blocks.into_iter().map(move |b| (c, b)));
        Ok(Self { n: layout.n(), n_rows, blocks: blocks.collect(), keeper, longest_row })
    }

    /// Packs the rows of each client in memory, equal rows merged where that pays. All must have one layout.
    pub(crate) fn merged(clients: &[Rows]) -> Result<Self, Error> {
        let keeper = BlockKeeper::in_memory();
        let pack = |rows: &Rows| {
            let mut packer = ClientPacker::new(rows.layout(), &keeper);
            packer.push(rows)?;
            packer.finish()
        };
        let packed = clients.par_iter().map(pack).collect::<Result<_, Error>>()?;
        Self::new(packed, keeper)
    }

    /// Packs the rows of each client in memory, every one by itself. All must have one layout.
    pub(crate) fn unmerged(clients: &[Rows]) -> Result<Self, Error> {
        let packed = clients.par_iter().map(PackedClient::unmerged).collect();
        Self::new(packed, BlockKeeper::in_memory())
    }

    /// Packs the rows of a client again after they have moved; their number must be the same, and they must
    /// be in memory and not merged.
    pub(crate) fn repack(&mut self, client: usize, rows: &Rows) {
        let (first, behind) = self.blocks_of(client);
        let blocks = self.blocks[first..behind].par_iter_mut().enumerate();
        blocks.for_each(|(at, (_, block))| block.pack(rows, at * BLOCK_ROWS));
    }

    /// The first block of a client, and the one behind its last.
    fn blocks_of(&self, client: usize) -> (usize, usize) {
        let up_to = |c: usize| self.blocks.partition_point(|(of, _)| *of < c);
        (up_to(client), up_to(client + 1))
    }
}

impl PackedClient {
    fn unmerged(rows: &Rows) -> Self {
        let n = rows.layout().n();
        let starts = (0..rows.len()).into_par_iter().step_by(BLOCK_ROWS);
        let blocks = starts.map(|start| {
            let n_rows = BLOCK_ROWS.min(rows.len() - start);
            let place = Place::Memory(vec![Quad::default(); n_rows.div_ceil(4) * n].into());
            let precision = Precision::Double;
            let mut block = PackedBlock { n_rows, counted: false, precision, place };
            block.pack(rows, start);
            block
        });
        Self::of_blocks(rows, blocks.collect())
    }
}

impl PackedBlock {
    /// Packs the rows from `start` on.
    fn pack(&mut self, rows: &Rows, start: usize) {
        let n = rows.layout().n();
        if let Place::Memory(quads) = &mut self.place {
            for (at, panel) in quads.chunks_exact_mut(n).enumerate() {
                for lane in 0..4.min(self.n_rows - 4 * at) {
                    let i = start + 4 * at + lane;
                    pack_row(panel, lane, rows.a(i), rows.labels()[i]);
                }
            }
        }
    }
}

impl ClientStatistics for PackedRows {
    fn n_clients(&self) -> usize {
        self.n_rows.len()
    }

    fn n(&self) -> usize {
        self.n
    }

    fn n_rows(&self, client: usize) -> usize {
        self.n_rows[client]
    }

    fn longest_row(&self) -> Option<f64> {
        self.longest_row
    }

    fn evaluate(&self, theta: &[f64], order: Order) -> Result<Statistics, Error> {
        self.evaluate_each(theta, &vec![Some(order); self.n_clients()])
    }

    fn evaluate_each(&self, theta: &[f64], wanted: &[Option<Order>]) -> Result<Statistics, Error> {
        let mut statistics = Statistics::zeros_each(self.n, wanted);
        let place = |client: usize| (client, wanted[client]);
        self.sum_blocks(theta, &self.blocks, place, &mut statistics)?;
        Ok(statistics)
    }

    fn evaluate_client(
        &self,
        client: usize,
        theta: &[f64],
        order: Order,
    ) -> Result<Statistics, Error> {
        let (first, behind) = self.blocks_of(client);
        let mut statistics = Statistics::zeros(1, self.n, order);
        let place = |_: usize| (0, Some(order));
        self.sum_blocks(theta, &self.blocks[first..behind], place, &mut statistics)?;
        Ok(statistics)
    }
}

impl PackedRows {
    /// Sums up some blocks and adds them, in their order, to where `place` says that their client stands, as
    /// far as it says that they are wanted.
    fn sum_blocks(
        &self,
        theta: &[f64],
        blocks: &[(usize, PackedBlock)],
        place: impl Fn(usize) -> (usize, Option<Order>),
        statistics: &mut Statistics,
    ) -> Result<(), Error> {
        let n = self.n;
        if theta.len() != n {
            return Err(Error::Features { expected: n, found: theta.len() });
        }
        let wanted = |(client, block)| match place(client) {
            (client, Some(order)) => Some(Wanted { client, order, block }),
            (_, None) => None,
        };
        let wanted: Vec<Wanted<'_>> =
            blocks.iter().filter_map(|(client, block)| wanted((*client, block))).collect();
        let Some(highest) = wanted.iter().map(|block| block.order).max() else { return Ok(()) };
        let stride = n_sums(n, highest);
        let at_once =
            (SUMS_BYTES / (8 * stride)).max(BLOCKS_PER_THREAD * rayon::current_num_threads());
        let mut sums = vec![0.0; at_once.min(wanted.len()) * stride];
        let n_rows: usize = wanted.iter().map(|wanted| wanted.block.n_rows).sum();
        let in_parallel = n_rows * n >= PARALLEL_NUMBERS;
        // As many rows as a full block has: a thread that is done early takes over what the other has not begun.
        let in_one_go = (wanted.len() * BLOCK_ROWS / n_rows.max(1)).max(1);
        for blocks in wanted.chunks(at_once) {
            if in_parallel {
                let sums = blocks.par_iter().zip(sums.par_chunks_exact_mut(stride));
                let sums = sums.with_max_len(in_one_go).with_min_len(in_one_go);
                sums.try_for_each(|(b, sums)| self.sum(b, theta, sums))?;
            } else {
                let mut sums = blocks.iter().zip(sums.chunks_exact_mut(stride));
                sums.try_for_each(|(b, sums)| self.sum(b, theta, sums))?;
            }
            for (block, sums) in blocks.iter().zip(sums.chunks_exact(stride)) {
                statistics.add(block.client, &sums[..n_sums(n, block.order)]);
            }
        }
        Ok(())
    }

    fn sum(&self, wanted: &Wanted<'_>, theta: &[f64], sums: &mut [f64]) -> Result<(), Error> {
        let sums = &mut sums[..n_sums(self.n, wanted.order)];
        MEMORY.with_borrow_mut(|memory| {
            let block = self.keeper.open(wanted.block, self.n, &mut memory.block)?;
            sum_block(block, theta, wanted.order, &mut memory.kernel, sums);
            Ok(())
        })
    }
}

fn longest_of_both(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a?.max(b?))
}

/// A block, where its sums go, and how far they are wanted.
struct Wanted<'a> {
    client: usize,
    order: Order,
    block: &'a PackedBlock,
}

#[cfg(test)]
mod tests;
