//! Client statistics: all that a solver ever reads of proxy data.
//!
//! For client `c` at `θ`: the loss `L_c = Σ_i log(1 + exp(−y_i a_i·θ))`, its gradient `g_c` and its Hessian
//! `H_c`. They are sums over rows and depend on `θ`, not on the weights, so [`Statistics`] once computed serve any weights
//! at the same `θ` without another pass over the rows.

use crate::error::Error;

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

/// Rows of several clients, wherever they are stored, that can be summed at a model `θ`. The number of threads must not
/// change a bit of the result.
pub trait ClientStatistics: Send + Sync {
    /// Number of clients.
    fn n_clients(&self) -> usize;

    /// `n`, the length of a row and of `θ`.
    fn n(&self) -> usize;

    /// Number of rows of one client.
    fn n_rows(&self, client: usize) -> usize;

    /// One pass over all rows of all clients.
    fn evaluate(&self, theta: &[f64], order: Order) -> Result<Statistics, Error>;

    /// One pass that computes each client's statistics up to its own order, or not at all if that is `None`. The
    /// result may contain more than requested.
    fn evaluate_each(&self, theta: &[f64], orders: &[Option<Order>]) -> Result<Statistics, Error> {
        self.evaluate(theta, orders.iter().flatten().max().copied().unwrap_or(Order::Loss))
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
        let all = self.evaluate_each(theta, &orders)?;
        let mut one = Statistics::zeros(1, all.n, order);
        one.losses[0] = all.losses[client];
        copy_part(&mut one.gradients, &all.gradients, (client, 0), all.n);
        copy_part(&mut one.hessians, &all.hessians, (client, 0), triangle(all.n));
        Ok(one)
    }

    /// `N`, the number of rows of all clients.
    fn n_rows_total(&self) -> usize {
        (0..self.n_clients()).map(|client| self.n_rows(client)).sum()
    }
}

/// `L_c`, `g_c` and `H_c` of all clients at one `θ`.
#[derive(Debug, Clone)]
pub struct Statistics {
    n: usize,
    /// The order known of each client. What is not known is 0.
    known: Vec<Option<Order>>,
    /// `L_c`, one per client.
    pub losses: Vec<f64>,
    /// `g_c`, client by client, `n` numbers each; empty if only losses were requested.
    pub gradients: Vec<f64>,
    /// `H_c`, client by client: the lower triangle row by row, `n(n+1)/2` numbers each; empty if not requested.
    pub hessians: Vec<f64>,
}

impl Statistics {
    /// All zeros, up to `order`.
    pub fn zeros(n_clients: usize, n: usize, order: Order) -> Self {
        Self::zeros_each(n, &vec![Some(order); n_clients])
    }

    /// All zeros, up to each client's own order.
    pub fn zeros_each(n: usize, orders: &[Option<Order>]) -> Self {
        let n_clients = orders.len();
        let highest = orders.iter().flatten().max().copied();
        let len = |order, size: usize| if highest >= Some(order) { n_clients * size } else { 0 };
        Self {
            n,
            known: orders.to_vec(),
            losses: vec![0.0; n_clients],
            gradients: vec![0.0; len(Order::Gradient, n)],
            hessians: vec![0.0; len(Order::Hessian, triangle(n))],
        }
    }

    /// `n`, the length of a gradient.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The order up to which the statistics of a client are known.
    pub fn known(&self, client: usize) -> Option<Order> {
        self.known[client]
    }

    /// The slots of each client's sums.
    pub(crate) fn slots(&mut self) -> Vec<ClientSlots<'_>> {
        let mut gradients = self.gradients.chunks_exact_mut(self.n.max(1));
        let mut hessians = self.hessians.chunks_exact_mut(triangle(self.n).max(1));
        let slots = |loss| ClientSlots {
            loss,
            gradient: gradients.next().unwrap_or_default(),
            hessian: hessians.next().unwrap_or_default(),
        };
        self.losses.iter_mut().map(slots).collect()
    }

    /// Copies clients whose statistics at the same `θ` are known to a higher order in `other`.
    pub(crate) fn complete(&mut self, other: &Self) {
        let size = triangle(self.n);
        self.gradients.resize(self.losses.len() * self.n, 0.0);
        self.hessians.resize(self.losses.len() * size, 0.0);
        for (client, known) in self.known.iter_mut().enumerate() {
            if other.known[client] <= *known {
                continue;
            }
            *known = other.known[client];
            self.losses[client] = other.losses[client];
            copy_part(&mut self.gradients, &other.gradients, (client, client), self.n);
            copy_part(&mut self.hessians, &other.hessians, (client, client), size);
        }
    }

    /// `g_c`.
    pub fn gradient(&self, client: usize) -> &[f64] {
        &self.gradients[client * self.n..(client + 1) * self.n]
    }

    /// `Σ_c w_c L_c`.
    pub fn weighted_loss(&self, weights: &[f64]) -> f64 {
        self.losses.iter().zip(weights).map(|(loss, w)| w * loss).sum()
    }

    /// `Σ_c w_c g_c`.
    pub fn weighted_gradient(&self, weights: &[f64]) -> Vec<f64> {
        weighted_sum(&self.gradients, self.n, weights)
    }

    /// `Σ_c w_c H_c`, the lower triangle row by row.
    pub fn weighted_hessian(&self, weights: &[f64]) -> Vec<f64> {
        weighted_sum(&self.hessians, triangle(self.n), weights)
    }
}

/// The slots of one client's statistics; empty if not requested.
pub(crate) struct ClientSlots<'a> {
    loss: &'a mut f64,
    gradient: &'a mut [f64],
    hessian: &'a mut [f64],
}

impl ClientSlots<'_> {
    /// Adds sums over rows of the client: loss, gradient, Hessian, as far as they were computed.
    pub(crate) fn add(&mut self, sums: &[f64]) {
        let (gradient, hessian) = sums[1..].split_at(self.gradient.len().min(sums.len() - 1));
        *self.loss += sums[0];
        let add = |(sum, v): (&mut f64, &f64)| *sum += v;
        self.gradient.iter_mut().zip(gradient).for_each(add);
        self.hessian.iter_mut().zip(hessian).for_each(add);
    }
}

/// Number of entries in the lower triangle of an `n × n` matrix, including the diagonal.
pub(crate) fn triangle(n: usize) -> usize {
    n * (n + 1) / 2
}

/// `Σ_c w_c v_c` of consecutive vectors `v_c`. Clients of weight 0 are skipped, exactly as if they were absent.
fn weighted_sum(values: &[f64], size: usize, weights: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; size];
    for (part, &w) in values.chunks_exact(size).zip(weights) {
        if w != 0.0 {
            sum.iter_mut().zip(part).for_each(|(s, v)| *s += w * v);
        }
    }
    sum
}

/// Copies a client's part to another index, if both exist.
fn copy_part(into: &mut [f64], from: &[f64], (source, target): (usize, usize), size: usize) {
    let part = from.get(source * size..(source + 1) * size);
    let slot = into.get_mut(target * size..(target + 1) * size);
    if let (Some(part), Some(slot)) = (part, slot) {
        slot.copy_from_slice(part);
    }
}

/// One client of several. `N` stays the number of all rows, so that a weight keeps its meaning.
#[derive(Clone, Copy)]
pub(crate) struct OneClient<'a> {
    pub(crate) rows: &'a dyn ClientStatistics,
    pub(crate) client: usize,
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
        self.rows.n_rows_total()
    }

    fn evaluate(&self, theta: &[f64], order: Order) -> Result<Statistics, Error> {
        self.rows.evaluate_client(self.client, theta, order)
    }
}
