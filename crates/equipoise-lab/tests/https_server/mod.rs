//! A scripted https server on loopback with its own certificate.
//!
//! Handwritten, because it must be able to misbehave.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The answer to a request.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// 200 with this content.
    Content(Vec<u8>),
    /// Another status and a short body.
    Status(u16),
    /// A redirect to this URL.
    Redirect(String),
    /// 200 with this content but twice its length announced; then the connection is cut.
    Cut(Vec<u8>),
    /// 200 with this content but twice its length announced; then nothing until the client gives up.
    Stall(Vec<u8>),
    /// 200 with this length announced, but no content.
    Announce(u64),
    /// 200 with endless blanks and no announced length.
    Endless,
}

/// The server. It stops when dropped.
pub(crate) struct HttpsServer {
    port: u16,
    certificate: String,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

struct Shared {
    config: Arc<ServerConfig>,
    replies: Mutex<Vec<(String, Reply)>>,
    requests: AtomicUsize,
    stopped: AtomicBool,
}

/// Maximum duration of a connection.
const TIMEOUT: Duration = Duration::from_secs(20);

impl HttpsServer {
    /// Starts a server with a certificate for `localhost`.
    pub(crate) fn start() -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let shared = Arc::new(Shared {
            config: Arc::new(config),
            replies: Mutex::default(),
            requests: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let listening = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || listen(&listener, &shared)
        });
        Self { port, certificate: made.cert.pem(), shared, listening: Some(listening) }
    }

    /// Sets the answer for a path. Other paths answer 404.
    pub(crate) fn answer(&self, path: &str, reply: Reply) {
        self.shared.replies().push((path.to_owned(), reply));
    }

    /// The URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }

    /// Writes the server's certificate to a file.
    pub(crate) fn write_certificate(&self, file: &Path) {
        std::fs::write(file, &self.certificate).unwrap();
    }

    /// Number of requests over trusted connections.
    pub(crate) fn requests(&self) -> usize {
        self.shared.requests.load(Ordering::SeqCst)
    }
}

impl Drop for HttpsServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(listening) = self.listening.take() {
            let _ = listening.join();
        }
    }
}

impl Shared {
    fn replies(&self) -> std::sync::MutexGuard<'_, Vec<(String, Reply)>> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reply(&self, path: &str) -> Reply {
        let replies = self.replies();
        let found = replies.iter().rev().find(|(answered, _)| answered == path);
        found.map_or(Reply::Status(404), |(_, reply)| reply.clone())
    }
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopped.load(Ordering::SeqCst) {
            return;
        }
        let shared = Arc::clone(shared);
        // Errors just end the connection.
        std::thread::spawn(move || stream.map(|stream| serve(stream, &shared)));
    }
}

fn serve(stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let connection =
        ServerConnection::new(Arc::clone(&shared.config)).map_err(std::io::Error::other)?;
    let mut tls = StreamOwned::new(connection, stream);
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        tls.read_exact(&mut byte)?;
        request.push(byte[0]);
    }
    shared.requests.fetch_add(1, Ordering::SeqCst);
    let request = String::from_utf8_lossy(&request).into_owned();
    let path = request.split(' ').nth(1).unwrap_or_default();
    let ok = |length: u64| format!("200 OK\r\ncontent-length: {length}");
    match shared.reply(path) {
        Reply::Content(content) => send(&mut tls, &ok(content.len() as u64), &content)?,
        Reply::Status(status) => {
            send(&mut tls, &format!("{status} So\r\ncontent-length: 2"), b"so")?;
        }
        Reply::Redirect(to) => {
            send(&mut tls, &format!("302 Found\r\nlocation: {to}\r\ncontent-length: 0"), b"")?;
        }
        Reply::Cut(content) => {
            send(&mut tls, &ok(2 * content.len() as u64), &content)?;
            // Without the close_notify of TLS, as if a cable were cut.
            return tls.sock.shutdown(std::net::Shutdown::Both);
        }
        Reply::Stall(content) => {
            send(&mut tls, &ok(2 * content.len() as u64), &content)?;
            // Ends when the client gives up.
            let _ = tls.read(&mut byte);
        }
        Reply::Announce(length) => send(&mut tls, &ok(length), b"")?,
        Reply::Endless => {
            send(&mut tls, "200 OK", b"")?;
            loop {
                tls.write_all(&[b' '; 16 * 1024])?;
            }
        }
    }
    tls.conn.send_close_notify();
    tls.flush()
}

fn send(tls: &mut impl Write, head: &str, content: &[u8]) -> std::io::Result<()> {
    tls.write_all(format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n").as_bytes())?;
    tls.write_all(content)?;
    tls.flush()
}
