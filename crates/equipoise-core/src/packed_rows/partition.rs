//! The packed rows of some clients, or of parts of them, without anything else that is known about them.

use rayon::prelude::*;
use std::ops::Range;

use super::client_packer::PackedClient;
use super::packed_block::PackedBlock;
use super::pass::{Pass, RequestedBlock};
use crate::error::Error;
use crate::local_fit::{LocalFit, LocalFits};
use crate::statistics::{ClientStatistics, Order, Statistics};

/// Packed rows of several clients. In a round that is divided among processes, a client here may be part of a client
/// of the round: some of its segments.
#[derive(Debug)]
pub struct PackedPartition {
    n: usize,
    /// Rows of each client.
    n_rows: Vec<usize>,
    /// The client of each segment, in order. Every client has at least one.
    segments: Vec<usize>,
    /// Each with the index of its segment, in order.
    pub(super) blocks: Vec<(usize, PackedBlock)>,
}

impl PackedPartition {
    /// Takes the blocks of clients. All must have the same layout.
    pub fn new(clients: &mut [PackedClient]) -> Result<Self, Error> {
        let layout = clients.first().ok_or_else(Error::no_clients)?.layout.clone();
        if let Some(other) = clients.iter().find(|client| client.layout != layout) {
            return Err(Error::layouts(&layout, &other.layout));
        }
        let n_rows = clients.iter().map(PackedClient::n_rows).collect();
        let (mut segments, mut blocks) = (Vec::new(), Vec::new());
        for (c, client) in clients.iter_mut().enumerate() {
            for segment in client.segments.drain(..) {
                blocks.extend(segment.into_iter().map(|block| (segments.len(), block)));
                segments.push(c);
            }
        }
        Ok(Self { n: layout.n(), n_rows, segments, blocks })
    }

    /// The sums of each segment at `theta`, client by client, up to the order requested for its client.
    pub fn segment_sums(&self, theta: &[f64], orders: &[Option<Order>]) -> Result<Vec<f64>, Error> {
        let by_segment =
            self.sum_segments(theta, |client| orders[client], 0..self.segments.len())?;
        let mut sums = Vec::new();
        for (segment, &client) in self.segments.iter().enumerate() {
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

    /// Number of segments of each client.
    pub fn n_segments(&self, client: usize) -> usize {
        self.segments_of(client).len()
    }

    /// Bytes of all rows.
    pub fn n_bytes(&self) -> usize {
        self.blocks.iter().map(|(_, block)| block.bytes().len()).sum()
    }

    /// The rows as bytes, for another process on a machine of the same byte order.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut put = |numbers: &[usize]| {
            numbers.iter().for_each(|n| bytes.extend_from_slice(&(*n as u64).to_ne_bytes()));
        };
        put(&[self.n, self.n_rows.len(), self.segments.len(), self.blocks.len()]);
        put(&self.n_rows);
        put(&self.segments);
        for (segment, block) in &self.blocks {
            put(&[*segment, block.n_rows, usize::from(block.counted)]);
        }
        for (_, block) in &self.blocks {
            bytes.extend_from_slice(block.bytes());
        }
        bytes
    }

