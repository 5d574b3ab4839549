//! The connection: what is trusted, how long is waited, through which proxy.

use std::path::Path;

use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, BodyReader};

use super::{FetchProblem, FetchSettings};

/// More than this lead nowhere.
const MAX_REDIRECTS: u32 = 5;

/// A way to a server that has not been gone yet.
pub(super) struct Connection<'a> {
    agent: Agent,
    url: &'a str,
    settings: &'a FetchSettings,
}

/// What the server sends.
pub(super) struct Body {
    pub(super) reader: BodyReader<'static>,
    /// How long it is, where the server said so.
    pub(super) length: Option<u64>,
}

impl<'a> Connection<'a> {
    /// Checks what can be checked without the network.
    pub(super) fn prepare(url: &'a str, settings: &'a FetchSettings) -> Result<Self, FetchProblem> {
        // Schemes are written in any case.
        if !url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://")) {
            return Err(FetchProblem::NotHttps);
        }
        let roots = match &settings.ca_file {
            Some(file) => RootCerts::from(read_certificates(file)?),
            None => RootCerts::WebPki,
        };
        let config = Agent::config_builder()
            .https_only(true)
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            // Set even where there is none: the agent would otherwise look for one in the environment.
            .proxy(settings.proxy.as_ref().map(|proxy| proxy.inner().clone()))
            .max_redirects(MAX_REDIRECTS)
            .http_status_as_error(false)
            .user_agent(concat!("equipoise/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(Some(settings.connect_timeout))
            .timeout_connect(Some(settings.connect_timeout))
            .timeout_per_read(Some(settings.stall_timeout))
            .timeout_per_write(Some(settings.stall_timeout))
            .timeout_global(Some(settings.total_timeout))
            .build();
        Ok(Self { agent: config.new_agent(), url, settings })
    }

    /// Asks for the file; the only good answer is "here it is".
    pub(super) fn open(&self) -> Result<Body, FetchProblem> {
        let response = self.agent.get(self.url).call();
        let response = response.map_err(|error| FetchProblem::asking(error, self.settings))?;
        let status = response.status().as_u16();
        if status != 200 {
            return Err(FetchProblem::Status { status });
        }
        let body = response.into_body();
        let length = body.content_length();
        Ok(Body { reader: body.into_reader(), length })
    }
}

fn read_certificates(file: &Path) -> Result<Vec<Certificate<'static>>, FetchProblem> {
    let failed = |reason: String| FetchProblem::CaFile { file: file.to_path_buf(), reason };
    let pem = std::fs::read(file).map_err(|error| failed(error.to_string()))?;
    let mut certificates = Vec::new();
    for item in parse_pem(&pem) {
        match item {
            Ok(PemItem::Certificate(certificate)) => certificates.push(certificate),
            Ok(_) => {}
            Err(_) => return Err(failed("it is not sound PEM".to_owned())),
        }
    }
    if certificates.is_empty() {
        return Err(failed("it holds no certificate in PEM form".to_owned()));
    }
    Ok(certificates)
}
