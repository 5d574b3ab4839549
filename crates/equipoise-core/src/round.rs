//! A round: the clients, what they sent, and the root that the server trusts.

use crate::error::Error;
use crate::packed_rows::PackedRows;
use crate::root::Root;
use crate::rows::Rows;
use crate::statistics::ClientStatistics;

/// Everything that a defense sees. The order of the clients is the order of all weights.
pub struct Round {
    client_ids: Vec<String>,
    proxies: Box<dyn ClientStatistics>,
    root: Root,
}

/// One client's part of a round.
#[derive(Debug, Clone)]
pub struct Client {
    /// Its name.
    pub id: String,
    /// What it sent.
    pub proxy: Rows,
    /// What the server trusts of it.
    pub root: Rows,
}

impl Round {
    /// A round whose proxies are in memory. Clients are sorted by id, so that the order in which they
    /// came changes nothing.
    pub fn new(mut clients: Vec<Client>) -> Result<Self, Error> {
        clients.sort_by(|a, b| a.id.cmp(&b.id));
        let mut client_ids = Vec::with_capacity(clients.len());
        let mut proxies = Vec::with_capacity(clients.len());
        let mut roots = Vec::with_capacity(clients.len());
        for client in clients {
            client_ids.push(client.id);
            proxies.push(client.proxy);
            roots.push(client.root);
        }
        Self::from_parts(client_ids, Box::new(PackedRows::merged(&proxies)?), Root::new(roots)?)
    }

    /// A round whose proxies are anywhere. `client_ids` must be sorted, without repetition.
    pub fn from_parts(
        client_ids: Vec<String>,
        proxies: Box<dyn ClientStatistics>,
        root: Root,
    ) -> Result<Self, Error> {
        if client_ids.is_empty() {
            return Err(Error::NoClients);
        }
        for found in [proxies.n_clients(), root.rows().n_clients()] {
            if found != client_ids.len() {
                return Err(Error::Clients { expected: client_ids.len(), found });
            }
        }
        if let Some(pair) = client_ids.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(Error::ClientOrder { first: pair[0].clone(), second: pair[1].clone() });
        }
        if proxies.n() != root.rows().n() {
            return Err(Error::Features { expected: proxies.n(), found: root.rows().n() });
        }
        if let Some(client) = (0..client_ids.len()).find(|&client| proxies.n_rows(client) == 0) {
            return Err(Error::EmptyProxy { client: client_ids[client].clone() });
        }
        Ok(Self { client_ids, proxies, root })
    }

    /// The clients, sorted.
    pub fn client_ids(&self) -> &[String] {
        &self.client_ids
    }

    /// Number of clients.
    pub fn n_clients(&self) -> usize {
        self.client_ids.len()
    }

    /// What the clients sent.
    pub fn proxies(&self) -> &dyn ClientStatistics {
        self.proxies.as_ref()
    }

    /// What the server trusts.
    pub fn root(&self) -> &Root {
        &self.root
    }
}
