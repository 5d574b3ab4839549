//! The rows of all clients as the kernel wants them: labels multiplied in, four rows to a panel.
//!
//! Rows that occur several times are kept once, with a count, where that leaves little enough of them. The
//! order of the rows decides which of them stand where, and nothing else does: the sums are a function of the
//! rows, whatever the number of threads.

mod distinct;

use rayon::prelude::*;
use std::cell::RefCell;
use std::ops::Range;

use crate::error::Error;
use crate::kernel::lanes::Quad;
use crate::kernel::{Block, Scratch, n_sums, sum_block};
use crate::rows::Rows;
use crate::statistics::{ClientStatistics, Order, Statistics};
use distinct::distinct_rows;

/// Rows that are summed by one thread in one go. The sums of the blocks are added in the order of the
/// rows, so the grouping, and with it every bit of the result, is the same for any number of threads.
pub(crate) const BLOCK_ROWS: usize = 1024;
const BLOCK_PANELS: usize = BLOCK_ROWS / 4;

/// Below this many rows times entries a pass is not worth the hand-over to other threads. The blocks stay
/// the same.
const PARALLEL_NUMBERS: usize = 32 * BLOCK_ROWS;

/// The rows of all clients, packed.
#[derive(Debug, Clone)]
pub(crate) struct PackedRows {
    n: usize,
    clients: Vec<PackedClient>,
    blocks: Vec<BlockPlace>,
    n_rows_in_all: usize,
}

#[derive(Debug, Clone)]
struct PackedClient {
    values: Vec<Quad>,
    counts: Option<Vec<Quad>>,
    /// Rows kept: fewer than there are where some are merged.
    n_kept: usize,
    n_rows: usize,
}

#[derive(Debug, Clone)]
struct BlockPlace {
    client: usize,
    panels: Range<usize>,
    n_rows: usize,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl PackedRows {
    /// Packs the rows of each client, equal rows merged where that pays. All must have one layout.
    pub(crate) fn merged(clients: &[Rows]) -> Result<Self, Error> {
        Self::new(clients, distinct_rows)
    }

    /// Packs the rows of each client, every one by itself. All must have one layout.
    pub(crate) fn unmerged(clients: &[Rows]) -> Result<Self, Error> {
        Self::new(clients, |_| None)
    }

    fn new(
        clients: &[Rows],
        distinct: impl Fn(&Rows) -> Option<(Vec<usize>, Vec<f64>)> + Sync,
    ) -> Result<Self, Error> {
        let layout = clients.first().ok_or(Error::NoClients)?.layout();
        if let Some(other) = clients.iter().find(|rows| rows.layout() != layout) {
            return Err(Error::Features { expected: layout.n(), found: other.layout().n() });
        }
        let pack = |rows: &Rows| match distinct(rows) {
            Some((kept, counts)) => {
                let mut packed = PackedClient::new(&rows.select(&kept));
                packed.counts = Some(
                    counts
                        .chunks(4)
                        .map(|part| {
                            Quad(std::array::from_fn(|l| part.get(l).copied().unwrap_or(0.0)))
                        })
                        .collect(),
                );
                packed.n_rows = rows.len();
                packed
            }
            None => PackedClient::new(rows),
        };
        let packed: Vec<PackedClient> = clients.par_iter().map(pack).collect();
        let blocks = packed.iter().enumerate().flat_map(|(client, rows)| {
            let n_kept = rows.n_kept;
            (0..n_kept).step_by(BLOCK_ROWS).map(move |start| {
                let n_rows = BLOCK_ROWS.min(n_kept - start);
                let panels = start / 4..(start + n_rows).div_ceil(4);
                BlockPlace { client, panels, n_rows }
            })
        });
        let blocks = blocks.collect();
        let n_rows_in_all = clients.iter().map(Rows::len).sum();
        Ok(Self { n: layout.n(), clients: packed, blocks, n_rows_in_all })
    }

    /// Packs the rows of a client again after they have moved; their number must be the same, and they must
    /// not have been merged.
    pub(crate) fn repack(&mut self, client: usize, rows: &Rows) {
        self.clients[client].pack(rows);
    }

    fn block(&self, place: &BlockPlace) -> Block<'_> {
        let client = &self.clients[place.client];
        let Range { start, end } = place.panels;
        Block {
            values: &client.values[start * self.n..end * self.n],
            counts: client.counts.as_ref().map(|counts| &counts[start..end]),
            n_rows: place.n_rows,
        }
    }
}

impl PackedClient {
    fn new(rows: &Rows) -> Self {
        let n_rows = rows.len();
        let values = vec![Quad::default(); n_rows.div_ceil(4) * rows.layout().n()];
        let mut packed = Self { values, counts: None, n_kept: n_rows, n_rows };
        packed.pack(rows);
        packed
    }

    fn pack(&mut self, rows: &Rows) {
        let n = rows.layout().n();
        self.values.par_chunks_mut(BLOCK_PANELS * n).enumerate().for_each(|(block, panels)| {
            for (at, panel) in panels.chunks_exact_mut(n).enumerate() {
                let first = block * BLOCK_ROWS + 4 * at;
                for l in 0..4.min(rows.len() - first) {
                    let y = rows.labels()[first + l];
                    // Adding 0 makes −0 a 0: labels must not tell equal rows apart.
                    let row = rows.a(first + l).iter().map(|v| y * v + 0.0);
                    panel.iter_mut().zip(row).for_each(|(quad, v)| quad.0[l] = v);
                }
            }
        });
    }
}

impl ClientStatistics for PackedRows {
    fn n_clients(&self) -> usize {
        self.clients.len()
    }

    fn n(&self) -> usize {
        self.n
    }

    fn n_rows(&self, client: usize) -> usize {
        self.clients[client].n_rows
    }

    fn n_rows_in_all(&self) -> usize {
        self.n_rows_in_all
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
        let first = self.blocks.partition_point(|place| place.client < client);
        let behind = self.blocks.partition_point(|place| place.client <= client);
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
        blocks: &[BlockPlace],
        place: impl Fn(usize) -> (usize, Option<Order>) + Sync,
        statistics: &mut Statistics,
    ) -> Result<(), Error> {
        let n = self.n;
        if theta.len() != n {
            return Err(Error::Features { expected: n, found: theta.len() });
        }
        let highest = blocks.iter().filter_map(|block| place(block.client).1).max();
        let Some(highest) = highest else { return Ok(()) };
        let stride = n_sums(n, highest);
        let mut sums = vec![0.0; blocks.len() * stride];
        let sum = |block: &BlockPlace, sums: &mut [f64]| {
            if let (_, Some(order)) = place(block.client) {
                let sums = &mut sums[..n_sums(n, order)];
                SCRATCH.with_borrow_mut(|scratch| {
                    sum_block(self.block(block), theta, order, scratch, sums);
                });
            }
        };
        if blocks.len() * BLOCK_ROWS * n < PARALLEL_NUMBERS {
            let blocks = blocks.iter().zip(sums.chunks_exact_mut(stride));
            blocks.for_each(|(block, sums)| sum(block, sums));
        } else {
            let blocks = blocks.par_iter().zip(sums.par_chunks_exact_mut(stride));
            blocks.for_each(|(block, sums)| sum(block, sums));
        }
        for (block, sums) in blocks.iter().zip(sums.chunks_exact(stride)) {
            if let (client, Some(order)) = place(block.client) {
                statistics.add(client, &sums[..n_sums(n, order)]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
