//! Peers that open connections from chosen loopback addresses, over plain HTTP or TLS.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use socket2::{Domain, Socket, Type};

/// A loopback address of this machine.
pub(crate) fn loopback(last: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, last)
}

/// Connects to a local port from the given address.
pub(crate) fn connect_from(source: Ipv4Addr, port: u16) -> std::io::Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((source, 0)).into())?;
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    socket.connect_timeout(&server.into(), Duration::from_secs(10))?;
    Ok(socket.into())
}

/// A connection, encrypted or not.
pub(crate) enum Link {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

/// How to connect to a server.
#[derive(Clone)]
pub(crate) struct Dialer {
    port: u16,
    tls: Option<Arc<ClientConfig>>,
}

impl Dialer {
    pub(crate) fn plain(port: u16) -> Self {
        Self { port, tls: None }
    }

    /// Trusts the certificate in a PEM file.
    pub(crate) fn tls(port: u16, certificate: &Path) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(certificate).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self { port, tls: Some(Arc::new(config)) }
    }

    /// Connects, completes the TLS handshake if there is one, and sends a text.
    pub(crate) fn send(&self, source: Ipv4Addr, text: &str) -> std::io::Result<Link> {
        let stream = connect_from(source, self.port)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        stream.set_write_timeout(Some(Duration::from_secs(10)))?;
        let mut link = match &self.tls {
            None => Link::Plain(stream),
            Some(config) => {
                let name = ServerName::try_from("localhost").unwrap();
                let session = ClientConnection::new(Arc::clone(config), name).unwrap();
                Link::Tls(Box::new(StreamOwned::new(session, stream)))
            }
        };
        link.write_all(text.as_bytes())?;
        link.flush()?;
        Ok(link)
    }
}

impl Link {
    pub(crate) fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => &stream.sock,
        }
    }
}

impl Read for Link {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Link {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

/// Lets this process, and the servers it starts, open as many files as the system allows.
pub(crate) fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
}

/// The number of sockets that a process has open.
pub(crate) fn n_sockets(pid: u32) -> usize {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    files
        .filter_map(|file| std::fs::read_link(file.path()).ok())
        .filter(|target| target.to_string_lossy().starts_with("socket:"))
        .count()
}
