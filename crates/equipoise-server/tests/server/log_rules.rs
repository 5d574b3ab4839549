//! The audit log as a state machine: legal logs are accepted, and every change that breaks a rule is named.

use std::collections::BTreeMap;

use equipoise_core::{Fairness, Settings};
use equipoise_server::protocol::{
    ClientId, CloseReason, Digest, Event, EventKind, LogState, PrivateKey, RoundSpec, RoundState,
    SubmissionLimits, replay,
};
use jiff::Timestamp;
use proptest::prelude::*;

use crate::fuzz_targets::SCHEMA;
use crate::world::{AUDIENCE, key, name, schema};

const START: i64 = 1_800_000_000;

fn time(seconds: i64) -> Timestamp {
    Timestamp::from_second(START + seconds).unwrap()
}

fn spec(minimum: u64, deadline: Option<i64>) -> RoundSpec {
    RoundSpec {
        round: name("spring"),
        audience: AUDIENCE.into(),
        schema_toml: SCHEMA.into(),
        schema_sha256: schema().digest(),
        settings: Settings::new(Fairness::SP),
        minimum,
        deadline: deadline.map(time),
        limits: SubmissionLimits::default(),
        roots: BTreeMap::new(),
    }
}

fn client(i: usize) -> PrivateKey {
    PrivateKey::from_seed(name(&format!("client-{i}")), [i as u8 + 1; 32])
}

fn created(spec: &RoundSpec, n_clients: usize) -> EventKind {
    EventKind::Created {
        spec_sha256: Digest::of(spec.to_json().as_bytes()),
        schema_sha256: spec.schema_sha256,
        server_key: Box::new(key("server").public()),
        roster: (0..n_clients).map(|i| client(i).public()).collect(),
        token_check: Digest::ZERO,
    }
}

fn accepted(client: ClientId, received_at: Timestamp) -> EventKind {
    let digest = Digest::of(client.as_str().as_bytes());
    EventKind::Accepted {
        client,
        sha256: digest,
        canonical_sha256: digest,
        rows: 40,
        distinct_rows: 40,
        received_at,
    }
}

fn closed(by: CloseReason, n_submissions: u64, absent: Vec<ClientId>) -> EventKind {
    EventKind::Closed { by, submissions_sha256: Digest::ZERO, n_submissions, absent }
}

fn published() -> EventKind {
    EventKind::Published { statement_sha256: Digest::ZERO, solve_seconds: 1.0 }
}

/// Numbers the events. Their digests are not linked, because `replay` does not check that.
fn numbered(events: impl IntoIterator<Item = (i64, EventKind)>) -> Vec<Event> {
    let event = |(i, (at, kind)): (usize, (i64, EventKind))| Event {
        seq: i as u64 + 1,
        previous: Digest::ZERO,
        at: time(at),
        round: name("spring"),
        salt: Digest::ZERO,
        kind,
    };
    events.into_iter().enumerate().map(event).collect()
}

fn renumber(events: &mut [Event]) {
    for (i, event) in events.iter_mut().enumerate() {
        event.seq = i as u64 + 1;
    }
}

/// The shortest log that reaches each state, of a round of two clients with minimum 1 and deadline 100.
fn log_up_to(state: RoundState, spec: &RoundSpec) -> Vec<Event> {
    let absent = vec![name("client-1")];
    let all = [
        created(spec, 2),
        EventKind::Opened,
        accepted(name("client-0"), time(1)),
        closed(CloseReason::Command, 1, absent),
        EventKind::Solving,
        published(),
    ];
    let n = match state {
        RoundState::Draft => 1,
        RoundState::Open => 3,
        RoundState::Closed => 4,
        RoundState::Solving => 5,
        RoundState::Published => 6,
        RoundState::Failed | RoundState::Aborted => 4,
    };
    let mut kinds: Vec<EventKind> = all.into_iter().take(n).collect();
    match state {
        RoundState::Failed => kinds.push(EventKind::Failed { reason: "no solution".into() }),
        RoundState::Aborted => kinds.push(EventKind::Aborted { reason: "asked to".into() }),
        _ => {}
    }
    numbered(kinds.into_iter().map(|kind| (1, kind)))
}

