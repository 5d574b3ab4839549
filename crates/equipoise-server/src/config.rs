//! The server's configuration: a TOML file in which unknown keys are errors.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The configuration of `serve`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The data directory.
    pub data: PathBuf,
    /// Address for clients.
    pub listen: SocketAddr,
    /// Loopback address for health checks and metrics. Default: none.
    pub admin_listen: Option<SocketAddr>,
    /// Certificate and key. Without them, `plain_http_on_loopback` must be set.
    pub tls: Option<TlsFiles>,
    /// Serve plain HTTP on a loopback address, behind a reverse proxy on the same machine or in tests.
    #[serde(default)]
    pub plain_http_on_loopback: bool,
    /// Refuse to start if the kernel lacks any restriction of the validator's sandbox. Default: false.
    #[serde(default)]
    pub require_sandbox: bool,
    /// Limits on peers.
    #[serde(default)]
    pub limits: Limits,
}

/// Certificate and private key, both in PEM format.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// The certificate chain.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// Limits on peers. There is no unlimited setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Maximum size of a request head. Default: 16 KiB.
    pub header_bytes: usize,
    /// Timeout for a request head and for the TLS handshake. Default: 10 seconds.
    pub header_timeout_seconds: u64,
    /// How long a peer may read nothing of a response. Default: 10 seconds.
    pub write_timeout_seconds: u64,
    /// Minimum transfer rate of a body, in either direction. Default: 16 KiB per second.
    pub least_bytes_per_second: u64,
    /// Maximum number of concurrent uploads; further ones get 503. Default: 64.
    pub uploads_at_once: usize,
    /// Maximum number of requests of one client that wait for its upload; further ones get 429. Default: 64.
    pub requests_per_client: usize,
    /// Maximum number of public reads that run at once; further ones wait. Default: 16.
    pub reads_at_once: usize,
    /// Maximum number of connections; beyond it, the least deserving one is closed. Default: 4096.
    pub connections: usize,
    /// Maximum number of connections per address (in IPv6, per /64 network). Default: 1024.
    pub connections_per_address: usize,
    /// Failed authentications per address and minute; further ones get 429. Default: 20.
    pub failed_authentications_per_minute: usize,
    /// Rejected files in a row after which a client must wait before it sends another; until then it gets 429.
    /// Default: 3.
    pub free_rejections: u32,
    /// Maximum number of event stream listeners. Default: 256.
    pub listeners: usize,
    /// Maximum number of event stream listeners per address. Default: 8.
    pub listeners_per_address: usize,
    /// After this time an event stream ends, and browsers reconnect. Default: 10 minutes.
    pub listener_seconds: u64,
    /// How long an interrupted upload can be resumed. Default: one day.
    pub upload_expiry_seconds: u64,
    /// How long requests may take to finish after SIGTERM. Default: 30 seconds.
    pub drain_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            header_bytes: 16 << 10,
            header_timeout_seconds: 10,
            write_timeout_seconds: 10,
            least_bytes_per_second: 16 << 10,
            uploads_at_once: 64,
            requests_per_client: 64,
            reads_at_once: 16,
            connections: 4096,
            connections_per_address: 1024,
            failed_authentications_per_minute: 20,
            free_rejections: 3,
            listeners: 256,
            listeners_per_address: 8,
            listener_seconds: 600,
            upload_expiry_seconds: 24 * 3600,
            drain_seconds: 30,
        }
    }
}

/// An invalid configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file is not a valid configuration.
    #[error("{}: invalid configuration: {source}", file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where.
        source: Box<toml::de::Error>,
    },
    /// Settings that are invalid or contradict each other, or a file that cannot be read. The text says which.
    #[error("{0}")]
    Invalid(String),
}

impl ConfigError {
    pub(crate) fn file(file: &Path, problem: impl std::fmt::Display) -> Self {
        Self::Invalid(format!("{}: {problem}", file.display()))
    }
}

impl Config {
    /// Reads and checks a configuration file.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|error| ConfigError::file(path, error))?;
        let config: Self = toml::from_str(&text).map_err(|source| ConfigError::Syntax {
            file: path.to_path_buf(),
            source: Box::new(source),
        })?;
        config.check()?;
        Ok(config)
    }

    /// Checks the combination of settings.
    pub fn check(&self) -> Result<(), ConfigError> {
        let not_loopback = |name: &str, found: SocketAddr| {
            Err(ConfigError::Invalid(format!(
                "{name} must be a loopback address such as 127.0.0.1, found {found}"
            )))
        };
        if self.tls.is_none() {
            if !self.plain_http_on_loopback {
                return Err(ConfigError::Invalid(
                    "no certificate is configured. Set one under [tls], or set plain_http_on_loopback = true for plain \
                     HTTP on a loopback address."
                        .to_owned(),
                ));
            }
            if !self.listen.ip().is_loopback() {
                return not_loopback("the address for plain HTTP", self.listen);
            }
        }
        if let Some(found) = self.admin_listen.filter(|address| !address.ip().is_loopback()) {
            return not_loopback("admin_listen", found);
        }
        let limits = &self.limits;
        let minimums = [
            ("header_bytes", limits.header_bytes as u64, 8192),
            ("header_timeout_seconds", limits.header_timeout_seconds, 1),
            ("write_timeout_seconds", limits.write_timeout_seconds, 1),
            ("least_bytes_per_second", limits.least_bytes_per_second, 1),
            ("uploads_at_once", limits.uploads_at_once as u64, 1),
            ("requests_per_client", limits.requests_per_client as u64, 1),
            ("reads_at_once", limits.reads_at_once as u64, 1),
            ("connections", limits.connections as u64, 1),
            ("connections_per_address", limits.connections_per_address as u64, 1),
            ("free_rejections", u64::from(limits.free_rejections), 1),
            ("listeners", limits.listeners as u64, 1),
            ("listeners_per_address", limits.listeners_per_address as u64, 1),
            ("listener_seconds", limits.listener_seconds, 1),
        ];
        match minimums.into_iter().find(|(_, value, min)| value < min) {
            Some((name, _, min)) => {
                Err(ConfigError::Invalid(format!("the limit `{name}` must be at least {min}")))
            }
            None => Ok(()),
        }
    }
}
