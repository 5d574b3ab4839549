//! Uploads that were refused to clients of a round, since the server started. Codes are for everyone, names for
//! the coordinator. Messages are not kept: they may hold a client's values.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use crate::pages::RefusedUpload;
use crate::protocol::{Name, Refusal};

/// So many are kept with their names, for each round.
const KEPT: usize = 50;

#[derive(Debug, Default)]
pub(super) struct RefusedUploads(Mutex<BTreeMap<Name, OfRound>>);

#[derive(Debug, Default)]
struct OfRound {
    counts: BTreeMap<&'static str, u64>,
    latest: VecDeque<RefusedUpload>,
    untold: bool,
}

impl RefusedUploads {
    /// Notes one. Called for clients that have shown their key alone, so no stranger fills the list.
    pub(super) fn note(&self, round: &Name, upload: RefusedUpload) {
        let mut rounds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_round = rounds.entry(round.clone()).or_default();
        *of_round.counts.entry(upload.code).or_default() += 1;
        of_round.latest.push_front(upload);
        of_round.latest.truncate(KEPT);
        of_round.untold = true;
    }

    /// How many there were, by code.
    pub(super) fn counts(&self, round: &Name) -> BTreeMap<String, u64> {
        let rounds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = rounds.get(round).map(|of_round| &of_round.counts);
        counts.into_iter().flatten().map(|(code, n)| ((*code).to_owned(), *n)).collect()
    }

    /// The last ones, latest first.
    pub(super) fn latest(&self, round: &Name) -> Vec<RefusedUpload> {
        let rounds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rounds
            .get(round)
            .map_or_else(Vec::new, |of_round| of_round.latest.iter().cloned().collect())
    }

    /// Rounds that had some since this was last asked: listeners hear of them once a second, however
    /// often a client tries.
    pub(super) fn untold(&self) -> Vec<Name> {
        let mut rounds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let untold = rounds.iter_mut().filter(|(_, of_round)| of_round.untold);
        untold
            .map(|(round, of_round)| {
                of_round.untold = false;
                round.clone()
            })
            .collect()
    }
}

/// Whether a refusal says something about the client's file or time, and not about the server's load.
pub(super) fn is_about_the_upload(refusal: &Refusal) -> bool {
    matches!(refusal.status(), 400..=499)
        && !matches!(
            refusal,
            Refusal::NotAuthenticated
                | Refusal::NotFound { .. }
                | Refusal::TooMany { .. }
                | Refusal::TooManyFailures { .. }
                | Refusal::OffsetMismatch { .. }
        )
}
