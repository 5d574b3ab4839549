//! The trusted sample as one table.

use crate::error::Error;
use crate::root::Root;
use crate::rows::Rows;

/// Trusted rows of all clients.
#[derive(Debug, Clone)]
pub(crate) struct Trusted {
    pub(crate) rows: Rows,
    /// Whose people the rows are. `None` where the sample does not say.
    clients: Vec<Option<usize>>,
    n_clients: usize,
}

impl Trusted {
    /// `clients` has the client of each row, counted from 0.
    #[cfg(test)]
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
        let clients = match clients {
            Some(clients) => clients.into_iter().map(Some).collect(),
            None => vec![None; rows.len()],
        };
        Ok(Self { rows, clients, n_clients })
    }

    /// The rows of all clients, one after the other, then those of nobody in particular, with an intercept.
    pub(crate) fn of_root(root: &Root) -> Result<Self, Error> {
        let (rows, clients) = (root.all_rows()?.with_intercept()?, root.clients_of_rows());
        Ok(Self { rows, clients, n_clients: root.tables().len() })
    }

    /// Rows of each client and group, `n_root(c, g)`: an equal share each of rows of which the sample does not
    /// say whose they are.
    pub(crate) fn counts(&self) -> Vec<Vec<f64>> {
        let mut counts = vec![vec![0.0; self.rows.layout().groups.len()]; self.n_clients];
        for i in 0..self.rows.len() {
            let group = self.rows.group(i);
            match self.clients[i] {
                Some(client) => counts[client][group] += 1.0,
                None => counts.iter_mut().for_each(|own| own[group] += 1.0 / self.n_clients as f64),
            }
        }
        counts
    }
}
