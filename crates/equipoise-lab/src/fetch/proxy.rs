//! The proxy of the environment, and only the one that is meant for https.

use ureq::http::Uri;
use ureq::{Proxy, ProxyProtocol};

use super::FetchProblem;

/// A proxy that https connections are tunnelled through. It learns which server is asked, not what for.
#[derive(Debug, Clone)]
pub struct HttpsProxy {
    proxy: Proxy,
}

impl HttpsProxy {
    /// What `HTTPS_PROXY` says, with the exceptions of `NO_PROXY`; either may be written in small letters.
    /// `HTTP_PROXY` and `ALL_PROXY` are not looked at.
    pub fn from_environment() -> Result<Option<Self>, FetchProblem> {
        let Some(url) = variable(["HTTPS_PROXY", "https_proxy"])? else { return Ok(None) };
        let exceptions = variable(["NO_PROXY", "no_proxy"])?.unwrap_or_default();
        Self::new(&url, &exceptions).map(Some)
    }

    /// A proxy by its URL, and a list of hosts, parted by commas, that are reached without it.
    pub fn new(url: &str, exceptions: &str) -> Result<Self, FetchProblem> {
        let read = Proxy::new(url).map_err(|_| FetchProblem::ProxyUrl)?;
        if !matches!(read.protocol(), ProxyProtocol::Http | ProxyProtocol::Https) {
            return Err(FetchProblem::ProxyUrl);
        }
        // Only the builder takes exceptions.
        let mut builder = Proxy::builder(read.protocol()).host(read.host()).port(read.port());
        if let Some(name) = read.username() {
            builder = builder.username(name);
        }
        if let Some(password) = read.password() {
            builder = builder.password(password);
        }
        for host in exceptions.split(',') {
            builder = builder.no_proxy(host.trim());
        }
        let proxy = builder.build().map_err(|_| FetchProblem::ProxyUrl)?;
        Ok(Self { proxy })
    }

    /// Its host and port, if it is used for this URL.
    pub(super) fn address_for(&self, url: &str) -> Option<String> {
        let bypassed = url.parse::<Uri>().is_ok_and(|uri| self.proxy.is_no_proxy(&uri));
        (!bypassed).then(|| format!("{}:{}", self.proxy.host(), self.proxy.port()))
    }

    pub(super) fn inner(&self) -> &Proxy {
        &self.proxy
    }
}

/// The first of the names that is set to something.
fn variable(names: [&str; 2]) -> Result<Option<String>, FetchProblem> {
    let value = names.iter().find_map(|name| std::env::var_os(name).filter(|v| !v.is_empty()));
    value.map(|value| value.into_string().map_err(|_| FetchProblem::ProxyUrl)).transpose()
}
