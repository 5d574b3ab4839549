//! The TLS certificate and key, which can be reloaded after a renewal.

use std::sync::{Arc, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;

use crate::config::{ConfigError, TlsFiles};
use crate::store::is_open_to_others;

/// The server's certificate. Reloading it does not affect open connections.
#[derive(Debug)]
pub struct Certificate {
    files: TlsFiles,
    provider: Arc<CryptoProvider>,
    current: RwLock<Arc<CertifiedKey>>,
}

impl Certificate {
    /// Reads certificate and key, and checks that they match.
    pub fn read(files: &TlsFiles) -> Result<Arc<Self>, ConfigError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let current = RwLock::new(Arc::new(read(files, &provider)?));
        Ok(Arc::new(Self { files: files.clone(), provider, current }))
    }

    /// Reloads both files for new connections. If they are invalid, nothing changes.
    pub fn reload(&self) -> Result<(), ConfigError> {
        let renewed = Arc::new(read(&self.files, &self.provider)?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = renewed;
        Ok(())
    }

    /// A TLS acceptor with this certificate.
    pub fn acceptor(self: &Arc<Self>) -> Result<TlsAcceptor, ConfigError> {
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| ConfigError::file(&self.files.certificate, error))?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(self) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn read(files: &TlsFiles, provider: &CryptoProvider) -> Result<CertifiedKey, ConfigError> {
    let certificates = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| ConfigError::file(&files.certificate, error))?;
    if certificates.is_empty() {
        return Err(ConfigError::file(&files.certificate, "contains no PEM certificate"));
    }
    if is_open_to_others(&files.key).map_err(|error| ConfigError::file(&files.key, error))? {
        let remedy = format!("Restrict it with: chmod 600 {}", files.key.display());
        let problem = format!("other users can read this private key. {remedy}");
        return Err(ConfigError::file(&files.key, problem));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| {
        ConfigError::file(&files.key, format!("cannot be read as a PEM private key: {error}"))
    })?;
    CertifiedKey::from_der(certificates, key, provider)
        .map_err(|error| ConfigError::file(&files.certificate, error))
}
