//! Downloads a dataset's file from its public home over HTTPS.
//!
//! The server is not trusted: redirects must stay on https, the body is limited in size and time, and the file
//! appears in the folder only if its SHA-256 digest is the expected one.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use equipoise_data::{Digest, Hasher, NewFolders, check_output, write_atomically};
use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use crate::dataset::Dataset;
use crate::error::Error;

/// Where to download from, and the limits. Proxies are taken from the environment (`HTTPS_PROXY`, `NO_PROXY`).
#[derive(Debug, Clone)]
pub struct FetchSettings {
    /// Download from this https URL instead of the dataset's home.
    pub url: Option<String>,
    /// Replace an existing file that has another digest.
    pub force: bool,
    /// A PEM file of certificates to trust instead of the usual root certificates.
    pub ca_file: Option<PathBuf>,
    /// Maximum time to connect, and to wait for the next bytes. Default 30 s.
    pub stall_timeout: Duration,
    /// Maximum time for the whole download. Default 30 minutes.
    pub timeout: Duration,
    /// Maximum size of the file. Default 64 MB, far above any of the datasets.
    pub max_bytes: u64,
}

impl Default for FetchSettings {
    fn default() -> Self {
        Self {
            url: None,
            force: false,
            ca_file: None,
            stall_timeout: Duration::from_secs(30),
            timeout: Duration::from_secs(30 * 60),
            max_bytes: 64_000_000,
        }
    }
}

/// Why a download failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchProblem {
    /// The URL, or a redirect, is not https.
    #[error("only https:// URLs are allowed, not {0}")]
    NotHttps(String),
    /// The file of trusted certificates cannot be used, and why.
    #[error("cannot use the certificates in {0}: {1}")]
    CaFile(PathBuf, String),
    /// The server's certificate is not trusted, and why.
    #[error("the server's certificate is not trusted: {0}")]
    Certificate(String),
    /// No response: name lookup, connection, TLS, proxy, redirect or timeout.
    #[error("{0}. Check the URL, the network and the HTTPS_PROXY variable, or try again later.")]
    Connection(String),
    /// The server answered with another HTTP status than 200.
    #[error("the server answered with HTTP status {0}. Check the URL, or try again later.")]
    Status(u16),
    /// The transfer stopped after this many bytes, and why.
    #[error("the download stopped after {0} bytes: {1}. Try again.")]
    Interrupted(u64, String),
    /// The file exceeds this many bytes.
    #[error("the file is larger than {0} bytes, the limit for a dataset. Nothing was kept.")]
    TooLarge(u64),
    /// The file is not the dataset.
    #[error("the file's SHA-256 is {found}, but the dataset's is {expected}. Nothing was kept.")]
    Digest {
        /// The dataset's digest.
        expected: &'static str,
        /// The file's digest.
        found: Digest,
    },
}

/// A dataset's file in its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The file.
    pub file: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Whether it was downloaded. If not, it was already there.
    pub downloaded: bool,
}

/// Called with the number of bytes received, and the total if the server sent it.
pub type OnBytes<'a> = &'a mut dyn FnMut(u64, Option<u64>);

impl Dataset {
    /// Downloads the dataset's file into a folder, which is created if it does not exist. If the file is already
    /// there, nothing is downloaded.
    pub fn fetch(
        &self,
        folder: &Path,
        settings: &FetchSettings,
        on_bytes: OnBytes<'_>,
    ) -> Result<Fetched, Error> {
        let file = folder.join(self.file);
        if file.is_file() {
            match self.check(&file) {
                Ok(bytes) => return Ok(Fetched { file, bytes, downloaded: false }),
                Err(Error::DatasetDigest { .. }) if settings.force => {}
                Err(error) => return Err(error),
            }
        }
        let is_new = !folder.is_dir();
        let _new_folder = is_new
            .then(|| NewFolders::create(folder))
            .transpose()
            .map_err(Error::folder(folder))?;
        let downloaded = self.download(&file, settings, on_bytes);
        if downloaded.is_err() && is_new {
            // Removes an empty folder only.
            let _ = std::fs::remove_dir(folder);
        }
        downloaded.map(|bytes| Fetched { file, bytes, downloaded: true })
    }

