//! Certificate and key, which are read again when they are renewed.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum_server::tls_rustls::RustlsConfig;
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::serve::ServeError;

/// How often the files are looked at.
const RELOAD: Duration = Duration::from_secs(60);

/// Where the certificate and its key are.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate chain in PEM.
    pub certificate: PathBuf,
    /// The private key in PEM.
    pub key: PathBuf,
}

impl TlsFiles {
    pub(crate) fn config(&self) -> Result<RustlsConfig, ServeError> {
        Ok(RustlsConfig::from_config(Arc::new(self.read()?)))
    }

    /// Renews the certificate for new connections when its file changes. If it is invalid, nothing changes.
    pub(crate) async fn watch(self, config: RustlsConfig) {
        let mut seen = self.changed_at();
        loop {
            tokio::time::sleep(RELOAD).await;
            let now = self.changed_at();
            if now == seen {
                continue;
            }
            seen = now;
            match self.read() {
                Ok(renewed) => config.reload_from_config(Arc::new(renewed)),
                Err(error) => tracing::error!(%error, "the renewed certificate is not used"),
            }
        }
    }

    fn changed_at(&self) -> [Option<SystemTime>; 2] {
        let changed = |file: &PathBuf| fs::metadata(file).and_then(|found| found.modified()).ok();
        [changed(&self.certificate), changed(&self.key)]
    }

    fn read(&self) -> Result<ServerConfig, ServeError> {
        let wrong = |file: &PathBuf| {
            let file = file.clone();
            move |error: &dyn ToString| ServeError::Tls { file, problem: error.to_string() }
        };
        let chain = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| wrong(&self.certificate)(&error))?;
        let key =
            PrivateKeyDer::from_pem_file(&self.key).map_err(|error| wrong(&self.key)(&error))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|error| wrong(&self.certificate)(&error))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}
