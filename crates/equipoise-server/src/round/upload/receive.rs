//! Receives a body into its part, at a minimum rate.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tokio_stream::{Stream, StreamExt as _};

use super::Upload;
use super::part::Part;
use crate::protocol::{Refusal, RoundState};
use crate::store::StoreError;

/// Time for a body to start.
const GRACE: Duration = Duration::from_secs(5);
/// How much time a fast start can bank.
const MAX_CREDIT: Duration = Duration::from_secs(10);

impl Upload {
    /// Receives the rest of the body. The part of an interrupted body is kept for resumption while the round is open.
    pub(super) async fn receive<B, E>(
        &self,
        part: Part,
        body: impl Stream<Item = Result<B, E>> + Send + Unpin,
    ) -> Result<Part, StoreError>
    where
        B: AsRef<[u8]> + Send,
        E: Send,
    {
        let interrupted = match self.fill(part, body).await {
            Ok(part) => return Ok(part),
            Err(interrupted) => interrupted,
        };
        if let Some(part) = interrupted.part {
            let round = self.signed.manifest.round.clone();
            let suspended = self.on_thread(move |rounds| {
                let is_open = rounds.store.state(&round)? == RoundState::Open;
                part.suspend(&rounds.store, is_open)
            });
            suspended.await?;
        }
        Err(interrupted.reason)
    }

    async fn fill<B, E>(
        &self,
        mut part: Part,
        mut body: impl Stream<Item = Result<B, E>> + Send + Unpin,
    ) -> Result<Part, Interrupted>
    where
        B: AsRef<[u8]> + Send,
        E: Send,
    {
        let length = self.signed.manifest.length;
        let minimum = self.rounds.limits.least_bytes_per_second;
        let mut slow_at = Instant::now() + GRACE;
        while part.received() < length {
            let bytes = match timeout_at(slow_at, body.next()).await {
                Ok(Some(Ok(bytes))) => bytes,
                Ok(None | Some(Err(_))) => {
                    let refusal =
                        Refusal::BodyTruncated { expected: length, found: part.received() };
                    return Err(Interrupted::new(part, refusal));
                }
                Err(_) => return Err(Interrupted::new(part, Refusal::TooSlow(minimum))),
            };
            let bytes = bytes.as_ref();
            let n = bytes.len() as u64;
            if part.received() + n > length {
                return Err(Interrupted::new(part, Refusal::ManifestMismatch));
            }
            part.push(bytes);
            self.rounds.counters.body_bytes.fetch_add(n, Ordering::Relaxed);
            slow_at += Duration::from_micros(n * 1_000_000 / minimum);
            slow_at = slow_at.min(Instant::now() + MAX_CREDIT);
            self.rounds.store.crash().at("mid_body");
            if part.is_buffer_full() {
                let flushed = self.on_thread(move |rounds| {
                    part.flush(&rounds.store)?;
                    Ok(part)
                });
                part = flushed.await.map_err(|reason| Interrupted { part: None, reason })?;
            }
        }
        Ok(part)
    }
}

/// Why a body did not arrive, and the part if its content is known.
struct Interrupted {
    part: Option<Part>,
    reason: StoreError,
}

impl Interrupted {
    fn new(part: Part, refusal: Refusal) -> Self {
        Self { part: Some(part), reason: refusal.into() }
    }
}
