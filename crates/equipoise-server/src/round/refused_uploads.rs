//! Refused uploads since the server started. Codes are public; names are only for the coordinator. Messages are not
//! kept, because they may contain a client's values.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

use crate::protocol::{ClientId, Refusal, RoundId};

/// A refused upload of an authenticated client.
#[derive(Debug, Clone)]
pub(crate) struct RefusedUpload {
    pub(crate) client: ClientId,
    pub(crate) code: &'static str,
    pub(crate) at: Timestamp,
}

/// Number of uploads kept with client names, per round.
const MAX_KEPT: usize = 50;

#[derive(Debug, Default)]
pub(super) struct RefusedUploads(Mutex<BTreeMap<RoundId, RoundUploads>>);

#[derive(Debug, Default)]
struct RoundUploads {
    counts: BTreeMap<&'static str, u64>,
    latest: VecDeque<RefusedUpload>,
    changed: bool,
}

impl RefusedUploads {
    /// Records a refused upload. Only called for authenticated clients, so outsiders cannot fill the list.
    pub(super) fn record(&self, round: &RoundId, upload: RefusedUpload) {
        let mut rounds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_round = rounds.entry(round.clone()).or_default();
        *of_round.counts.entry(upload.code).or_default() += 1;
        of_round.latest.push_front(upload);
        of_round.latest.truncate(MAX_KEPT);
        of_round.changed = true;
    }

    pub(super) fn counts(&self, round: &RoundId) -> BTreeMap<String, u64> {
        let rounds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = rounds.get(round).map(|of_round| &of_round.counts);
        counts.into_iter().flatten().map(|(code, n)| ((*code).to_owned(), *n)).collect()
    }

    /// The latest refused uploads, latest first.
    pub(super) fn latest(&self, round: &RoundId) -> Vec<RefusedUpload> {
        let rounds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rounds
            .get(round)
            .map_or_else(Vec::new, |of_round| of_round.latest.iter().cloned().collect())
    }

    /// Rounds with refused uploads since the last call. Listeners are notified once a second, however often a client
    /// tries.
    pub(super) fn take_changed(&self) -> Vec<RoundId> {
        let mut rounds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = rounds.iter_mut().filter_map(|(round, of_round)| {
            std::mem::take(&mut of_round.changed).then(|| round.clone())
        });
        changed.collect()
    }
}

/// Whether a refusal is about the client's file or its timing, not about the server's load.
pub(super) fn is_about_the_upload(refusal: &Refusal) -> bool {
    matches!(refusal.status(), 400..=499)
        && !matches!(
            refusal,
            Refusal::NotAuthenticated
                | Refusal::NotFound(_)
                | Refusal::TooManyRequests
                | Refusal::TooManyFailures
                | Refusal::OffsetMismatch { .. }
        )
}
