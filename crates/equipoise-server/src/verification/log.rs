//! The audit log: the life of one round, up to the publication of this statement.

use super::check::{Checks, Problems};
use super::documents::{Documents, pretty};
use crate::protocol::{Digest, EventKind, replay};

pub(super) fn check(documents: &Documents<'_>, checks: &mut Checks) {
    let statement = &documents.statement.statement;
    let n_events = documents.events.len();
    checks.add_plain(format!("the audit log is an unbroken chain of {n_events} events"), true);
    let replayed = replay(documents.events.iter().map(|(event, _)| event), Some(&documents.spec));
    let claim =
        "the audit log is a possible history of a round, under the terms of the specification";
    checks.add(claim, replayed.as_ref().err().map(ToString::to_string));
    let other = documents.events.iter().find(|(event, _)| event.round != statement.round);
    let problem =
        other.map(|(event, _)| format!("event {} is of round `{}`", event.seq, event.round));
    checks.add("the audit log belongs to the statement's round", problem);

    let key = documents.created().map(|created| created.server_key);
    let problem = match key {
        None => Some("the log does not start with the creation of a round".to_owned()),
        Some(key) if !key.same_key(&documents.statement.server_key) => {
            Some(format!("the round was created with {key}"))
        }
        Some(_) => None,
    };
    checks.add("the round was created with the key that signed the statement", problem);

    checks.add("the statement covers the audit log up to the solve", coverage_problem(documents));
    checks.add(
        "the audit log ends with the publication of this statement",
        publication_problem(documents),
    );
    checks.add("the server signed the end of the audit log", head_problem(documents));
    let claim = "statement.json is written as the server writes it".to_owned();
    documents.compare(claim, "statement.json", &pretty(&documents.statement), checks);
}

/// The statement must cover everything before the publication: no event can be slipped in between.
fn coverage_problem(documents: &Documents<'_>) -> Option<String> {
    let statement = &documents.statement.statement;
    let mut problems = Problems::default();
    let covered = documents.event(statement.seq).map(|(_, digest)| *digest);
    problems.require(covered == Some(statement.chain_head), || {
        format!("event {} is not the one that the statement covers", statement.seq)
    });
    let last = documents.events.len() as u64;
    problems.require(statement.seq.checked_add(1) == Some(last), || {
        format!("it covers {} events, but {last} precede or record the publication", statement.seq)
    });
    problems.into_option()
}

fn publication_problem(documents: &Documents<'_>) -> Option<String> {
    let digest = Digest::of(documents.file("statement.json"));
    match &documents.events.last()?.0.kind {
        EventKind::Published { statement_sha256, .. } if *statement_sha256 == digest => None,
        EventKind::Published { statement_sha256, .. } => Some(format!(
            "it records a statement with SHA-256 {statement_sha256}, but statement.json has {digest}"
        )),
        _ => Some("the last event is not a publication".to_owned()),
    }
}

fn head_problem(documents: &Documents<'_>) -> Option<String> {
    let (signed, statement) = (&documents.head, &documents.statement);
    let mut problems = Problems::default();
    problems.require(signed.has_valid_signature(), || "the signature is not valid".to_owned());
    problems.require(signed.server_key.same_key(&statement.server_key), || {
        "it is signed with another key than the statement".to_owned()
    });
    problems.require(signed.head.round == statement.statement.round, || {
        format!("it is the head of round `{}`", signed.head.round)
    });
    problems.require(signed.head.audience == statement.statement.audience, || {
        format!("it is the head of a round of {}", signed.head.audience)
    });
    let last = documents.events.last().map(|(event, digest)| (event.seq, *digest));
    problems.require(last == Some((signed.head.seq, signed.head.chain_head)), || {
        format!("the signed head is event {}, but the log ends differently", signed.head.seq)
    });
    problems.into_option()
}
