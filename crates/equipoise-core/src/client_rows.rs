//! Rows of clients in memory that can be both looked at and summed up.

use crate::error::Error;
use crate::packed_rows::PackedRows;
use crate::rows::{Layout, Rows};
use crate::statistics::{ClientStatistics, Order, Statistics};

/// The rows of all clients, in memory: as they came, and packed for passes over them. For rows of which only
/// the statistics are wanted, [`Round::new`](crate::Round::new) keeps the packed ones alone.
#[derive(Debug, Clone)]
pub struct ClientRows {
    layout: Layout,
    clients: Vec<Rows>,
    packed: PackedRows,
}

impl ClientRows {
    /// The rows of each client, in the order of the clients. All must have one layout; a client may
    /// have no rows.
    pub fn new(clients: Vec<Rows>) -> Result<Self, Error> {
        let packed = PackedRows::unmerged(&clients)?;
        // There is a client, or packing would have failed.
        let layout = clients.first().ok_or(Error::NoClients)?.layout();
        Ok(Self { layout, clients, packed })
    }

    /// The rows of each client.
    pub fn clients(&self) -> &[Rows] {
        &self.clients
    }

    /// The layout that all rows have.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Moves the rows of a client, for a generator. Their number must stay.
    pub(crate) fn update(&mut self, client: usize, change: impl FnOnce(&mut Rows)) {
        change(&mut self.clients[client]);
        self.packed.repack(client, &self.clients[client]);
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

    fn n_rows_total(&self) -> usize {
        self.packed.n_rows_total()
    }

    fn evaluate(&self, theta: &[f64], order: Order) -> Result<Statistics, Error> {
        self.packed.evaluate(theta, order)
    }

    fn evaluate_each(&self, theta: &[f64], wanted: &[Option<Order>]) -> Result<Statistics, Error> {
        self.packed.evaluate_each(theta, wanted)
    }

    fn evaluate_client(
        &self,
        client: usize,
        theta: &[f64],
        order: Order,
    ) -> Result<Statistics, Error> {
        self.packed.evaluate_client(client, theta, order)
    }
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
