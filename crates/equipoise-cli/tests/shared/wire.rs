//! Raw requests over a socket, plain or TLS, so that a test can break off at any byte.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

/// Longest wait for a reply.
const TIMEOUT: Duration = Duration::from_secs(180);

/// How clients reach a server on loopback.
#[derive(Clone)]
pub(crate) struct Wire {
    pub(crate) port: u16,
    tls: Option<Arc<ClientConfig>>,
}

impl Wire {
    pub(crate) fn plain(port: u16) -> Self {
        Self { port, tls: None }
    }

    /// Writes `cert.pem` and `cert.key` for `localhost` to a folder, and trusts that certificate.
    pub(crate) fn tls(port: u16, folder: &Path) -> Self {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(folder.join("cert.pem"), made.cert.pem()).unwrap();
        let key = made.signing_key.serialize_pem();
        equipoise_server::store::write_private(&folder.join("cert.key"), key.as_bytes()).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self { port, tls: Some(Arc::new(config)) }
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// The server's address as clients write it.
    pub(crate) fn url(&self) -> String {
        match self.is_tls() {
            true => format!("https://localhost:{}", self.port),
            false => format!("http://127.0.0.1:{}", self.port),
        }
    }

    /// Options of `serve` for this address.
    pub(crate) fn serve_options(&self) -> String {
        let security =
            if self.is_tls() { "--cert cert.pem --cert-key cert.key" } else { "--plain-http" };
        format!("--listen 127.0.0.1:{} {security}", self.port)
    }

    pub(crate) fn connect(&self) -> io::Result<Peer> {
        let stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        stream.set_nodelay(true)?;
        Ok(match &self.tls {
            None => Peer::Plain(stream),
            Some(config) => {
                let name = ServerName::try_from("localhost").unwrap();
                let client = ClientConnection::new(Arc::clone(config), name).unwrap();
                Peer::Tls(Box::new(StreamOwned::new(client, stream)))
            }
        })
    }

    /// Sends the head, and the body only when the server asks for it, so that an early reply is not lost.
    pub(crate) fn send_when_asked(&self, head: &str, body: &[&[u8]]) -> Reply {
        let Ok(mut peer) = self.connect() else { return Reply::default() };
        let head = head.replacen("\r\n", "\r\nexpect: 100-continue\r\n", 1);
        peer.write_pieces(&[head.as_bytes()]);
        let (mut first, mut chunk) = (Vec::new(), [0; 4096]);
        while !first.windows(4).any(|window| window == b"\r\n\r\n") {
            match peer.read(&mut chunk) {
                Ok(n @ 1..) => first.extend_from_slice(&chunk[..n]),
                _ => return Reply::default(),
            }
        }
        if first.starts_with(b"HTTP/1.1 100") {
            peer.write_pieces(body);
            return peer.reply();
        }
        let _ = peer.read_to_end(&mut first);
        Reply::parse(&first)
    }

    /// Sends pieces and reads the reply. There is no reply if the server cannot be reached or hangs up.
    pub(crate) fn send(&self, pieces: &[&[u8]]) -> Reply {
        let Ok(mut peer) = self.connect() else { return Reply::default() };
        peer.write_pieces(pieces);
        peer.reply()
    }
}

/// One connection.
pub(crate) enum Peer {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Peer {
    /// Sends pieces. Returns false if the server closed the connection, as it may after refusing a request.
    pub(crate) fn write_pieces(&mut self, pieces: &[&[u8]]) -> bool {
        pieces.iter().all(|piece| self.write_all(piece).is_ok()) && self.flush().is_ok()
    }

    /// Reads the reply to a request with `connection: close`.
    pub(crate) fn reply(mut self) -> Reply {
        let mut bytes = Vec::new();
        // TLS reports an error if the server closes the socket without saying so first.
        let _ = self.read_to_end(&mut bytes);
        Reply::parse(&bytes)
    }

    /// Ends the request early and waits for the server to notice. It then has every byte that was sent, which a hang-up
    /// with unread data, such as TLS session tickets, does not guarantee.
    pub(crate) fn break_off(mut self) {
        let _ = self.socket().shutdown(Shutdown::Write);
        let _ = self.read_to_end(&mut Vec::new());
    }

    /// Closes the connection without reading anything.
    pub(crate) fn hang_up(self) {
        let _ = self.socket().shutdown(Shutdown::Both);
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => stream.get_ref(),
        }
    }
}

impl Read for Peer {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Peer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

/// A status and a body. Status 0 means that there was no reply.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let head = String::from_utf8_lossy(&bytes[..end.unwrap_or(0)]);
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let body = end.map_or(Vec::new(), |end| bytes[end + 4..].to_vec());
        Self { status, body }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The error code of a refusal.
    pub(crate) fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn is_receipt(&self) -> bool {
        matches!(self.status, 200 | 201)
    }

    /// For tables of outcomes: the status and the error code.
    pub(crate) fn outcome(&self) -> String {
        match (self.status, self.code()) {
            (0, _) => "no reply".to_owned(),
            (status, code) if code.is_empty() => status.to_string(),
            (status, code) => format!("{status} {code}"),
        }
    }
}
