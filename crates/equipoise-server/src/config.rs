//! What the server can be told: a TOML file in which unknown keys are errors.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The configuration of `serve`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The data directory.
    pub data: PathBuf,
    /// Where clients connect.
    pub listen: SocketAddr,
    /// Where health and metrics are; a loopback address. Default: nowhere.
    pub admin_listen: Option<SocketAddr>,
    /// Certificate and key. Without them only plain HTTP on loopback is possible, and only if
    /// `plain_http_on_loopback` says so.
    pub tls: Option<TlsFiles>,
    /// Serve plain HTTP, on a loopback address alone: behind a proxy on the same machine, or in tests.
    #[serde(default)]
    pub plain_http_on_loopback: bool,
    /// What peers may do.
    #[serde(default)]
    pub limits: Limits,
}

/// Where certificate and key are, both in PEM form.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// The certificate and those that lead from it to one that clients trust.
    pub certificate: PathBuf,
    /// The certificate's private key.
    pub key: PathBuf,
}

/// What peers may do. None is unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Most bytes of a request's head. Default: 16 KiB.
    pub header_bytes: usize,
    /// Longest time for a request's head, and for the handshake before it. Default: 10 seconds.
    pub header_timeout_seconds: u64,
    /// Least rate of a body. Default: 16 KiB a second.
    pub least_bytes_per_second: u64,
    /// Uploads at once; further ones get 503. Default: 64.
    pub uploads_at_once: usize,
    /// Requests of one client that wait for its upload; further ones get 429. Default: 64.
    pub requests_per_client: usize,
    /// Connections at once. Default: 4096.
    pub connections: usize,
    /// Connections of one address at once. Default: 1024.
    pub connections_per_address: usize,
    /// Failed authentications of one address in a minute; further ones get 429. Default: 20.
    pub failed_authentications_per_minute: usize,
    /// Listeners to the event stream at once. Default: 256.
    pub listeners: usize,
    /// How long an interrupted upload can go on. Default: a day.
    pub upload_expiry_seconds: u64,
    /// How long requests may still take after SIGTERM. Default: 30 seconds.
    pub drain_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            header_bytes: 16 << 10,
            header_timeout_seconds: 10,
            least_bytes_per_second: 16 << 10,
            uploads_at_once: 64,
            requests_per_client: 64,
            connections: 4096,
            connections_per_address: 1024,
            failed_authentications_per_minute: 20,
            listeners: 256,
            upload_expiry_seconds: 24 * 3600,
            drain_seconds: 30,
        }
    }
}

/// Why the server cannot be started like this.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not a configuration.
    #[error("{}: is not a configuration: {source}", file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// What and where.
        source: Box<toml::de::Error>,
    },
    /// Neither certificate nor leave to do without.
    #[error(
        "no certificate is given. Name one under [tls], or set plain_http_on_loopback = true for plain HTTP on a loopback address."
    )]
    NoTls,
    /// An address that others can reach where only loopback may be.
    #[error("{what} must be a loopback address such as 127.0.0.1, found {found}")]
    NotLoopback {
        /// Which address.
        what: &'static str,
        /// The address.
        found: SocketAddr,
    },
    /// A limit of zero.
    #[error("the limit `{name}` must be at least {least}")]
    Limit {
        /// Its name.
        name: &'static str,
        /// Its least value.
        least: u64,
    },
    /// Certificate or key cannot be used.
    #[error("{}: {problem}", file.display())]
    Certificate {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

impl Config {
    /// Reads and checks a configuration file.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let file = path.to_path_buf();
        let text = std::fs::read_to_string(path)
            .map_err(|source| ConfigError::Read { file: file.clone(), source })?;
        let config: Self = toml::from_str(&text)
            .map_err(|source| ConfigError::Syntax { file, source: Box::new(source) })?;
        config.check()?;
        Ok(config)
    }

    /// Whether the server may be started like this.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.tls.is_none() {
            if !self.plain_http_on_loopback {
                return Err(ConfigError::NoTls);
            }
            if !self.listen.ip().is_loopback() {
                return Err(ConfigError::NotLoopback { what: "plain HTTP", found: self.listen });
            }
        }
        if let Some(found) = self.admin_listen.filter(|address| !address.ip().is_loopback()) {
            return Err(ConfigError::NotLoopback { what: "admin_listen", found });
        }
        let limits = &self.limits;
        let least = [
            ("header_bytes", limits.header_bytes as u64, 8192),
            ("header_timeout_seconds", limits.header_timeout_seconds, 1),
            ("least_bytes_per_second", limits.least_bytes_per_second, 1),
            ("uploads_at_once", limits.uploads_at_once as u64, 1),
            ("requests_per_client", limits.requests_per_client as u64, 1),
            ("connections", limits.connections as u64, 1),
            ("connections_per_address", limits.connections_per_address as u64, 1),
            ("listeners", limits.listeners as u64, 1),
        ];
        match least.into_iter().find(|(_, found, least)| found < least) {
            Some((name, _, least)) => Err(ConfigError::Limit { name, least }),
            None => Ok(()),
        }
    }
}
