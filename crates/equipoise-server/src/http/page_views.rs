//! Collects the data that a page shows.

use crate::pages::RoundView;
use crate::protocol::{RoundId, RoundState};
use crate::round::Rounds;
use crate::store::StoreError;

pub(super) fn round_view(rounds: &Rounds, round: &RoundId) -> Result<RoundView, StoreError> {
    let info = rounds.info(round)?;
    let outcome = match info.state {
        RoundState::Published => rounds.outcome(round),
        _ => None,
    };
    Ok(RoundView {
        spec: rounds.spec(round)?,
        history: rounds.history(round)?,
        now: rounds.now(),
        files: rounds.files(round)?,
        info,
        outcome,
    })
}
