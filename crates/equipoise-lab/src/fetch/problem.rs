//! Why a file could not be fetched, in words that say what to do.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rustls::Error as TlsError;
use ureq::Timeout;

use super::FetchSettings;

/// What went wrong on the way.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchProblem {
    /// Anybody on the way can read and change what comes over http.
    #[error("only https:// is fetched from; use an address that begins so")]
    NotHttps,
    /// The server sent us on to an address that is not https.
    #[error("the server redirects to {to}, which is not https, and is not followed there")]
    RedirectToHttp {
        /// Where it wanted us to go.
        to: String,
    },
    /// One redirect after the other.
    #[error("the server redirects again and again; check the address")]
    TooManyRedirects,
    /// The address is not one.
    #[error("is not an address that can be fetched from: {reason}")]
    BadUrl {
        /// What is wrong with it.
        reason: String,
    },
    /// The certificates to trust cannot be used.
    #[error("the certificates of {} cannot be used: {reason}", file.display())]
    CaFile {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The proxy of the environment is none.
    #[error(
        "HTTPS_PROXY is not the address of a proxy. Set it to one like http://proxy.example.org:3128, \
         or unset it."
    )]
    ProxyUrl,
    /// The proxy did not let us through.
    #[error("the proxy does not connect: {reason}")]
    Proxy {
        /// What it said.
        reason: String,
    },
    /// No address belongs to the server's name.
    #[error(
        "the server's name cannot be resolved. Check the address, and whether this machine is online."
    )]
    NameNotResolved,
    /// Nothing listens there.
    #[error("the connection was refused: nothing listens there, or a firewall forbids it")]
    Refused,
    /// The network does not lead there.
    #[error("cannot connect: {source}")]
    Unreachable {
        /// What the system said.
        source: io::Error,
    },
    /// Connecting took too long.
    #[error("no connection within {seconds} s. Check the network, or try again later.")]
    ConnectTimeout {
        /// How long was waited.
        seconds: f64,
    },
    /// The server sent nothing for too long.
    #[error("the server has sent nothing for {seconds} s. Try again later.")]
    Stalled {
        /// How long was waited.
        seconds: f64,
    },
    /// The whole took too long.
    #[error("was not done after {seconds} s. Try again later.")]
    TooSlow {
        /// How long was waited.
        seconds: f64,
    },
    /// The server's certificate does not show that the server is who it says.
    #[error("the server's certificate is not trusted: {reason}")]
    Certificate {
        /// Why not.
        reason: String,
    },
    /// The server does not speak TLS as it should.
    #[error("no secure connection: {reason}. Is this the address of an https server?")]
    Tls {
        /// What is wrong.
        reason: String,
    },
    /// The server speaks, but not as a web server does.
    #[error("the server's answer makes no sense: {reason}")]
    Protocol {
        /// What is wrong.
        reason: String,
    },
    /// The server has an answer, but not the file.
    #[error("the server answers with status {status}{}, not with the file", in_words(*status))]
    Status {
        /// The status.
        status: u16,
    },
    /// The connection ended before the file did.
    #[error("broke off after {bytes} bytes{}. Try again.", of(*length))]
    BrokenOff {
        /// How many had come.
        bytes: u64,
        /// How many were announced.
        length: Option<u64>,
    },
    /// More than any of the datasets has.
    #[error("is larger than {limit} bytes, which no dataset is; nothing of it was kept")]
    TooLarge {
        /// The most that is let in.
        limit: u64,
    },
    /// The file is another one.
    #[error(
        "is not the expected file: its sha256 is {found}, not {expected}; nothing of it was kept"
    )]
    Digest {
        /// The digest it should have.
        expected: String,
        /// The digest it has.
        found: String,
    },
}

impl FetchProblem {
    /// What went wrong before the file began to come.
    pub(super) fn asking(error: ureq::Error, settings: &FetchSettings) -> Self {
        Self::new(error, (0, None), settings)
    }

    /// What went wrong in the middle of the file.
    pub(super) fn reading(
        error: io::Error,
        (bytes, length): (u64, Option<u64>),
        settings: &FetchSettings,
    ) -> Self {
        // The reader packs errors of its own into those of the system; this unpacks them.
        Self::new(ureq::Error::from(error), (bytes, length), settings)
    }

    fn new(
        error: ureq::Error,
        (bytes, length): (u64, Option<u64>),
        settings: &FetchSettings,
    ) -> Self {
        use ureq::Error as E;
        let reason = error.to_string();
        match error {
            E::Io(error) => Self::of_system(error, (bytes, length)),
            E::Rustls(error) => Self::of_tls(&error),
            E::Tls(_) | E::TlsRequired => Self::Tls { reason },
            E::Timeout(which) => Self::of_timeout(which, settings),
            E::HostNotFound => Self::NameNotResolved,
            E::ConnectionFailed => Self::Unreachable { source: io::Error::other(reason) },
            E::RequireHttpsOnly(to) => Self::RedirectToHttp { to },
            E::TooManyRedirects => Self::TooManyRedirects,
            E::Http(_) | E::BadUri(_) => Self::BadUrl { reason },
            E::ConnectProxyFailed(reason) => Self::Proxy { reason },
            _ => Self::Protocol { reason },
        }
    }

    fn of_system(error: io::Error, (bytes, length): (u64, Option<u64>)) -> Self {
        use io::ErrorKind as Kind;
        if let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<TlsError>()) {
            return Self::of_tls(tls);
        }
        match error.kind() {
            Kind::ConnectionRefused => Self::Refused,
            Kind::UnexpectedEof
            | Kind::ConnectionReset
            | Kind::ConnectionAborted
            | Kind::BrokenPipe => Self::BrokenOff { bytes, length },
            // The standard library has no kind for it, and no number either.
            _ if error.to_string().contains("failed to lookup address") => Self::NameNotResolved,
            _ => Self::Unreachable { source: error },
        }
    }

    fn of_tls(error: &TlsError) -> Self {
        match error {
            TlsError::InvalidCertificate(reason) => {
                Self::Certificate { reason: reason.to_string() }
            }
            _ => Self::Tls { reason: error.to_string() },
        }
    }

    fn of_timeout(which: Timeout, settings: &FetchSettings) -> Self {
        let seconds = |patience: Duration| patience.as_secs_f64();
        match which {
            Timeout::Resolve | Timeout::Connect => {
                Self::ConnectTimeout { seconds: seconds(settings.connect_timeout) }
            }
            Timeout::PerRead | Timeout::PerWrite => {
                Self::Stalled { seconds: seconds(settings.stall_timeout) }
            }
            _ => Self::TooSlow { seconds: seconds(settings.total_timeout) },
        }
    }
}

/// The statuses that people meet.
fn in_words(status: u16) -> &'static str {
    match status {
        401 | 403 => " (not allowed)",
        404 | 410 => " (not found)",
        429 => " (too many requests)",
        500.. => " (the server's own trouble)",
        _ => "",
    }
}

fn of(length: Option<u64>) -> String {
    length.map_or_else(String::new, |length| format!(" of {length}"))
}