#[test]
fn each_event_is_possible_in_exactly_these_states() {
    use RoundState::{Aborted, Closed, Draft, Failed, Open, Published, Solving};
    let spec = spec(1, Some(100));
    let states = [Draft, Open, Closed, Solving, Published, Failed, Aborted];
    let absent = vec![name("client-1")];
    let cases: Vec<(EventKind, &[RoundState])> = vec![
        (created(&spec, 2), &[]),
        (EventKind::Opened, &[Draft]),
        (accepted(name("client-1"), time(2)), &[Open]),
        (EventKind::KeyRevoked { client: name("client-1") }, &[Draft, Open]),
        (closed(CloseReason::Command, 1, absent), &[Open]),
        (EventKind::Solving, &[Closed]),
        (published(), &[Solving]),
        (EventKind::Failed { reason: "no solution".into() }, &[Closed, Solving]),
        (EventKind::Aborted { reason: "asked to".into() }, &[Draft, Open, Closed, Solving]),
    ];
    for state in states {
        let log = log_up_to(state, &spec);
        assert_eq!(replay(&log, Some(&spec)).unwrap().state, state);
        for (kind, possible) in &cases {
            let mut longer = log.clone();
            let mut event = Event { kind: kind.clone(), ..log[0].clone() };
            (event.seq, event.at) = (log.len() as u64 + 1, time(2));
            longer.push(event);
            let result = replay(&longer, Some(&spec));
            assert_eq!(
                result.is_ok(),
                possible.contains(&state),
                "{} while {state}: {result:?}",
                kind.name()
            );
            if let Err(error) = result {
                assert_eq!(error.seq, longer.len() as u64);
                assert!(error.to_string().contains(&format!("event {}", error.seq)), "{error}");
                assert!(error.to_string().contains(kind.name()) || state == Open, "{error}");
            }
        }
    }
}

#[test]
fn an_error_names_the_event_and_the_rule() {
    let spec = spec(2, Some(100));
    let (zero, one): (ClientId, ClientId) = (name("client-0"), name("client-1"));
    let open = || vec![(0, created(&spec, 3)), (5, EventKind::Opened)];
    let with = |more: Vec<(i64, EventKind)>| numbered(open().into_iter().chain(more));
    let two = || vec![(6, accepted(zero.clone(), time(6))), (7, accepted(one.clone(), time(6)))];
    let two_and = |at: i64, kind: EventKind| with(two().into_iter().chain([(at, kind)]).collect());
    let absent = || vec![name("client-2")];
    let cases: Vec<(Vec<Event>, &str)> = vec![
        (Vec::new(), "event 1 is missing: the log is empty"),
        (numbered([(0, EventKind::Opened)]), "event 1 is `opened`, but a log starts with"),
        (with(vec![(4, EventKind::Solving)]), "event 3 is dated 2027-01-15T08:00:04Z, earlier"),
        (with(vec![(6, accepted(name("mallory"), time(6)))]), "`mallory`, which is not on the"),
        (two_and(8, accepted(zero.clone(), time(8))), "event 5 accepts a second submission from"),
        (
            with(vec![(6, accepted(zero.clone(), time(7)))]),
            "event 3 accepts a submission that arrived later",
        ),
        (with(vec![(6, accepted(zero.clone(), time(4)))]), "arrived before the round opened"),
        (
            with(vec![(101, accepted(zero.clone(), time(100)))]),
            "but the deadline was 2027-01-15T08:01:40Z",
        ),
        (
            with(vec![
                (6, EventKind::KeyRevoked { client: zero.clone() }),
                (7, accepted(zero.clone(), time(6))),
            ]),
            "event 4 accepts a submission that arrived after the key of client `client-0` was revoked",
        ),
        (
            with(vec![
                (6, EventKind::KeyRevoked { client: zero.clone() }),
                (7, EventKind::KeyRevoked { client: zero.clone() }),
            ]),
            "event 4 revokes the key of client `client-0` a second time",
        ),
        (
            with(vec![(6, EventKind::KeyRevoked { client: name("x") })]),
            "`x`, which is not on the roster",
        ),
        (
            two_and(8, closed(CloseReason::Command, 3, absent())),
            "with 3 submissions, but 2 were accepted",
        ),
        (
            two_and(8, closed(CloseReason::Command, 2, Vec::new())),
            "exactly the absent clients: client-2",
        ),
        (
            two_and(8, closed(CloseReason::Deadline, 2, absent())),
            "but the deadline is 2027-01-15T08:01:40Z",
        ),
        (
            two_and(8, closed(CloseReason::FullRoster, 2, absent())),
            "but these clients can: client-2",
        ),
        (
            with(vec![
                (6, accepted(zero.clone(), time(6))),
                (7, closed(CloseReason::Command, 1, vec![one.clone(), name("client-2")])),
            ]),
            "with 1 submissions, but the minimum is 2",
        ),
        (
            two_and(100, EventKind::Failed { reason: "too few".into() }),
            "event 5 fails the open round, but it has 2 submissions and the minimum is 2",
        ),
        (
            with(vec![(99, EventKind::Failed { reason: "too few".into() })]),
            "event 3 ends the round at its deadline, but the deadline is",
        ),
    ];
    for (log, expected) in cases {
        let error = replay(&log, Some(&spec)).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
    }
    let mut other = with(Vec::new());
    other[1].round = name("autumn");
    let error = replay(&other, Some(&spec)).unwrap_err().to_string();
    assert_eq!(error, "event 2 belongs to another round, `autumn`");
    other[1].seq = 7;
    let error = replay(&other, Some(&spec)).unwrap_err().to_string();
    assert_eq!(error, "event 2 has the number 7");
}

