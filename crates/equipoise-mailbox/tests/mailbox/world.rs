//! A mailbox in a thread, a coordinator and clients.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use equipoise_data::Digest;
use equipoise_mailbox::{Options, TlsFiles, open_key, serve};
use equipoise_round::mailbox::Remote;
use equipoise_round::{Content, Invitation, Mailbox, Name, PrivateKey, SealingKey, Terms, seal};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::oneshot;

const SCHEMA: &str = r#"
version = 1
intercept = true
[label]
column = "hired"
positive = "1"
[sensitive]
column = "sex"
privileged = "m"
[[feature]]
column = "score"
kind = "numeric"
center = 50
scale = 10
"#;

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) coordinator: PrivateKey,
    pub(crate) sealing: SealingKey,
    pub(crate) listen: SocketAddr,
    pub(crate) tls: Option<TlsFiles>,
    running: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

pub(crate) fn name(client: usize) -> Name {
    format!("client-{client}").parse().unwrap()
}

pub(crate) fn key(client: usize) -> PrivateKey {
    PrivateKey::from_seed([client as u8 + 10; 32])
}

impl World {
    pub(crate) fn new(is_https: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listen = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let tls = is_https.then(|| certificate(folder.path()));
        let (coordinator, sealing) = (PrivateKey::from_seed([1; 32]), SealingKey::random());
        Self { folder, coordinator, sealing, listen, tls, running: None }
    }

    pub(crate) fn mailbox_folder(&self) -> PathBuf {
        self.folder.path().join("mailbox")
    }

    pub(crate) fn address(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://localhost:{}", self.listen.port())
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            folder: self.mailbox_folder(),
            listen: self.listen,
            tls: self.tls.clone(),
            coordinator: self.coordinator.public(),
            address: self.address(),
            hosts: vec!["127.0.0.1".to_owned()],
        }
    }

    pub(crate) fn start(&mut self) {
        let (options, (stop, stopped), (ready, is_ready)) =
            (self.options(), oneshot::channel(), mpsc::channel());
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            let serving = serve(options, |at| ready.send(at).unwrap(), async move {
                let _ = stopped.await;
            });
            runtime.block_on(serving).unwrap();
        });
        is_ready.recv().unwrap();
        self.running = Some((stop, thread));
    }

    pub(crate) fn stop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            drop(stop);
            thread.join().unwrap();
        }
    }

    /// An invitation for this many clients.
    pub(crate) fn invitation(&self, round: &str, clients: usize) -> Invitation {
        let mailbox = open_key(&self.mailbox_folder(), &self.address()).unwrap();
        let now = Timestamp::now();
        let terms = Terms {
            format: 1,
            name: round.parse().unwrap(),
            issued_at: now,
            coordinator: self.coordinator.public(),
            schema: SCHEMA.to_owned(),
            criterion: "sp".to_owned(),
            requirements: Value::Null,
            settings: Value::Null,
            minimum: 1,
            roster: (0..clients).map(|client| (name(client), key(client).public())).collect(),
            deadline: now + SignedDuration::from_hours(1),
            max_bytes: 4 << 20,
            sealing_key: self.sealing.public(),
            mailbox: Some(Mailbox { address: self.address(), key: mailbox.public() }),
            trusted_sha256: Digest::of(b"trusted"),
        };
        Invitation::sign(terms, &self.coordinator).unwrap()
    }

    pub(crate) fn remote(&self, invitation: &Invitation) -> Remote {
        let ca = self.tls.as_ref().map(|tls| tls.certificate.as_path());
        Remote::of(invitation, ca).unwrap()
    }

    pub(crate) fn round_path(&self, invitation: &Invitation) -> PathBuf {
        self.mailbox_folder().join(format!("{}.round", invitation.digest))
    }

    /// A raw request and everything that comes back.
    pub(crate) fn raw(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.listen).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
        // The server may have answered and closed before it has read everything.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    pub(crate) fn request(&self, head: &str, body: &[u8]) -> String {
        let head = format!(
            "{head} HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            self.listen.port(),
            body.len()
        );
        self.raw(&[head.as_bytes(), body].concat())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.stop();
        }
    }
}

/// A sealed file of this many rows, written to disk.
pub(crate) fn sealed_file(
    folder: &Path,
    invitation: &Invitation,
    client: usize,
    rows: usize,
) -> PathBuf {
    let path = folder.join(format!("{client}-{rows}.sealed"));
    fs::write(&path, sealed(invitation, client, rows)).unwrap();
    path
}

pub(crate) fn sealed(invitation: &Invitation, client: usize, rows: usize) -> Vec<u8> {
    let values = (0..rows).flat_map(|row| [row as f64 / 1e4, (row % 2) as f64, 1.0]).collect();
    let content = Content::new(invitation, &key(client), Value::Null, Value::Null, values);
    seal(invitation, &name(client), &key(client), &content, Timestamp::now()).unwrap()
}

fn certificate(folder: &Path) -> TlsFiles {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let files = TlsFiles { certificate: folder.join("cert.pem"), key: folder.join("cert.key") };
    fs::write(&files.certificate, made.cert.pem()).unwrap();
    fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    files
}
