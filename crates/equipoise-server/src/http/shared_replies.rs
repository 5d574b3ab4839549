//! Replies that many peers request at the same time. Each is computed once, by one request at a time, and held in
//! memory once, no matter how many connections send it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use tokio::sync::Mutex as AsyncMutex;

use super::app::App;
use super::reply::Answer;
use crate::protocol::RoundId;
use crate::round::Rounds;
use crate::store::StoreError;

/// How long a reply is used if no round changes. Short, because pages show the current time.
const MAX_AGE: Duration = Duration::from_millis(250);
/// Beyond this number of replies, those that nobody is waiting for are dropped.
const MAX_REPLIES: usize = 256;

/// What a reply contains.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum SharedReply {
    Index,
    RoundPage(RoundId),
    RoundInfo(RoundId),
    AuditLog(RoundId),
}

/// The current replies.
#[derive(Debug, Default)]
pub(super) struct SharedReplies(Mutex<HashMap<SharedReply, Arc<Entry>>>);

type Entry = AsyncMutex<Option<Computed>>;

#[derive(Debug)]
struct Computed {
    bytes: Bytes,
    /// The number of changes of rounds before it was computed.
    changes: u64,
    at: Instant,
}

impl App {
    /// Returns a reply that is up to date, computing it if necessary.
    pub(super) async fn shared_reply(
        self: &Arc<Self>,
        reply: SharedReply,
        compute: impl FnOnce(&Rounds) -> Result<Vec<u8>, StoreError> + Send + 'static,
    ) -> Answer<Bytes> {
        let entry = self.shared.entry(&reply);
        let mut computed = entry.lock().await;
        let changes = self.rounds.n_changes();
        if let Some(found) = &*computed
            && found.changes == changes
            && found.at.elapsed() < MAX_AGE
        {
            return Ok(found.bytes.clone());
        }
        let result = self.ask(compute).await;
        match result {
            Ok(bytes) => {
                let bytes = Bytes::from(bytes);
                *computed = Some(Computed { bytes: bytes.clone(), changes, at: Instant::now() });
                Ok(bytes)
            }
            Err(error) => {
                // Otherwise, unknown names would fill the map.
                self.shared.entries().remove(&reply);
                Err(error)
            }
        }
    }
}

impl SharedReplies {
    fn entry(&self, reply: &SharedReply) -> Arc<Entry> {
        let mut entries = self.entries();
        if entries.len() >= MAX_REPLIES && !entries.contains_key(reply) {
            entries.retain(|_, entry| Arc::strong_count(entry) > 1);
        }
        Arc::clone(entries.entry(reply.clone()).or_default())
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<SharedReply, Arc<Entry>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