#[test]
fn what_arrived_before_the_deadline_or_a_revocation_counts_even_if_it_is_accepted_later() {
    let spec = spec(1, Some(100));
    let zero: ClientId = name("client-0");
    let log = numbered([
        (0, created(&spec, 2)),
        (0, EventKind::Opened),
        (98, EventKind::KeyRevoked { client: zero.clone() }),
        (150, accepted(zero, time(97))),
        (150, accepted(name("client-1"), time(99))),
        (151, closed(CloseReason::Deadline, 2, Vec::new())),
    ]);
    assert_eq!(replay(&log, Some(&spec)).unwrap().state, RoundState::Closed);
}

/// A source of choices that proptest can shrink.
struct Choices(Vec<u8>);

impl Choices {
    fn below(&mut self, n: usize) -> usize {
        self.0.pop().map_or(0, |byte| usize::from(byte) % n)
    }
}

/// A random legal log up to publication.
fn legal(choices: &mut Choices) -> (Vec<Event>, RoundSpec) {
    let n_clients = 1 + choices.below(5);
    let deadline = (choices.below(2) == 0).then_some(1000);
    let minimum = 1 + choices.below(n_clients) as u64;
    let spec = spec(minimum, deadline);
    let mut at = 0;
    let mut events = vec![(at, created(&spec, n_clients))];
    let mut revoked = vec![false; n_clients];
    let mut has_submitted = vec![false; n_clients];
    if choices.below(4) == 0 && minimum < n_clients as u64 {
        at += choices.below(3) as i64;
        let i = choices.below(n_clients);
        events.push((at, EventKind::KeyRevoked { client: client(i).name().clone() }));
        revoked[i] = true;
    }
    at += choices.below(3) as i64;
    events.push((at, EventKind::Opened));
    let n_submitted = |has_submitted: &[bool]| has_submitted.iter().filter(|s| **s).count() as u64;
    for _ in 0..choices.below(12) {
        at += choices.below(3) as i64;
        let i = choices.below(n_clients);
        if choices.below(4) == 0 && !revoked[i] && n_submitted(&has_submitted) >= minimum {
            events.push((at, EventKind::KeyRevoked { client: client(i).name().clone() }));
            revoked[i] = true;
        } else if !has_submitted[i] && !revoked[i] {
            events.push((at, accepted(client(i).name().clone(), time(at))));
            has_submitted[i] = true;
        }
    }
    for i in 0..n_clients {
        if n_submitted(&has_submitted) < minimum && !has_submitted[i] && !revoked[i] {
            events.push((at, accepted(client(i).name().clone(), time(at))));
            has_submitted[i] = true;
        }
    }
    let absent: Vec<ClientId> =
        (0..n_clients).filter(|i| !has_submitted[*i]).map(|i| client(i).name().clone()).collect();
    let is_full = (0..n_clients).all(|i| has_submitted[i] || revoked[i]);
    let by = match choices.below(3) {
        0 if deadline.is_some() => CloseReason::Deadline,
        1 if is_full => CloseReason::FullRoster,
        _ => CloseReason::Command,
    };
    if by == CloseReason::Deadline {
        at = 1000 + choices.below(3) as i64;
    }
    events.push((at, closed(by, n_submitted(&has_submitted), absent)));
    at += choices.below(3) as i64;
    events.push((at, EventKind::Solving));
    at += choices.below(3) as i64;
    events.push((at, published()));
    (numbered(events), spec)
}

