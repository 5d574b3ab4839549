//! The rows of all clients in the kernel's format: labels multiplied in, four rows to a panel.
//!
//! Only the order of the rows decides how they are packed and summed, so the number of threads does not affect any sum.
//! Clients with very many rows are packed in segments. The sums of a segment are complete before they are added to those
//! of the segments before it, so that segments in different processes give the same bits as segments in one.

mod client_packer;
mod partition;
mod pass;

use rayon::prelude::*;
use std::borrow::Borrow;

use crate::error::Error;
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
}

impl PackedRows {
    /// The clients in this order. All must have the same layout.
    pub fn new(mut clients: Vec<PackedClient>) -> Result<Self, Error> {
        let rows = PackedPartition::new(&mut clients)?;
        let cell_counts = clients.into_iter().map(|client| client.cell_counts).collect();
        Ok(Self { rows, cell_counts })
    }

    /// Packs the rows of each client. All must have the same layout.
    pub fn of(clients: &[impl Borrow<Rows> + Sync]) -> Result<Self, Error> {
        let pack = |rows: &Rows| {
            let mut packer = ClientPacker::new(rows.layout().clone());
            packer.push(rows)?;
            Ok(packer.finish())
        };
        let rows = clients.par_iter().map(Borrow::borrow);
        Self::new(rows.map(pack).collect::<Result<_, Error>>()?)
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
