//! The body of a request: first the two lines of a signed document, then perhaps bytes that go to a temporary file.

use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use equipoise_round::Document;
use equipoise_round::Refusal;
use equipoise_round::spool::{Spool, Spooled};
use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout};

use crate::answer::Failure;

/// Maximum length of a document over HTTP. It is held in memory before its signature is checked.
const MAX_DOCUMENT: usize = 64 << 10;
/// How long the next piece of a body may take.
const PIECE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a whole body may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(1800);
/// A body must arrive at this rate after its first minute, in bytes per second.
const MIN_RATE: u64 = 4 << 10;
/// What is still read of a refused body, so that its sender gets to read the answer.
const DRAINED: usize = 1 << 20;

/// A body that is being read.
pub(crate) struct Upload {
    stream: Pin<Box<BodyDataStream>>,
    started: Instant,
    /// What has arrived but is not used yet.
    rest: Bytes,
}

impl Upload {
    pub(crate) fn new(body: Body) -> Self {
        let stream = Box::pin(body.into_data_stream());
        Self { stream, started: Instant::now(), rest: Bytes::new() }
    }

    /// The document at the beginning.
    pub(crate) async fn document(&mut self) -> Result<Document, Failure> {
        let mut text = Vec::new();
        let end = loop {
            let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            match ends.map(|(at, _)| at + 1).nth(1) {
                Some(end) => break end,
                None if text.len() > MAX_DOCUMENT => {
                    return Err(malformed("its header is too long"));
                }
                None => {}
            }
            match self.next().await? {
                Some(piece) => text.extend_from_slice(&piece),
                None => return Err(malformed("it ends within its first two lines")),
            }
        };
        self.rest = Bytes::from(text.split_off(end));
        let text = String::from_utf8(text).map_err(|_| malformed("it is not UTF-8 text"))?;
        text.parse().map_err(|problem: equipoise_round::document::DocumentProblem| {
            Refusal::Malformed(problem.to_string()).into()
        })
    }

    /// The rest, in a temporary file. Stops after one byte too many.
    pub(crate) async fn spool(&mut self, folder: &Path, limit: u64) -> Result<Spooled, Failure> {
        let mut spool = Spool::new(folder)?;
        let mut piece = std::mem::take(&mut self.rest);
        loop {
            let left = usize::try_from(limit + 1 - spool.length()).unwrap_or(usize::MAX);
            spool.write(&piece[..piece.len().min(left)])?;
            if spool.length() > limit {
                break;
            }
            match self.next().await? {
                Some(next) => piece = next,
                None => break,
            }
            self.check_rate(spool.length())?;
        }
        Ok(spool.finish()?)
    }

    /// Makes sure that nothing follows.
    pub(crate) async fn end(&mut self) -> Result<(), Failure> {
        while self.rest.is_empty() {
            match self.next().await? {
                Some(next) => self.rest = next,
                None => return Ok(()),
            }
        }
        Err(malformed("something follows its second line"))
    }

    /// Reads a little more of a refused body.
    pub(crate) async fn drain(&mut self) {
        let mut left = DRAINED;
        while let Ok(Ok(Some(piece))) = timeout(Duration::from_secs(2), self.next()).await {
            match left.checked_sub(piece.len()) {
                Some(remaining) => left = remaining,
                None => return,
            }
        }
    }

    async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        match timeout(PIECE_TIMEOUT, self.stream.next()).await {
            Err(_) => Err(Failure::TooSlow),
            Ok(Some(Err(_))) => Err(Failure::Broken),
            Ok(Some(Ok(piece))) => Ok(Some(piece)),
            Ok(None) => Ok(None),
        }
    }

    fn check_rate(&self, arrived: u64) -> Result<(), Failure> {
        let seconds = self.started.elapsed().as_secs();
        let is_slow = seconds > 60 && arrived / seconds < MIN_RATE;
        let is_over = self.started.elapsed() > BODY_TIMEOUT;
        if is_slow || is_over { Err(Failure::TooSlow) } else { Ok(()) }
    }
}

fn malformed(problem: &str) -> Failure {
    Refusal::Malformed(format!("it is not a signed document: {problem}")).into()
}
