//! A response body read from a file, chunk by chunk. While the peer is slow, it holds one chunk in memory and no open
//! file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::task::JoinHandle;

/// The memory that a slow reader of a file holds.
const CHUNK_BYTES: u64 = 16 << 10;

/// The content of a file that does not change.
#[derive(Debug)]
pub(super) struct FileBody {
    path: PathBuf,
    offset: u64,
    length: u64,
    reading: Option<JoinHandle<io::Result<Bytes>>>,
}

impl FileBody {
    /// Blocks briefly, to find the length of the file.
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let length = File::open(&path)?.metadata()?.len();
        Ok(Self { path, offset: 0, length, reading: None })
    }
}

impl hyper::body::Body for FileBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = &mut *self;
        if this.offset == this.length {
            return Poll::Ready(None);
        }
        let reading = this.reading.get_or_insert_with(|| {
            let (path, offset) = (this.path.clone(), this.offset);
            let length = CHUNK_BYTES.min(this.length - offset);
            tokio::task::spawn_blocking(move || read_chunk(&path, offset, length as usize))
        });
        let chunk = ready!(Pin::new(reading).poll(cx)).unwrap_or_else(|e| Err(io::Error::other(e)));
        this.reading = None;
        Poll::Ready(Some(chunk.map(|chunk| {
            this.offset += chunk.len() as u64;
            Frame::data(chunk)
        })))
    }

    fn is_end_stream(&self) -> bool {
        self.offset == self.length
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.length - self.offset)
    }
}

fn read_chunk(path: &Path, offset: u64, length: usize) -> io::Result<Bytes> {
    let mut chunk = vec![0; length];
    File::open(path)?.read_exact_at(&mut chunk, offset)?;
    Ok(chunk.into())
}
