//! Connections: how many there may be, and that none stays without reading its answers.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum_server::accept::Accept;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep, timeout};

/// Connections at once.
const MAX_CONNECTIONS: usize = 512;
/// How long another one waits.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a peer may leave an answer unread.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Accepts connections as long as there is room.
#[derive(Clone, Debug)]
pub(crate) struct Limited(Arc<Semaphore>);

impl Limited {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(MAX_CONNECTIONS)))
    }
}

impl<S: Send + 'static> Accept<TcpStream, S> for Limited {
    type Stream = Connection;
    type Service = S;
    type Future = Pin<Box<dyn Future<Output = io::Result<(Connection, S)>> + Send>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let room = Arc::clone(&self.0);
        Box::pin(async move {
            let permit = timeout(PATIENCE, room.acquire_owned()).await;
            let permit = permit.map_err(|_| io::ErrorKind::TimedOut)?.map_err(io::Error::other)?;
            stream.set_nodelay(true)?;
            Ok((Connection { stream, stalled: None, _permit: permit }, service))
        })
    }
}

/// A connection that is closed if its peer does not read.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    /// Runs while a write waits.
    stalled: Option<Pin<Box<Sleep>>>,
    _permit: OwnedSemaphorePermit,
}

impl Connection {
    /// The result of a write, or an error after too long without one.
    fn progress<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(WRITE_TIMEOUT)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.progress(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.stream).poll_shutdown(context);
        self.progress(context, closed)
    }
}
