//! Client statistics: all that a solver ever reads of proxy data.
//!
//! For client `c` at `θ`: the loss `L_c = Σ_i log(1 + exp(−y_i a_i·θ))`, its gradient `g_c` and its Hessian
//! `H_c`. They are sums over rows and depend on `θ`, not on the weights, so the same [`Statistics`] serve
//! any weights at that `θ` without another pass over the rows.

use std::ops::Range;

use crate::error::Error;
use crate::kernel::n_sums;
use crate::local_fit::{LocalFit, LocalFits};
use crate::row_spacing::SpacedRows;

/// The highest derivative in the statistics; each order includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// `L_c` alone.
    Loss,
    /// `L_c` and `g_c`.
    Gradient,
    /// `L_c`, `g_c` and `H_c`.
    Hessian,
}

impl Order {
    /// The number of sums up to this order, for rows of `n` entries.
    pub fn n_sums(self, n: usize) -> usize {
        n_sums(n, self)
    }
}

/// Rows of several clients, wherever they are stored, that can be summed at a model `θ`. The number of threads must not
/// change a single bit of the result.
pub trait ClientStatistics: Send + Sync {
    /// Number of clients.
    fn n_clients(&self) -> usize;

    /// `n`, the length of a row and of `θ`.
    fn n(&self) -> usize;

    /// Number of rows of one client.
    fn n_rows(&self, client: usize) -> usize;

    /// One pass that computes each client's statistics up to its own order, or not at all if that is `None`. The
    /// result may contain more than requested.
    fn evaluate_each(&self, theta: &[f64], orders: &[Option<Order>]) -> Result<Statistics, Error>;

    /// One pass over all rows of all clients.
    fn evaluate(&self, theta: &[f64], order: Order) -> Result<Statistics, Error> {
        self.evaluate_each(theta, &vec![Some(order); self.n_clients()])
    }

    /// A pass over the rows of one client. The result has only this client.
    fn evaluate_client(
        &self,
        client: usize,
        theta: &[f64],
        order: Order,
    ) -> Result<Statistics, Error> {
        let mut orders = vec![None; self.n_clients()];
        orders[client] = Some(order);
        Ok(self.evaluate_each(theta, &orders)?.of_client(client))
    }

    /// Rows `0, s, 2s, …` of each client, `s` its step, of rows with `n_x` features. `None` if rows cannot be read one
    /// by one.
    fn spaced_rows(&self, _n_x: usize, _steps: &[usize]) -> Result<Option<Vec<SpacedRows>>, Error> {
        Ok(None)
    }

    /// Number of rows of one client in each cell `[group][y]`, if it is known.
    fn cell_counts(&self, _client: usize) -> Option<&[[usize; 2]]> {
        None
    }

    /// The models of clients whose rows are held where they can be fitted without passes through this process. `None`
    /// for the others, and for fits that failed there: those are made by passes. Both ways give the same bits.
    fn fit_alone(&self, _request: &LocalFits) -> Result<Vec<Option<LocalFit>>, Error> {
        Ok(vec![None; self.n_clients()])
    }

    /// `N`, the number of rows of all clients.
    fn n_rows_total(&self) -> usize {
        (0..self.n_clients()).map(|client| self.n_rows(client)).sum()
    }
}

/// `L_c`, `g_c` and `H_c` of all clients at one `θ`.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    n: usize,
    /// The order up to which each client's statistics are known. Higher orders are 0.
    known: Vec<Option<Order>>,
    /// Client by client: `L_c`, then `g_c`, then the lower triangle of `H_c` row by row, up to the highest order.
    sums: Vec<f64>,
    /// Sums per client.
    stride: usize,
}

impl Statistics {
    /// All zeros, up to `order`.
    pub fn zeros(n_clients: usize, n: usize, order: Order) -> Self {
        Self::zeros_each(n, &vec![Some(order); n_clients])
    }

    /// All zeros, up to each client's own order.
    pub fn zeros_each(n: usize, orders: &[Option<Order>]) -> Self {
        let stride = n_sums(n, orders.iter().flatten().max().copied().unwrap_or(Order::Loss));
        Self { n, known: orders.to_vec(), sums: vec![0.0; orders.len() * stride], stride }
    }

