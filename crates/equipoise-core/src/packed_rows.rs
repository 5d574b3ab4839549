//! The rows of all clients in the kernel's format: labels multiplied in, four rows to a panel.
//!
//! Rows that occur several times are stored once, with a count, if that leaves few enough of them. Only the order of the
//! rows decides how they are packed. So neither the number of threads nor where a block is stored affects any sum.

mod block_keeper;
mod client_packer;
mod column_summary;
mod distinct_rows;
mod pass;

use rayon::prelude::*;
use std::ops::Range;

use crate::error::Error;
use crate::row_sample::{RowSample, SamplePlan};
use crate::rows::Rows;
use crate::statistics::{ClientStatistics, Order, Statistics};
use block_keeper::PackedBlock;
use pass::{Pass, RequestedBlock};

pub use block_keeper::{BlockKeeper, Spill, SpillError};
pub use client_packer::{ClientPacker, PackedClient};
pub use column_summary::ColumnSummary;

/// Rows that one thread sums up at a time. The sums of blocks are added in the order of the rows, so the result is
/// the same for any number of threads.
pub(crate) const BLOCK_ROWS: usize = 1024;

/// The rows of all clients, packed.
#[derive(Debug, Clone)]
pub struct PackedRows {
    n: usize,
    /// Rows of each client.
    n_rows: Vec<usize>,
    /// Rows of each client in each cell.
    cell_counts: Vec<Vec<[usize; 2]>>,
    samples: Vec<Option<RowSample>>,
    /// Sums over the columns of each client.
    columns: Vec<ColumnSummary>,
    /// Each with the index of its client, in the order of the clients.
    blocks: Vec<(usize, PackedBlock)>,
    keeper: BlockKeeper,
}

impl PackedRows {
    /// The clients in this order, with their blocks in `keeper`. All must have the same layout.
    pub fn new(clients: Vec<PackedClient>, keeper: BlockKeeper) -> Result<Self, Error> {
        let layout = &clients.first().ok_or_else(Error::no_clients)?.layout;
        if let Some(other) = clients.iter().find(|client| client.layout != *layout) {
            return Err(Error::layouts(layout, &other.layout));
        }
        let n = layout.n();
        let n_rows = clients.iter().map(PackedClient::n_rows).collect();
        let (mut blocks, mut cell_counts) = (Vec::new(), Vec::new());
        let (mut samples, mut columns) = (Vec::new(), Vec::new());
        for (c, client) in clients.into_iter().enumerate() {
            blocks.extend(client.blocks.into_iter().map(|block| (c, block)));
            cell_counts.push(client.cell_counts);
            samples.push(client.sample);
            columns.push(client.columns);
        }
        Ok(Self { n, n_rows, cell_counts, samples, columns, blocks, keeper })
    }

    /// Packs the rows of each client in memory and merges equal rows if worthwhile. All must have the same layout.
    /// Clients that the plan includes keep a sample.
    pub(crate) fn merged(clients: &[Rows], plan: Option<&SamplePlan>) -> Result<Self, Error> {
        let keeper = BlockKeeper::in_memory();
        let pack = |(client, rows): (usize, &Rows)| {
            let sampler = plan.and_then(|plan| plan.sampler(client));
            let mut packer =
                ClientPacker::new(rows.layout().clone(), &keeper).with_sampler(sampler);
            packer.push(rows)?;
            packer.finish()
        };
        let packed = clients.par_iter().enumerate().map(pack).collect::<Result<_, Error>>()?;
        Self::new(packed, keeper)
    }

    /// Packs the rows of each client in memory without merging. All must have the same layout.
    pub fn unmerged(clients: &[Rows]) -> Result<Self, Error> {
        let packed = clients.par_iter().map(PackedClient::unmerged).collect();
        Self::new(packed, BlockKeeper::in_memory())
    }

    fn blocks_of(&self, client: usize) -> Range<usize> {
        let before = |c: usize| self.blocks.partition_point(|(of, _)| *of < c);
        before(client)..before(client + 1)
    }

    /// Sums up blocks. `slot` gives the index in `statistics` of a client, and the order requested for it.
    fn sum_blocks(
        &self,
        theta: &[f64],
        blocks: &[(usize, PackedBlock)],
        slot: impl Fn(usize) -> (usize, Option<Order>),
        statistics: &mut Statistics,
    ) -> Result<(), Error> {
        if theta.len() != self.n {
            return Err(Error::Features { expected: self.n, found: theta.len() });
        }
        let requested = blocks.iter().filter_map(|(client, block)| {
            let (slot, order) = slot(*client);
            Some(RequestedBlock { slot, order: order?, block })
        });
        let requested: Vec<_> = requested.collect();
        Pass { theta, keeper: &self.keeper }.add_up(&requested, statistics.slots())
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

    fn sample(&self, client: usize) -> Option<&RowSample> {
        self.samples[client].as_ref()
    }

    fn cell_counts(&self, client: usize) -> Option<&[[usize; 2]]> {
        Some(&self.cell_counts[client])
    }

    fn evaluate(&self, theta: &[f64], order: Order) -> Result<Statistics, Error> {
        self.evaluate_each(theta, &vec![Some(order); self.n_clients()])
    }

    fn evaluate_each(&self, theta: &[f64], orders: &[Option<Order>]) -> Result<Statistics, Error> {
        let mut statistics = Statistics::zeros_each(self.n, orders);
        let slot = |client: usize| (client, orders[client]);
        self.sum_blocks(theta, &self.blocks, slot, &mut statistics)?;
        Ok(statistics)
    }

    fn evaluate_client(
        &self,
        client: usize,
        theta: &[f64],
        order: Order,
    ) -> Result<Statistics, Error> {
        let mut statistics = Statistics::zeros(1, self.n, order);
        let blocks = &self.blocks[self.blocks_of(client)];
        self.sum_blocks(theta, blocks, |_| (0, Some(order)), &mut statistics)?;
        Ok(statistics)
    }

    fn columns(&self, client: usize) -> Option<&ColumnSummary> {
        Some(&self.columns[client])
    }

    fn count_beyond(&self, client: usize, limits: &[f64]) -> Result<Option<usize>, Error> {
        let mut buffer = Vec::new();
        let mut count = 0.0;
        for (_, block) in &self.blocks[self.blocks_of(client)] {
            let block = self.keeper.open(block, self.n, &mut buffer)?;
            for i in 0..block.n_rows {
                let panel = &block.values[i / 4 * self.n..][..self.n];
                let is_beyond =
                    panel.iter().zip(limits).any(|(q, limit)| q.0[i % 4].abs() > *limit);
                if is_beyond {
                    count += block.counts.map_or(1.0, |counts| counts[i / 4].0[i % 4]);
                }
            }
        }
        Ok(Some(count as usize))
    }
}

#[cfg(test)]
mod tests;