    /// The rows from their bytes.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, Error> {
        let input = &mut bytes;
        let damaged = || Error::Input("the bytes of packed rows are damaged".to_owned());
        let mut take = |n: usize| {
            let (numbers, rest) = input.split_at_checked(n.checked_mul(8)?)?;
            *input = rest;
            let (numbers, _) = numbers.as_chunks::<8>();
            Some(numbers.iter().map(|n| u64::from_ne_bytes(*n) as usize).collect::<Vec<usize>>())
        };
        let head = take(4).ok_or_else(damaged)?;
        let &[n, n_clients, n_segments, n_blocks] = &head[..] else { return Err(damaged()) };
        let n_rows = take(n_clients).ok_or_else(damaged)?;
        let segments = take(n_segments).ok_or_else(damaged)?;
        let heads = take(n_blocks.checked_mul(3).ok_or_else(damaged)?).ok_or_else(damaged)?;
        let is_valid = segments.is_sorted()
            && segments.last().is_none_or(|last| *last < n_clients)
            && heads.chunks_exact(3).is_sorted_by_key(|head| head[0])
            && heads.chunks_exact(3).all(|head| head[0] < n_segments);
        if !is_valid {
            return Err(damaged());
        }
        let mut partition = Self { n, n_rows, segments, blocks: Vec::new() };
        for head in heads.chunks_exact(3) {
            let (size, counted) = ((head[1], n), head[2] != 0);
            let block = PackedBlock::read(size, counted, input).ok_or_else(damaged)?;
            partition.blocks.push((head[0], block));
        }
        Ok(partition)
    }

    fn segments_of(&self, client: usize) -> Range<usize> {
        let before = |c: usize| self.segments.partition_point(|of| *of < c);
        before(client)..before(client + 1)
    }

    fn blocks_of(&self, segments: &Range<usize>) -> &[(usize, PackedBlock)] {
        let before = |s: usize| self.blocks.partition_point(|(of, _)| *of < s);
        &self.blocks[before(segments.start)..before(segments.end)]
    }

    /// The sums of these segments, up to the order requested for the client of each.
    fn sum_segments(
        &self,
        theta: &[f64],
        order_of: impl Fn(usize) -> Option<Order>,
        segments: Range<usize>,
    ) -> Result<Statistics, Error> {
        if theta.len() != self.n {
            return Err(Error::Features { expected: self.n, found: theta.len() });
        }
        let blocks = self.blocks_of(&segments);
        let first = segments.start;
        let orders: Vec<Option<Order>> = segments.map(|s| order_of(self.segments[s])).collect();
        let mut statistics = Statistics::zeros_each(self.n, &orders);
        let requested = blocks.iter().filter_map(|(segment, block)| {
            let slot = segment - first;
            Some(RequestedBlock { slot, order: orders[slot]?, block })
        });
        let requested: Vec<_> = requested.collect();
        Pass { theta }.add_up(&requested, statistics.slots());
        Ok(statistics)
    }

    fn count_beyond_of(&self, client: usize, limits: &[f64]) -> usize {
        let mut count = 0.0;
        for (_, block) in self.blocks_of(&self.segments_of(client)) {
            let block = block.in_kernel_format(self.n);
            for i in 0..block.n_rows {
                let panel = &block.values[i / 4 * self.n..][..self.n];
                let is_beyond =
                    panel.iter().zip(limits).any(|(q, limit)| q.0[i % 4].abs() > *limit);
                if is_beyond {
                    count += block.counts.map_or(1.0, |counts| counts[i / 4].0[i % 4]);
                }
            }
        }
        count as usize
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

    fn evaluate(&self, theta: &[f64], order: Order) -> Result<Statistics, Error> {
        self.evaluate_each(theta, &vec![Some(order); self.n_clients()])
    }

    fn evaluate_each(&self, theta: &[f64], orders: &[Option<Order>]) -> Result<Statistics, Error> {
        let by_segment =
            self.sum_segments(theta, |client| orders[client], 0..self.segments.len())?;
        if self.segments.len() == self.n_clients() {
            return Ok(by_segment);
        }
        let mut statistics = Statistics::zeros_each(self.n, orders);
        for (segment, &client) in self.segments.iter().enumerate() {
            statistics.add(client, by_segment.slot(segment));
        }
        Ok(statistics)
    }

    fn evaluate_client(
        &self,
        client: usize,
        theta: &[f64],
        order: Order,
    ) -> Result<Statistics, Error> {
        let segments = self.segments_of(client);
        let n_segments = segments.len();
        let by_segment = self.sum_segments(theta, |_| Some(order), segments)?;
        if n_segments == 1 {
            return Ok(by_segment);
        }
        let mut statistics = Statistics::zeros(1, self.n, order);
        (0..n_segments).for_each(|segment| statistics.add(0, by_segment.slot(segment)));
        Ok(statistics)
    }

    fn count_beyond(&self, clients: &[usize], limits: &[f64]) -> Result<Option<Vec<usize>>, Error> {
        let counts = clients.par_iter().map(|&client| self.count_beyond_of(client, limits));
        Ok(Some(counts.collect()))
    }
}
