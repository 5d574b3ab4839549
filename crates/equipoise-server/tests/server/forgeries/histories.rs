//! Forged logs.

use equipoise_server::protocol::{CloseReason, EventKind};
use jiff::{SignedDuration, Timestamp};

use super::{Published, rejected};
use crate::forger::Forger;
use crate::world::name;

#[tokio::test(flavor = "multi_thread")]
async fn impossible_histories_are_rejected() {
    let round = Published::new().await;
    let history = "possible history";
    let position = |forger: &Forger, wanted: fn(&EventKind) -> bool| {
        forger.events.iter().position(|event| wanted(&event.kind)).unwrap()
    };
    let closed = |kind: &EventKind| matches!(kind, EventKind::Closed { .. });
    let accepted = |kind: &EventKind| matches!(kind, EventKind::Accepted { .. });

    let mut forger = round.forger();
    let at = position(&forger, closed);
    let close = forger.events[at].clone();
    let mut reopen = close.clone();
    reopen.kind = EventKind::Opened;
    let mut abort = close.clone();
    abort.kind = EventKind::Aborted { reason: "no".into() };
    for (i, event) in [reopen, abort, close].into_iter().enumerate() {
        forger.events.insert(at + 1 + i, event);
    }
    let parts = [history, "`opened`, which is not possible while the round is closed"];
    rejected(&round.verify(&forger.rewrite()), "closes, reopens, aborts, closes", &parts);

    let mut forger = round.forger();
    forger.events[at].at -= SignedDuration::from_hours(1);
    let parts = [history, "earlier than the event before it"];
    rejected(&round.verify(&forger.rewrite()), "times going back", &parts);

    let mut forger = round.forger();
    forger.spec.minimum = 3;
    let parts = [history, "closes the round with 2 submissions, but the minimum is 3"];
    rejected(&round.verify(&forger.rewrite()), "too few submissions", &parts);

    let late = |forger: &mut Forger, at: Timestamp| {
        for event in &mut forger.events[4..] {
            event.at = at + SignedDuration::from_secs(1);
            if let EventKind::Accepted { received_at, .. } = &mut event.kind {
                *received_at = at;
            }
        }
    };
    let mut forger = round.forger();
    assert_eq!(position(&forger, accepted), 2);
    let first = forger.events[2].clone();
    forger.events[2] = forger.events[3].clone();
    forger.events[3] = first;
    let deadline = forger.spec.deadline.unwrap();
    let at = deadline + SignedDuration::from_secs(1);
    if let EventKind::Accepted { received_at, .. } = &mut forger.events[3].kind {
        *received_at = at;
    }
    forger.events[3].at = at;
    late(&mut forger, at);
    let parts = [history, "arrived at", "but the deadline was"];
    rejected(&round.verify(&forger.rewrite()), "a late client is accepted", &parts);

    let mut forger = round.forger();
    let mut revoked = forger.events[1].clone();
    revoked.kind = EventKind::KeyRevoked { client: name("north") };
    forger.events.insert(2, revoked);
    let parts = [history, "after the key of client `north` was revoked"];
    rejected(&round.verify(&forger.rewrite()), "a revoked client is accepted", &parts);

    let mut forger = round.forger();
    let at = position(&forger, closed);
    if let EventKind::Closed { by, .. } = &mut forger.events[at].kind {
        *by = CloseReason::FullRoster;
    }
    let parts = [history, "nobody can still submit, but these clients can: south"];
    rejected(&round.verify(&forger.rewrite()), "closed although a client can submit", &parts);

    let mut forger = round.forger();
    let mut more = forger.events.last().unwrap().clone();
    more.kind = EventKind::Aborted { reason: "changed our mind".into() };
    forger.events.push(more);
    let parts = ["ends with the publication of this statement"];
    rejected(&round.verify(&forger.rewrite()), "an event after the publication", &parts);

    // The statement of the first publication with the log of a second one.
    let mut forger = round.forger();
    let last = forger.events.len() - 1;
    let mut again = forger.events[last - 1].clone();
    again.at += SignedDuration::from_secs(5);
    forger.events[last - 1] = again;
    let mut files = forger.rewrite();
    files.insert("statement.json".into(), round.files["statement.json"].clone());
    let parts = ["ends with the publication of this statement", "records a statement with SHA-256"];
    rejected(&round.verify(&files), "an old statement with a new log", &parts);
}