    /// The order up to which the statistics of a client are known.
    pub fn known(&self, client: usize) -> Option<Order> {
        self.known[client]
    }

    /// Adds sums over rows of a client: loss, gradient, lower triangle of the Hessian, as far as they were computed.
    pub fn add(&mut self, client: usize, sums: &[f64]) {
        let slot = &mut self.sums[client * self.stride..(client + 1) * self.stride];
        slot.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
    }

    pub(crate) fn slot(&self, client: usize) -> &[f64] {
        &self.sums[client * self.stride..(client + 1) * self.stride]
    }

    /// Copies the statistics of clients that are known to a higher order in `other`, at the same `θ`.
    pub(crate) fn complete(&mut self, other: &Self) {
        let orders: Vec<_> = self.known.iter().zip(&other.known).map(|(a, b)| *a.max(b)).collect();
        let mut all = Self::zeros_each(self.n, &orders);
        for (client, slot) in all.sums.chunks_exact_mut(all.stride).enumerate() {
            let source = if other.known[client] > self.known[client] { other } else { &*self };
            let len = all.stride.min(source.stride);
            slot[..len].copy_from_slice(&source.slot(client)[..len]);
        }
        *self = all;
    }

    /// The statistics of one client alone.
    pub(crate) fn of_client(&self, client: usize) -> Self {
        let known = vec![self.known[client]];
        Self { n: self.n, known, sums: self.slot(client).to_vec(), stride: self.stride }
    }

    /// `L_c` of each client.
    pub fn losses(&self) -> impl Iterator<Item = f64> {
        self.sums.iter().step_by(self.stride).copied()
    }

    /// `g_c`.
    pub fn gradient(&self, client: usize) -> &[f64] {
        &self.slot(client)[1..=self.n]
    }

    /// `H_c`, the lower triangle row by row.
    pub fn hessian(&self, client: usize) -> &[f64] {
        &self.slot(client)[1 + self.n..]
    }

    /// `Σ_c w_c L_c`.
    pub fn weighted_loss(&self, weights: &[f64]) -> f64 {
        self.losses().zip(weights).map(|(loss, w)| w * loss).sum()
    }

    /// `Σ_c w_c g_c`.
    pub fn weighted_gradient(&self, weights: &[f64]) -> Vec<f64> {
        self.weighted_sum(weights, 1..1 + self.n)
    }

    /// `Σ_c w_c H_c`, the lower triangle row by row.
    pub fn weighted_hessian(&self, weights: &[f64]) -> Vec<f64> {
        self.weighted_sum(weights, 1 + self.n..1 + self.n + triangle(self.n))
    }

    /// Clients of weight 0 are skipped, exactly as if they were absent.
    fn weighted_sum(&self, weights: &[f64], part: Range<usize>) -> Vec<f64> {
        let mut sum = vec![0.0; part.len()];
        for (slot, &w) in self.sums.chunks_exact(self.stride).zip(weights) {
            if w != 0.0 {
                sum.iter_mut().zip(&slot[part.clone()]).for_each(|(s, v)| *s += w * v);
            }
        }
        sum
    }
}

/// Number of entries in the lower triangle of an `n × n` matrix, including the diagonal.
pub(crate) fn triangle(n: usize) -> usize {
    n * (n + 1) / 2
}

/// One client of several. `N` stays the number of all rows, so that a weight keeps its meaning.
#[derive(Clone, Copy)]
pub(crate) struct OneClient<'a> {
    pub(crate) rows: &'a dyn ClientStatistics,
    pub(crate) client: usize,
    pub(crate) n_rows_total: usize,
}

impl ClientStatistics for OneClient<'_> {
    fn n_clients(&self) -> usize {
        1
    }

    fn n(&self) -> usize {
        self.rows.n()
    }

    fn n_rows(&self, _: usize) -> usize {
        self.rows.n_rows(self.client)
    }

    fn n_rows_total(&self) -> usize {
        self.n_rows_total
    }

    fn evaluate_each(&self, theta: &[f64], orders: &[Option<Order>]) -> Result<Statistics, Error> {
        let order = orders.first().copied().flatten().unwrap_or(Order::Loss);
        self.rows.evaluate_client(self.client, theta, order)
    }
}
