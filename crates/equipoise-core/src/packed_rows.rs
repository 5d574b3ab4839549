//! The rows of all clients as the kernel wants them: labels multiplied in, four rows to a panel.
//!
//! Rows that occur several times are kept once, with a count, where that leaves little enough of them. The
//! order of the rows decides which of them stand where, and nothing else does: the sums are a function of the
//! rows, whatever the number of threads, and whether a block is in memory or has to be read from elsewhere.

mod block_keeper;
mod client_packer;
mod kinds;
mod pass;

use rayon::prelude::*;

use crate::error::Error;
use crate::kernel::lanes::Quad;
use crate::rows::Rows;
use crate::statistics::{ClientStatistics, Order, Statistics};
use block_keeper::{PackedBlock, Place};
use client_packer::pack_row;
use pass::{Pass, WantedBlock};

pub use block_keeper::{BlockKeeper, Spill, SpillError};
pub use client_packer::{ClientPacker, PackedClient};

/// Rows that are summed by one thread in one go. The sums of the blocks are added in the order of the
/// rows, so the grouping, and with it every bit of the result, is the same for any number of threads.
pub(crate) const BLOCK_ROWS: usize = 1024;

/// The rows of all clients, packed.
#[derive(Debug, Clone)]
pub struct PackedRows {
    n: usize,
    /// Rows of each client.
    n_rows: Vec<usize>,
    /// Client after client, each with the client that it is of.
    blocks: Vec<(usize, PackedBlock)>,
    keeper: BlockKeeper,
}

impl PackedRows {
    /// The clients, in this order, whose blocks `keeper` has. All must have one layout.
    pub fn new(clients: Vec<PackedClient>, keeper: BlockKeeper) -> Result<Self, Error> {
        let layout = clients.first().ok_or(Error::NoClients)?.layout;
        if let Some(other) = clients.iter().find(|client| client.layout != layout) {
            return Err(Error::Features { expected: layout.n(), found: other.layout.n() });
        }
        let n_rows = clients.iter().map(|client| client.n_rows).collect();
        let blocks = clients.into_iter().enumerate();
        let blocks = blocks.flat_map(|(c, client)| client.blocks.into_iter().map(move |b| (c, b)));
        Ok(Self { n: layout.n(), n_rows, blocks: blocks.collect(), keeper })
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
            let mut block = PackedBlock { n_rows, counted: false, place };
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
    /// Sums up some blocks and adds them to where `place` says that their client stands, as far as it says that they
    /// are wanted.
    fn sum_blocks(
        &self,
        theta: &[f64],
        blocks: &[(usize, PackedBlock)],
        place: impl Fn(usize) -> (usize, Option<Order>),
        statistics: &mut Statistics,
    ) -> Result<(), Error> {
        if theta.len() != self.n {
            return Err(Error::Features { expected: self.n, found: theta.len() });
        }
        let wanted = blocks.iter().filter_map(|(client, block)| {
            let (place, order) = place(*client);
            Some(WantedBlock { place, order: order?, block })
        });
        let wanted: Vec<_> = wanted.collect();
        Pass { theta, keeper: &self.keeper }.add_up(&wanted, statistics.places())
    }
}

#[cfg(test)]
mod tests;