/// Every single change of a published log that must be detected, with a description.
fn illegal_changes(log: &[Event], spec: &RoundSpec) -> Vec<(String, Vec<Event>)> {
    let mut changes = Vec::new();
    let mut add = |what: String, mut changed: Vec<Event>| {
        renumber(&mut changed);
        changes.push((what, changed));
    };
    for (i, event) in log.iter().enumerate() {
        let what = format!("event {} ({})", event.seq, event.kind.name());
        let is_last = i + 1 == log.len();
        let is_revocation = matches!(event.kind, EventKind::KeyRevoked { .. });
        let mut changed = |what: String, change: &dyn Fn(&mut Event)| {
            let mut log = log.to_vec();
            change(&mut log[i]);
            add(what, log);
        };
        changed(format!("{what} in another round"), &|event| event.round = name("autumn"));
        if i > 0 {
            let earlier = time(log[i - 1].at.as_second() - START - 1);
            changed(format!("{what} dated back"), &|event| event.at = earlier);
        }
        match &event.kind {
            EventKind::Accepted { .. } => {
                let with = |new: ClientId, at: Timestamp| {
                    move |event: &mut Event| event.kind = accepted(new.clone(), at)
                };
                changed(format!("{what} of a stranger"), &with(name("mallory"), event.at));
                let EventKind::Accepted { client, .. } = &event.kind else { unreachable!() };
                let later = time(event.at.as_second() - START + 1);
                changed(format!("{what} before it arrived"), &with(client.clone(), later));
                let opened = log.iter().find(|e| e.kind == EventKind::Opened).unwrap().at;
                let before = time(opened.as_second() - START - 1);
                changed(format!("{what} before the opening"), &with(client.clone(), before));
            }
            EventKind::Closed { by, n_submissions, absent, .. } => {
                for wrong in [n_submissions + 1, n_submissions - 1] {
                    let kind = closed(*by, wrong, absent.clone());
                    changed(format!("{what} with {wrong}"), &|e| e.kind = kind.clone());
                }
                let mut more = absent.clone();
                more.push(name("mallory"));
                let kind = closed(*by, *n_submissions, more);
                changed(format!("{what}, one more absent"), &|e| e.kind = kind.clone());
                if spec.deadline.is_none_or(|deadline| event.at < deadline) {
                    let kind = closed(CloseReason::Deadline, *n_submissions, absent.clone());
                    changed(format!("{what} at the deadline"), &|e| e.kind = kind.clone());
                }
            }
            _ => {}
        }
        if !is_revocation && !is_last {
            let mut shorter = log.to_vec();
            shorter.remove(i);
            add(format!("without {what}"), shorter);
        }
        let mut longer = log.to_vec();
        longer.insert(i + 1, event.clone());
        add(format!("{what} twice"), longer);
        if let Some(next) = log.get(i + 1) {
            let may_swap = |kind: &EventKind| {
                matches!(kind, EventKind::Accepted { .. } | EventKind::KeyRevoked { .. })
            };
            let opens = event.kind == EventKind::Opened || next.kind == EventKind::Opened;
            let harmless = may_swap(&event.kind) && may_swap(&next.kind)
                || opens && (is_revocation || matches!(next.kind, EventKind::KeyRevoked { .. }));
            if !harmless {
                let mut swapped = log.to_vec();
                swapped.swap(i, i + 1);
                // Not detected by its time.
                (swapped[i].at, swapped[i + 1].at) = (event.at, next.at);
                add(format!("{what} and the next one swapped"), swapped);
            }
        }
    }
    let last = log.last().unwrap();
    for kind in [
        EventKind::Opened,
        EventKind::Solving,
        EventKind::KeyRevoked { client: client(0).name().clone() },
        EventKind::Aborted { reason: "regret".into() },
        EventKind::Failed { reason: "regret".into() },
    ] {
        let mut longer = log.to_vec();
        let what = format!("{} after the end", kind.name());
        longer.push(Event { kind, ..last.clone() });
        add(what, longer);
    }
    changes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("EQUIPOISE_FULL").is_some() { 5000 } else { 200 }))]

    #[test]
    fn legal_logs_are_accepted_and_every_single_change_is_rejected(tape in prop::collection::vec(any::<u8>(), 80)) {
        let (log, spec) = legal(&mut Choices(tape));
        for n in 1..=log.len() {
            let state = replay(&log[..n], Some(&spec));
            prop_assert!(state.is_ok(), "{state:?}: {log:?}");
            // Event by event, as the store does it.
            let mut stepwise = LogState::begin(&log[0], Some(&spec)).unwrap();
            log[1..n].iter().for_each(|event| stepwise.apply(event).unwrap());
            prop_assert_eq!(state.unwrap(), stepwise);
        }
        prop_assert!(replay(&log, None).is_ok());
        for (what, changed) in illegal_changes(&log, &spec) {
            prop_assert!(replay(&changed, Some(&spec)).is_err(), "{what} is accepted: {changed:?}");
        }
    }
}
