//! The trusted sample as one table.

use crate::error::Error;
use crate::root::Root;
use crate::rows::Rows;

/// Trusted rows of all clients.
#[derive(Debug, Clone)]
pub(crate) struct Trusted {
    pub(crate) rows: Rows,
    /// Whose people the rows are. `None` if the sample does not say.
    clients: Option<Vec<usize>>,
    n_clients: usize,
}

impl Trusted {
    /// `clients` has the client of each row, counted from 0.
    pub(crate) fn new(
        rows: Rows,
        clients: Option<Vec<usize>>,
        n_clients: usize,
    ) -> Result<Self, Error> {
        if let Some(clients) = &clients {
            if clients.len() != rows.len() {
                let (n, found) = (rows.len(), clients.len());
                return Err(Error::Input(format!(
                    "{n} trusted rows need {n} clients, found {found}"
                )));
            }
            if let Some(row) = clients.iter().position(|client| *client >= n_clients) {
                return Err(Error::Input(format!(
                    "trusted row {row} (counted from 0) is of client {}, but there are only {n_clients}",
                    clients[row]
                )));
            }
        }
        Ok(Self { rows, clients, n_clients })
    }

    /// The tables of all clients, one after the other.
    pub(crate) fn of_root(root: &Root) -> Result<Self, Error> {
        let of_client = |(client, table): (usize, &Rows)| vec![client; table.len()];
        let clients = root.tables().iter().enumerate().flat_map(of_client).collect();
        Self::new(root.all_rows()?, Some(clients), root.tables().len())
    }

    /// Rows of each client and group, `n_root(c, g)`: an equal share each if the sample does not say whose
    /// they are.
    pub(crate) fn counts(&self) -> Vec<Vec<f64>> {
        let mut counts = vec![vec![0.0; self.rows.layout().groups.len()]; self.n_clients];
        for i in 0..self.rows.len() {
            let group = self.rows.group(i);
            match &self.clients {
                Some(clients) => counts[clients[i]][group] += 1.0,
                None => counts.iter_mut().for_each(|own| own[group] += 1.0 / self.n_clients as f64),
            }
        }
        counts
    }
}