    fn download(
        &self,
        file: &Path,
        settings: &FetchSettings,
        on_bytes: OnBytes<'_>,
    ) -> Result<u64, Error> {
        check_output(file, settings.force)?;
        let url = settings.url.as_deref().unwrap_or(self.home);
        let mut problem = None;
        let written = write_atomically(file, settings.force, |out| {
            receive(url, self.sha256, settings, out, on_bytes).map_err(|found| {
                problem = Some(found);
                io::Error::other("the download failed")
            })
        });
        match problem {
            Some(problem) => Err(Error::Fetch { url: url.to_owned(), problem }),
            None => Ok(written?),
        }
    }
}

/// Copies the file to `out`, checks its size and digest, and returns its size.
fn receive(
    url: &str,
    sha256: &'static str,
    settings: &FetchSettings,
    out: &mut dyn Write,
    on_bytes: OnBytes<'_>,
) -> Result<u64, FetchProblem> {
    let (mut body, length) = request(url, settings)?;
    let mut hasher = Hasher::default();
    let mut chunk = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        if bytes.max(length.unwrap_or(0)) > settings.max_bytes {
            return Err(FetchProblem::TooLarge(settings.max_bytes));
        }
        let copied = body.read(&mut chunk).and_then(|n| out.write_all(&chunk[..n]).map(|()| n));
        let n = copied.map_err(|error| FetchProblem::Interrupted(bytes, describe(error.into())))?;
        if n == 0 {
            break;
        }
        hasher.update(&chunk[..n]);
        bytes += n as u64;
        on_bytes(bytes, length);
    }
    match hasher.finish() {
        found if found.to_string() == sha256 => Ok(bytes),
        found => Err(FetchProblem::Digest { expected: sha256, found }),
    }
}

/// The body of the response, and its length if the server sent it.
fn request(
    url: &str,
    settings: &FetchSettings,
) -> Result<(impl Read + use<>, Option<u64>), FetchProblem> {
    let roots = match &settings.ca_file {
        Some(file) => RootCerts::from(read_certificates(file)?),
        None => RootCerts::WebPki,
    };
    let agent: Agent = Agent::config_builder()
        .https_only(true)
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        .max_redirects(5)
        .http_status_as_error(false)
        .user_agent(concat!("equipoise/", env!("CARGO_PKG_VERSION")))
        .timeout_resolve(Some(settings.stall_timeout))
        .timeout_connect(Some(settings.stall_timeout))
        .timeout_per_read(Some(settings.stall_timeout))
        .timeout_per_write(Some(settings.stall_timeout))
        .timeout_global(Some(settings.timeout))
        .build()
        .into();
    let response = agent.get(url).call().map_err(|error| match error {
        ureq::Error::RequireHttpsOnly(url) => FetchProblem::NotHttps(url),
        error => {
            let reason = describe(error);
            match reason.strip_prefix("invalid peer certificate: ") {
                Some(reason) => FetchProblem::Certificate(reason.to_owned()),
                None => FetchProblem::Connection(reason),
            }
        }
    })?;
    if response.status() != 200 {
        return Err(FetchProblem::Status(response.status().as_u16()));
    }
    let body = response.into_body();
    let length = body.content_length();
    Ok((body.into_reader(), length))
}

fn read_certificates(file: &Path) -> Result<Vec<Certificate<'static>>, FetchProblem> {
    let failed = |reason: String| FetchProblem::CaFile(file.to_path_buf(), reason);
    let pem = std::fs::read(file).map_err(|error| failed(error.to_string()))?;
    let mut certificates = Vec::new();
    for item in parse_pem(&pem) {
        match item {
            Ok(PemItem::Certificate(certificate)) => certificates.push(certificate),
            Ok(_) => {}
            Err(_) => return Err(failed("it is not valid PEM".to_owned())),
        }
    }
    if certificates.is_empty() {
        return Err(failed("it contains no PEM certificate".to_owned()));
    }
    Ok(certificates)
}

/// The error without ureq's prefixes.
fn describe(error: ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::Rustls(error) => error.to_string(),
        ureq::Error::Timeout(_) => "the server did not respond in time".to_owned(),
        error => error.to_string(),
    }
}
