//! Rows of clients in memory, both as tables and packed for summing.

use crate::error::Error;
use crate::packed_rows::PackedRows;
use crate::rows::{Layout, Rows};
use crate::statistics::{ClientStatistics, Order, Statistics};

/// The rows of all clients in memory, as given and packed. If only statistics are needed, packed rows suffice, as in
/// [`Round::new`](crate::Round::new).
#[derive(Debug, Clone)]
pub struct ClientRows {
    layout: Layout,
    clients: Vec<Rows>,
    packed: PackedRows,
}

impl ClientRows {
    /// The rows of each client, in the order of the clients. All must have the same layout. A client may have no rows.
    pub fn new(clients: Vec<Rows>) -> Result<Self, Error> {
        let layout = clients.first().ok_or(Error::NoClients)?.layout();
        let packed = PackedRows::unmerged(&clients)?;
        Ok(Self { layout, clients, packed })
    }

    /// The rows of each client.
    pub fn clients(&self) -> &[Rows] {
        &self.clients
    }

    /// The layout of all rows.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Changes the rows of a client, but not their number.
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
    let mut rest = triangle;
    for (i, &v) in a.iter().enumerate() {
        let (row, after) = rest.split_at_mut(i + 1);
        let scaled = scale * v;
        row.iter_mut().zip(a).for_each(|(h, u)| *h += scaled * u);
        rest = after;
    }
}
