//! Who has shown the coordinator's token in a browser. Kept in memory: a restart logs everybody out.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use subtle::ConstantTimeEq as _;

use crate::protocol::{Digest, Name};

/// How long a session lasts.
pub(super) const LIFETIME: Duration = Duration::from_secs(8 * 3600);
/// Beyond it the one that ends first goes.
const MOST: usize = 256;

/// The open sessions, by the digest of their id: no id is ever compared byte by byte.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<Digest, Session>>);

struct Session {
    round: Name,
    csrf: String,
    ends: Instant,
}

impl Sessions {
    /// Opens a session for a round; gives its id. None where the system has no random numbers.
    pub(super) fn open(&self, round: &Name) -> Option<String> {
        let (id, csrf) = (random()?, random()?);
        let now = Instant::now();
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| session.ends > now);
        if sessions.len() >= MOST {
            let first = sessions.iter().min_by_key(|(_, session)| session.ends);
            if let Some(first) = first.map(|(id, _)| *id) {
                sessions.remove(&first);
            }
        }
        let session = Session { round: round.clone(), csrf, ends: now + LIFETIME };
        sessions.insert(Digest::of(id.as_bytes()), session);
        Some(id)
    }

    /// The word that forms of a session carry, if the session is one of this round.
    pub(super) fn csrf(&self, round: &Name, id: &str) -> Option<String> {
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let session = sessions.get(&Digest::of(id.as_bytes()))?;
        (session.round == *round && session.ends > Instant::now()).then(|| session.csrf.clone())
    }

    /// Ends a session.
    pub(super) fn close(&self, id: &str) {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.remove(&Digest::of(id.as_bytes()));
    }
}

/// Whether two secrets are the same, in a time that tells nothing.
pub(super) fn same(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

/// 256 bits in hexadecimal.
fn random() -> Option<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok()?;
    Some(equipoise_data::hex(&bytes))
}
