//! The packed rows of some clients, or of parts of them, without anything else that is known about them.

use std::ops::Range;

use super::client_packer::PackedClient;
use super::pass::{RequestedBlock, add_blocks};
use super::{BLOCK_ROWS, SEGMENT_BLOCKS};
use crate::error::Error;
use crate::kernel::Block;
use crate::kernel::lanes::{Quad, as_bytes, as_bytes_mut};
use crate::local_fit::{LocalFit, LocalFits};
use crate::row_spacing::{SpacedRows, is_positive};
use crate::statistics::{ClientStatistics, Order, Statistics};

/// Packed rows of several clients. In a round that is divided among processes, a client here may be part of a client
/// of the round: some of its segments.
#[derive(Debug)]
pub struct PackedPartition {
    n: usize,
    /// Rows of each client.
    n_rows: Vec<usize>,
    /// Blocks of each client, all of them full but the last.
    blocks: Vec<Vec<Block>>,
    /// Group and label of each client's rows.
    marks: Vec<Vec<u8>>,
}

impl PackedPartition {
    /// Takes the blocks of clients. All must have the same layout.
    pub fn new(clients: &mut [PackedClient]) -> Result<Self, Error> {
        let layout = clients.first().ok_or_else(Error::no_clients)?.layout.clone();
        if let Some(other) = clients.iter().find(|client| client.layout != layout) {
            return Err(Error::layouts(&layout, &other.layout));
        }
        let blocks: Vec<Vec<Block>> =
            clients.iter_mut().map(|client| std::mem::take(&mut client.blocks)).collect();
        let marks = clients.iter_mut().map(|client| std::mem::take(&mut client.marks)).collect();
        let n_rows = |blocks: &Vec<Block>| blocks.iter().map(|block| block.n_rows).sum();
        Ok(Self { n: layout.n(), n_rows: blocks.iter().map(n_rows).collect(), blocks, marks })
    }

    /// The sums of each segment at `theta`, client by client, up to the order requested for its client.
    pub fn segment_sums(&self, theta: &[f64], orders: &[Option<Order>]) -> Result<Vec<f64>, Error> {
        let (clients, by_segment) =
            self.sum_segments(theta, 0..self.n_clients(), |client| orders[client])?;
        let mut sums = Vec::new();
        for (segment, client) in clients.into_iter().enumerate() {
            if let Some(order) = orders[client] {
                sums.extend_from_slice(&by_segment.slot(segment)[..order.n_sums(self.n)]);
            }
        }
        Ok(sums)
    }

