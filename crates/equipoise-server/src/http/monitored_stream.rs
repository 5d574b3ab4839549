//! A TCP stream that records when bytes move and when the peer does not accept any.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::connection::Connection;

/// A stream of a monitored connection.
#[derive(Debug)]
pub(super) struct MonitoredStream {
    stream: TcpStream,
    connection: Arc<Connection>,
}

impl MonitoredStream {
    /// Prepares a new stream. The kernel gives up on a peer after `timeout`, also once the server has closed the stream.
    pub(super) fn new(
        stream: TcpStream,
        connection: Arc<Connection>,
        timeout: Duration,
    ) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        limit_kernel(&stream, timeout)?;
        Ok(Self { stream, connection })
    }

    fn record(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(bytes)) => self.connection.sent(*bytes, Instant::now()),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.connection.blocked(Instant::now()),
        }
        written
    }
}

/// The kernel takes few bytes that it cannot send yet, and gives up on a peer after the timeout. Bytes in flight to a
/// fast peer are not limited.
#[cfg(target_os = "linux")]
fn limit_kernel(stream: &TcpStream, timeout: Duration) -> io::Result<()> {
    const MAX_UNSENT_BYTES: u32 = 32 << 10;
    let socket = socket2::SockRef::from(stream);
    socket.set_tcp_notsent_lowat(MAX_UNSENT_BYTES)?;
    socket.set_tcp_user_timeout(Some(timeout))
}

/// Other systems do not offer these options.
#[cfg(not(target_os = "linux"))]
fn limit_kernel(_: &TcpStream, _: Duration) -> io::Result<()> {
    Ok(())
}

impl Drop for MonitoredStream {
    fn drop(&mut self) {
        if self.connection.must_reset() {
            // If this fails, the kernel's timeout applies.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for MonitoredStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.connection.received(Instant::now());
        }
        read
    }
}

impl AsyncWrite for MonitoredStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.record(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.record(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
