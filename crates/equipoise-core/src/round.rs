//! A round: the clients, their proxies, and the trusted root.

use crate::error::Error;
use crate::packed_rows::PackedRows;
use crate::root::Root;
use crate::rows::Rows;
use crate::statistics::ClientStatistics;

/// The input of a defense. All weights are in the order of the clients.
pub struct Round {
    client_ids: Vec<String>,
    proxies: Box<dyn ClientStatistics>,
    root: Root,
    /// Whether each client declares that its proxy is noisy.
    is_noisy: Vec<bool>,
    /// The error that declared noise causes in the rate of a group, times the group's rows: 0 without noise.
    noise: Vec<f64>,
}

/// One client's part of a round.
#[derive(Debug, Clone)]
pub struct Client {
    /// Its id.
    pub id: String,
    /// Its proxy.
    pub proxy: Rows,
    /// Its trusted rows.
    pub root: Rows,
}

impl Round {
    /// A round with proxies in memory. Clients are sorted by id, so their order does not matter.
    pub fn new(mut clients: Vec<Client>) -> Result<Self, Error> {
        clients.sort_by(|a, b| a.id.cmp(&b.id));
        let parts = clients.into_iter().map(|client| (client.id, (client.proxy, client.root)));
        let (client_ids, (proxies, roots)): (_, (Vec<_>, Vec<_>)) = parts.unzip();
        let proxies = PackedRows::of(&proxies)?;
        Self::from_parts(client_ids, Box::new(proxies), Root::new(roots)?)
    }

    /// A round with proxies stored anywhere. `client_ids` must be sorted and distinct.
    pub fn from_parts(
        client_ids: Vec<String>,
        proxies: Box<dyn ClientStatistics>,
        root: Root,
    ) -> Result<Self, Error> {
        if client_ids.is_empty() {
            return Err(Error::no_clients());
        }
        for found in [proxies.n_clients(), root.tables().len()] {
            if found != client_ids.len() {
                return Err(Error::Clients { expected: client_ids.len(), found });
            }
        }
        if let Some(pair) = client_ids.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(Error::Input(format!(
                "client ids must be sorted and distinct: `{}` comes before `{}`",
                pair[0], pair[1]
            )));
        }
        if proxies.n() != root.packed().n() {
            return Err(Error::Features { expected: proxies.n(), found: root.packed().n() });
        }
        if let Some(client) = (0..client_ids.len()).find(|&client| proxies.n_rows(client) == 0) {
            let client = &client_ids[client];
            return Err(Error::Input(format!("the proxy of client `{client}` has no rows")));
        }
        let is_noisy = vec![false; client_ids.len()];
        let noise = vec![0.0; client_ids.len()];
        Ok(Self { client_ids, proxies, root, is_noisy, noise })
    }

    /// The round with the clients that declare noise, in the order of their ids: their proxies are differentially private,
    /// so their models may be worse than others without being useless.
    pub fn with_noisy_clients(mut self, is_noisy: Vec<bool>) -> Result<Self, Error> {
        let (expected, found) = (self.client_ids.len(), is_noisy.len());
        if expected != found {
            return Err(Error::Clients { expected, found });
        }
        self.is_noisy = is_noisy;
        Ok(self)
    }

    /// The round with the noise of private proxies, in the order of the clients' ids: the error that it causes in the rate of
    /// a group, times the group's rows (see [`PrivacyStatement::rate_error`](crate::PrivacyStatement::rate_error)). 0: none.
    pub fn with_noise(mut self, noise: Vec<f64>) -> Result<Self, Error> {
        let (expected, found) = (self.client_ids.len(), noise.len());
        if expected != found {
            return Err(Error::Clients { expected, found });
        }
        self.noise = noise;
        Ok(self)
    }

    /// The noise of each client's proxy: see [`with_noise`](Self::with_noise).
    pub(crate) fn noise(&self) -> &[f64] {
        &self.noise
    }

    /// Whether a client declares that its proxy is noisy.
    pub fn is_noisy(&self, client: usize) -> bool {
        self.is_noisy[client]
    }

    /// The ids of the clients, sorted.
    pub fn client_ids(&self) -> &[String] {
        &self.client_ids
    }

    /// Number of clients.
    pub fn n_clients(&self) -> usize {
        self.client_ids.len()
    }

    /// The proxies.
    pub fn proxies(&self) -> &dyn ClientStatistics {
        self.proxies.as_ref()
    }

    /// The root.
    pub fn root(&self) -> &Root {
        &self.root
    }
}