    /// The model of one client alone, if its fit succeeds. `weight` is its weight in the round.
    pub fn fit_client(
        &self,
        request: &LocalFits,
        client: usize,
        weight: f64,
    ) -> Result<Option<LocalFit>, Error> {
        match request.fit_weighted(self, client, weight, None) {
            Ok(fit) => Ok(Some(fit)),
            Err(Error::NotPositiveDefinite { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Row `first` of a client and every `step`-th after it, of rows with `n_x` features.
    pub fn spaced_rows(&self, client: usize, n_x: usize, first: usize, step: usize) -> SpacedRows {
        let mut spaced = SpacedRows::default();
        for i in (first..self.n_rows[client]).step_by(step.max(1)) {
            let (block, at) = (&self.blocks[client][i / BLOCK_ROWS], i % BLOCK_ROWS);
            let panel = &block.values[at / 4 * self.n..][..n_x.min(self.n)];
            let mark = self.marks[client][i];
            let label = if is_positive(mark) { 1.0 } else { -1.0 };
            spaced.marks.push(mark);
            // Adding 0 turns −0 into 0.
            spaced.x.extend(panel.iter().map(|quad| label * quad.0[at % 4] + 0.0));
        }
        spaced
    }

    /// Number of segments of each client.
    pub fn n_segments(&self, client: usize) -> usize {
        self.blocks[client].len().div_ceil(SEGMENT_BLOCKS)
    }

    /// Bytes of all rows.
    pub fn n_bytes(&self) -> usize {
        let values = self.blocks.iter().flatten().map(|block| size_of_val(&*block.values));
        values.sum::<usize>() + self.n_rows.iter().sum::<usize>()
    }

    /// The rows as bytes, for another process on a machine of the same byte order: the length of a row, the number of
    /// clients, the rows of each, all blocks, and all marks.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.n_bytes() + 8 * (2 + self.n_clients()));
        for number in [self.n, self.n_clients()].iter().chain(&self.n_rows) {
            bytes.extend_from_slice(&(*number as u64).to_ne_bytes());
        }
        for block in self.blocks.iter().flatten() {
            bytes.extend_from_slice(as_bytes(&block.values));
        }
        self.marks.iter().for_each(|marks| bytes.extend_from_slice(marks));
        bytes
    }

    /// The rows from their bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::read(bytes)
            .ok_or_else(|| Error::Input("the bytes of packed rows are damaged".to_owned()))
    }

    fn read(mut bytes: &[u8]) -> Option<Self> {
        let mut take = |n_bytes: usize| {
            let (taken, rest) = bytes.split_at_checked(n_bytes)?;
            bytes = rest;
            Some(taken)
        };
        let mut numbers = |n: usize| -> Option<Vec<usize>> {
            let (numbers, _) = take(n.checked_mul(8)?)?.as_chunks::<8>();
            Some(numbers.iter().map(|n| u64::from_ne_bytes(*n) as usize).collect())
        };
        let &[n, n_clients] = &numbers(2)?[..] else { return None };
        let n_rows = numbers(n_clients)?;
        let mut block = |n_rows: usize| {
            let n_quads = n_rows.div_ceil(4).checked_mul(n)?;
            let from = take(n_quads.checked_mul(size_of::<Quad>())?)?;
            let mut values = vec![Quad::default(); n_quads].into_boxed_slice();
            as_bytes_mut(&mut values).copy_from_slice(from);
            Some(Block { values, n_rows })
        };
        let mut client = |n_rows: &usize| -> Option<Vec<Block>> {
            let starts = (0..*n_rows).step_by(BLOCK_ROWS);
            starts.map(|start| block(BLOCK_ROWS.min(n_rows - start))).collect()
        };
        let blocks = n_rows.iter().map(&mut client).collect::<Option<_>>()?;
        let marks = n_rows.iter().map(|n| Some(take(*n)?.to_vec())).collect::<Option<_>>()?;
        Some(Self { n, n_rows, blocks, marks })
    }

    /// The client of each segment of these clients, and its sums, up to the order requested for its client.
    fn sum_segments(
        &self,
        theta: &[f64],
        clients: Range<usize>,
        order_of: impl Fn(usize) -> Option<Order>,
    ) -> Result<(Vec<usize>, Statistics), Error> {
        if theta.len() != self.n {
            return Err(Error::Features { expected: self.n, found: theta.len() });
        }
        let (mut owners, mut requests) = (Vec::new(), Vec::new());
        for client in clients {
            for segment in self.blocks[client].chunks(SEGMENT_BLOCKS) {
                if let Some(order) = order_of(client) {
                    let slot = owners.len();
                    let request = |block| RequestedBlock { slot, order, block };
                    requests.extend(segment.iter().map(request));
                }
                owners.push(client);
            }
        }
        let orders: Vec<Option<Order>> = owners.iter().map(|client| order_of(*client)).collect();
        let mut sums = Statistics::zeros_each(self.n, &orders);
        add_blocks(&requests, theta, &mut sums);
        Ok((owners, sums))
    }

    /// The sums of these clients, up to the order requested for each.
    fn sum_clients(
        &self,
        theta: &[f64],
        clients: Range<usize>,
        order_of: impl Fn(usize) -> Option<Order>,
    ) -> Result<Statistics, Error> {
        let orders: Vec<Option<Order>> = clients.clone().map(&order_of).collect();
        let mut sums = Statistics::zeros_each(self.n, &orders);
        let first = clients.start;
        let (owners, by_segment) = self.sum_segments(theta, clients, order_of)?;
        for (segment, client) in owners.into_iter().enumerate() {
            sums.add(client - first, by_segment.slot(segment));
        }
        Ok(sums)
    }
}

impl ClientStatistics for PackedPartition {
    fn n_clients(&self) -> usize {
        self.n_rows.len()
    }

    fn n(&self) -> usize {
        self.n
    }

    fn n_rows(&self, client: usize) -> usize {
        self.n_rows[client]
    }

    fn evaluate_each(&self, theta: &[f64], orders: &[Option<Order>]) -> Result<Statistics, Error> {
        self.sum_clients(theta, 0..self.n_clients(), |client| orders[client])
    }

    fn evaluate_client(
        &self,
        client: usize,
        theta: &[f64],
        order: Order,
    ) -> Result<Statistics, Error> {
        self.sum_clients(theta, client..client + 1, |_| Some(order))
    }
}
