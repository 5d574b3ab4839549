//! Browser sessions of coordinators. Kept in memory, so a restart logs everyone out.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use subtle::ConstantTimeEq as _;

use crate::protocol::{Digest, RoundId};

pub(super) const LIFETIME: Duration = Duration::from_secs(8 * 3600);
/// Beyond this number, the session that expires first is dropped.
const MAX_SESSIONS: usize = 256;

/// The open sessions, by digest of their id, so that ids are never compared byte by byte.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<Digest, Session>>);

struct Session {
    round: RoundId,
    csrf: String,
    expires: Instant,
}

impl Sessions {
    /// Opens a session and returns its id; `None` if no random numbers are available.
    pub(super) fn open(&self, round: &RoundId) -> Option<String> {
        let (id, csrf) = (random()?, random()?);
        let now = Instant::now();
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| session.expires > now);
        if sessions.len() >= MAX_SESSIONS {
            let first = sessions.iter().min_by_key(|(_, session)| session.expires);
            if let Some(first) = first.map(|(id, _)| *id) {
                sessions.remove(&first);
            }
        }
        let session = Session { round: round.clone(), csrf, expires: now + LIFETIME };
        sessions.insert(Digest::of(id.as_bytes()), session);
        Some(id)
    }

    /// The CSRF token of a session, if it belongs to this round and has not expired.
    pub(super) fn csrf(&self, round: &RoundId, id: &str) -> Option<String> {
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let session = sessions.get(&Digest::of(id.as_bytes()))?;
        (session.round == *round && session.expires > Instant::now()).then(|| session.csrf.clone())
    }

    pub(super) fn close(&self, id: &str) {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.remove(&Digest::of(id.as_bytes()));
    }
}

/// Compares two secrets in constant time.
pub(super) fn same(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

/// 256 bits in hexadecimal.
fn random() -> Option<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok()?;
    Some(equipoise_data::hex(&bytes))
}
