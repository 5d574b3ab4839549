//! Client statistics of rows in memory.

use rayon::prelude::*;
use std::ops::Range;

use crate::error::Error;
use crate::kernel::{BlockSums, sum_rows};
use crate::rows::{Layout, Rows};
use crate::statistics::{ClientStatistics, Order, Statistics};

/// Rows that are summed by one thread in one go. The sums of the blocks are added in the order of the
/// rows, so the grouping, and with it every bit of the result, is the same for any number of threads.
pub(crate) const BLOCK_ROWS: usize = 1024;

/// Below this many rows a pass is not worth the hand-over to other threads. The blocks stay the same.
const PARALLEL_ROWS: usize = 4 * BLOCK_ROWS;

/// The rows of all clients, in memory.
#[derive(Debug, Clone)]
pub struct ClientRows {
    layout: Layout,
    clients: Vec<Rows>,
    blocks: Vec<Block>,
    n_rows_in_all: usize,
}

#[derive(Debug, Clone)]
struct Block {
    client: usize,
    rows: Range<usize>,
}

impl ClientRows {
    /// The rows of each client, in the order of the clients. All must have one layout; a client may
    /// have no rows.
    pub fn new(clients: Vec<Rows>) -> Result<Self, Error> {
        let layout = clients.first().ok_or(Error::NoClients)?.layout();
        for rows in &clients {
            if rows.layout() != layout {
                return Err(Error::Features { expected: layout.n(), found: rows.layout().n() });
            }
        }
        let blocks = clients
            .iter()
            .enumerate()
            .flat_map(|(client, rows)| {
                let n_rows = rows.len();
                (0..n_rows).step_by(BLOCK_ROWS).map(move |start| Block {
                    client,
                    rows: start..(start + BLOCK_ROWS).min(n_rows),
                })
            })
            .collect();
        let n_rows_in_all = clients.iter().map(Rows::len).sum();
        Ok(Self { layout, clients, blocks, n_rows_in_all })
    }

    /// The rows of each client.
    pub fn clients(&self) -> &[Rows] {
        &self.clients
    }

    /// The layout that all rows have.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Gives the rows back, for a generator that moves them in place.
    pub(crate) fn clients_mut(&mut self) -> &mut [Rows] {
        &mut self.clients
    }
}

impl ClientStatistics for ClientRows {
    fn n_clients(&self) -> usize {
        self.clients.len()
    }

    fn n(&self) -> usize {
        self.layout.n()
    }

    fn n_rows(&self, client: usize) -> usize {
        self.clients[client].len()
    }

    fn n_rows_in_all(&self) -> usize {
        self.n_rows_in_all
    }

    fn evaluate(&self, theta: &[f64], order: Order) -> Result<Statistics, Error> {
        let n = self.n();
        if theta.len() != n {
            return Err(Error::Features { expected: n, found: theta.len() });
        }
        let sum_block = |block: &Block| {
            let (rows, range) = (&self.clients[block.client], &block.rows);
            let values = &rows.values()[range.start * n..range.end * n];
            sum_rows(values, &rows.labels()[range.clone()], theta, order)
        };
        let sums: Vec<BlockSums> = if self.n_rows_in_all < PARALLEL_ROWS {
            self.blocks.iter().map(sum_block).collect()
        } else {
            self.blocks.par_iter().map(sum_block).collect()
        };
        let mut statistics = Statistics::zeros(self.n_clients(), n, order);
        for (block, sums) in self.blocks.iter().zip(&sums) {
            let client = block.client;
            statistics.losses[client] += sums.loss;
            add(&mut statistics.gradients, client, &sums.gradient);
            add(&mut statistics.hessians, client, &sums.hessian);
        }
        Ok(statistics)
    }
}

/// Adds a client's part into its place; a part that was not asked for is empty and adds nothing.
fn add(into: &mut [f64], client: usize, part: &[f64]) {
    into[client * part.len()..].iter_mut().zip(part).for_each(|(sum, v)| *sum += v);
}

/// Adds the lower triangle of `scale · a aᵀ`, row by row.
#[inline(always)]
pub(crate) fn add_outer_product(triangle: &mut [f64], scale: f64, a: &[f64]) {
    let mut start = 0;
    for (i, &v) in a.iter().enumerate() {
        let scaled = scale * v;
        let row = &mut triangle[start..=start + i];
        row.iter_mut().zip(a).for_each(|(h, u)| *h += scaled * u);
        start += i + 1;
    }
}
