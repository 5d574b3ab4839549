//! Client statistics: the one thing that any solver here ever asks of proxy data.
//!
//! For client `c` at `θ`: the loss `L_c = Σ_i log(1 + exp(−y_i a_i·θ))`, its gradient `g_c` and its Hessian
//! `H_c`. They are sums over rows and depend on `θ` alone, not on the weights: whoever keeps a
//! [`Statistics`] can try other weights at the same `θ` without looking at a row again.

use crate::error::Error;

/// How far the statistics are wanted; each order includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// `L_c` alone.
    Loss,
    /// `L_c` and `g_c`.
    Gradient,
    /// `L_c`, `g_c` and `H_c`.
    Hessian,
}

/// Rows of several clients, wherever they are kept, that can be summed up at a model `θ`.
///
/// The result must not depend on the number of threads, to the last bit.
pub trait ClientStatistics: Send + Sync {
    /// Number of clients.
    fn n_clients(&self) -> usize;

    /// `n`, the length of a row and of `θ`.
    fn n(&self) -> usize;

    /// Number of rows of one client.
    fn n_rows(&self, client: usize) -> usize;

    /// One pass over all rows of all clients.
    fn evaluate(&self, theta: &[f64], order: Order) -> Result<Statistics, Error>;

    /// One pass that gives each client's statistics only as far as they are wanted; `None`: not at all. The
    /// result may hold more than was asked for.
    fn evaluate_each(&self, theta: &[f64], wanted: &[Option<Order>]) -> Result<Statistics, Error> {
        self.evaluate(theta, wanted.iter().flatten().max().copied().unwrap_or(Order::Loss))
    }

    /// A pass over the rows of one client alone; the result is that of a table with this one client.
    fn evaluate_client(
        &self,
        client: usize,
        theta: &[f64],
        order: Order,
    ) -> Result<Statistics, Error> {
        let mut wanted = vec![None; self.n_clients()];
        wanted[client] = Some(order);
        let all = self.evaluate_each(theta, &wanted)?;
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
    /// What is known of each client; the places of what is not known hold zeros.
    known: Vec<Option<Order>>,
    /// `L_c`, one per client.
    pub losses: Vec<f64>,
    /// `g_c`, client after client, `n` numbers each; empty where only the loss was asked for.
    pub gradients: Vec<f64>,
    /// `H_c`, client after client: the lower triangle row by row, `n(n+1)/2` numbers each; empty where
    /// it was not asked for.
    pub hessians: Vec<f64>,
}

impl Statistics {
    /// All zero, with room for what `order` asks.
    pub fn zeros(n_clients: usize, n: usize, order: Order) -> Self {
        Self::zeros_each(n, &vec![Some(order); n_clients])
    }

    /// All zero, with room for what is wanted of each client.
    pub fn zeros_each(n: usize, wanted: &[Option<Order>]) -> Self {
        let n_clients = wanted.len();
        let highest = wanted.iter().flatten().max().copied();
        let room = |least, size: usize| if highest >= Some(least) { n_clients * size } else { 0 };
        Self {
            n,
            known: wanted.to_vec(),
            losses: vec![0.0; n_clients],
            gradients: vec![0.0; room(Order::Gradient, n)],
            hessians: vec![0.0; room(Order::Hessian, triangle(n))],
        }
    }

    /// `n`, the length of a gradient.
    pub fn n(&self) -> usize {
        self.n
    }

    /// How far the statistics of a client are known.
    pub fn known(&self, client: usize) -> Option<Order> {
        self.known[client]
    }

    /// Where the sums of each client go.
    pub(crate) fn places(&mut self) -> Vec<ClientPlace<'_>> {
        let mut gradients = self.gradients.chunks_exact_mut(self.n.max(1));
        let mut hessians = self.hessians.chunks_exact_mut(triangle(self.n).max(1));
        let place = |loss| ClientPlace {
            loss,
            gradient: gradients.next().unwrap_or_default(),
            hessian: hessians.next().unwrap_or_default(),
        };
        self.losses.iter_mut().map(place).collect()
    }

    /// Takes over what `other`, at the same `θ`, knows of clients of which less is known here.
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

/// The places of one client's statistics; those that were not asked for are empty.
pub(crate) struct ClientPlace<'a> {
    loss: &'a mut f64,
    gradient: &'a mut [f64],
    hessian: &'a mut [f64],
}

impl ClientPlace<'_> {
    /// Adds sums over some rows of the client: the loss, then the gradient and the Hessian if they were summed.
    pub(crate) fn add(&mut self, sums: &[f64]) {
        let (gradient, hessian) = sums[1..].split_at(self.gradient.len().min(sums.len() - 1));
        *self.loss += sums[0];
        let add = |(sum, v): (&mut f64, &f64)| *sum += v;
        self.gradient.iter_mut().zip(gradient).for_each(add);
        self.hessian.iter_mut().zip(hessian).for_each(add);
    }
}

/// Numbers in the lower triangle of an `n × n` matrix, the diagonal included.
pub(crate) fn triangle(n: usize) -> usize {
    n * (n + 1) / 2
}

/// `Σ_c w_c v_c`, where `v_c` stand behind one another. Clients of weight 0 are skipped, so that they
/// count exactly as if they were not there.
fn weighted_sum(values: &[f64], size: usize, weights: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; size];
    for (part, &w) in values.chunks_exact(size).zip(weights) {
        if w != 0.0 {
            sum.iter_mut().zip(part).for_each(|(s, v)| *s += w * v);
        }
    }
    sum
}

/// Copies a client's part, from its place to another one, if both are there.
fn copy_part(into: &mut [f64], from: &[f64], (source, target): (usize, usize), size: usize) {
    let part = from.get(source * size..(source + 1) * size);
    let place = into.get_mut(target * size..(target + 1) * size);
    if let (Some(part), Some(place)) = (part, place) {
        place.copy_from_slice(part);
    }
}

/// One client of several, by itself. `N` stays the number of all rows, so that a weight means the same.
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
