//! The rows of all clients in the kernel's format: labels multiplied in, four rows to a panel.
//!
//! Only the order of the rows decides how they are packed and summed, so the number of threads does not affect any sum.
//! Clients with very many rows are packed in segments. The sums of a segment are complete before they are added to those
//! of the segments before it, so that segments in different processes give the same bits as segments in one.

mod client_packer;
mod partition;
mod pass;

use rayon::prelude::*;
use std::slice;

use crate::error::Error;
use crate::row_sample::{RowSample, RowSampler, SamplePlan};
use crate::row_spacing::SpacedRows;
use crate::rows::Rows;
use crate::statistics::{ClientStatistics, Order, Statistics};

pub use client_packer::{ClientPacker, PackedClient};
pub use partition::PackedPartition;

/// Rows that one thread sums up at a time. The sums of blocks are added in the order of the rows, so the result is
/// the same for any number of threads.
pub(crate) const BLOCK_ROWS: usize = 1024;

/// Rows of a client whose sums are complete before they are added to those of the rows before them.
pub const SEGMENT_ROWS: usize = 1 << 20;
const SEGMENT_BLOCKS: usize = SEGMENT_ROWS / BLOCK_ROWS;

/// The rows of all clients, packed.
#[derive(Debug)]
pub struct PackedRows {
    rows: PackedPartition,
    /// Rows of each client in each cell.
    cell_counts: Vec<Vec<[usize; 2]>>,
    samples: Vec<Option<RowSample>>,
}

impl PackedRows {
    /// The clients in this order. All must have the same layout.
    pub fn new(mut clients: Vec<PackedClient>) -> Result<Self, Error> {
        let rows = PackedPartition::new(&mut clients)?;
        let (mut cell_counts, mut samples) = (Vec::new(), Vec::new());
        for client in clients {
            let PackedClient { layout, sample, .. } = &client;
            let sample =
                sample.as_ref().map(|part| RowSample::of_parts(layout, slice::from_ref(part)));
            samples.push(sample.transpose()?);
            cell_counts.push(client.cell_counts);
        }
        Ok(Self { rows, cell_counts, samples })
    }

    /// Packs the rows of each client. All must have the same layout.
    pub fn of(clients: &[Rows]) -> Result<Self, Error> {
        Self::pack(clients, |_| None)
    }

    /// The same, with a sample of the rows of some clients.
    pub(crate) fn sampled(clients: &[Rows]) -> Result<Self, Error> {
        let layout = clients.first().ok_or_else(Error::no_clients)?.layout().clone();
        let plan = SamplePlan::new(layout, clients.len());
        Self::pack(clients, |client| plan.sampler(client))
    }

    fn pack(
        clients: &[Rows],
        sampler: impl Fn(usize) -> Option<RowSampler> + Sync,
    ) -> Result<Self, Error> {
        let pack = |(client, rows): (usize, &Rows)| {
            let mut packer = ClientPacker::new(rows.layout().clone()).with_sampler(sampler(client));
            packer.push(rows)?;
            Ok(packer.finish())
        };
        Self::new(clients.par_iter().enumerate().map(pack).collect::<Result<_, Error>>()?)
    }
}

impl ClientStatistics for PackedRows {
    fn n_clients(&self) -> usize {
        self.rows.n_clients()
    }

    fn n(&self) -> usize {
        self.rows.n()
    }

    fn n_rows(&self, client: usize) -> usize {
        self.rows.n_rows(client)
    }

    fn sample(&self, client: usize) -> Option<&RowSample> {
        self.samples[client].as_ref()
    }

    fn spaced_rows(&self, n_x: usize, steps: &[usize]) -> Result<Option<Vec<SpacedRows>>, Error> {
        let of_client =
            |(client, step): (usize, &usize)| self.rows.spaced_rows(client, n_x, 0, *step);
        Ok(Some(steps.iter().enumerate().map(of_client).collect()))
    }

    fn cell_counts(&self, client: usize) -> Option<&[[usize; 2]]> {
        Some(&self.cell_counts[client])
    }

    fn evaluate_each(&self, theta: &[f64], orders: &[Option<Order>]) -> Result<Statistics, Error> {
        self.rows.evaluate_each(theta, orders)
    }

    fn evaluate_client(
        &self,
        client: usize,
        theta: &[f64],
        order: Order,
    ) -> Result<Statistics, Error> {
        self.rows.evaluate_client(client, theta, order)
    }
}

#[cfg(test)]
mod tests;
