//! The submissions: every client's signature and receipt, and the list that the round was closed with.

use super::check::{Checks, Problems};
use super::documents::Documents;
use crate::protocol::{
    ClientId, Digest, EventKind, ListedSubmission, Manifest, PublicKey, Receipt, SignedReceipt,
};

pub(super) fn check(documents: &Documents<'_>, checks: &mut Checks) {
    let Some(created) = documents.created() else { return };
    for submission in &documents.list.submissions {
        let client = &submission.client;
        let claim = format!("the submission of `{client}` is what the client signed");
        checks.add(claim, manifest_problem(documents, submission, created.roster));
        let claim = format!("the receipt of `{client}` matches the audit log");
        checks.add(claim, receipt_problem(documents, submission));
    }
    let claim = "the submission list contains every accepted submission and every absent client";
    checks.add(claim, list_problem(documents, created.roster));
    let claim = "the submission list is the one that the round was closed with";
    let digest = Digest::of(documents.file("submissions.json"));
    let closed_with = documents.kinds().find_map(|kind| match kind {
        EventKind::Closed { submissions_sha256, .. } => Some(*submissions_sha256),
        _ => None,
    });
    let problem = match closed_with {
        Some(recorded) if recorded == digest => None,
        Some(recorded) => {
            Some(format!("the SHA-256 of submissions.json is {digest}, but the log has {recorded}"))
        }
        None => Some("the log does not close the round".to_owned()),
    };
    checks.add(claim, problem);
}

/// Checks a receipt that a client kept. It must be in the log, and the log before it must be unchanged.
pub(super) fn check_kept_receipt(
    documents: &Documents<'_>,
    kept: &SignedReceipt,
    checks: &mut Checks,
) {
    let (client, statement) = (&kept.receipt.client, &documents.statement.statement);
    let Receipt { round, audience, .. } = &kept.receipt;
    let problem = match (round, audience) == (&statement.round, &statement.audience) {
        true => event_problem(documents, kept),
        false => Some(format!("it is for round `{round}` of {audience}")),
    };
    checks.add(format!("the receipt kept by `{client}` matches the audit log"), problem);
}

/// Whether the client signed this submission, for this round and schema, within the limits.
fn manifest_problem(
    documents: &Documents<'_>,
    submission: &ListedSubmission,
    roster: &[PublicKey],
) -> Option<String> {
    let (spec, client) = (&documents.spec, &submission.client);
    if !roster.iter().any(|key| key.name() == client) {
        return Some(format!("`{client}` is not on the roster"));
    }
    let Some(manifest) = submission.signed_manifest(roster) else {
        return Some("the manifest is not signed with the client's key on the roster".to_owned());
    };
    let Manifest { audience, round, client: name, length, sha256, schema_sha256, .. } = &manifest;
    let mut problems = Problems::default();
    problems.require(name == client, || format!("it was signed for client `{name}`"));
    problems.require(*audience == spec.audience, || format!("it was signed for {audience}"));
    problems.require(*round == spec.round, || format!("it was signed for round `{round}`"));
    problems.require(*sha256 == submission.sha256, || {
        format!("the client signed a file with SHA-256 {sha256}, not {}", submission.sha256)
    });
    problems.require(*schema_sha256 == spec.schema_sha256, || {
        format!(
            "it was signed for the schema with digest {schema_sha256}, not {}",
            spec.schema_sha256
        )
    });
    problems.require(*length <= spec.limits.body_bytes, || {
        format!("its {length} bytes exceed the limit of {}", spec.limits.body_bytes)
    });
    let ListedSubmission { rows, distinct_rows, .. } = submission;
    problems.require(*rows <= spec.limits.rows, || {
        format!("its {rows} rows exceed the limit of {}", spec.limits.rows)
    });
    problems.require(distinct_rows <= rows, || {
        format!("{distinct_rows} of its {rows} rows are distinct")
    });
    problems.into_option()
}

/// Whether the entry, its receipt and its event in the log agree.
fn receipt_problem(documents: &Documents<'_>, submission: &ListedSubmission) -> Option<String> {
    if !submission.is_consistent() {
        return Some("the entry differs from its manifest or its receipt".to_owned());
    }
    event_problem(documents, &submission.receipt)
}

/// Whether a receipt is signed with the statement's key and describes its event of the log.
fn event_problem(documents: &Documents<'_>, signed: &SignedReceipt) -> Option<String> {
    let receipt = &signed.receipt;
    if !signed.has_valid_signature() {
        return Some("its signature is not valid".to_owned());
    }
    if !signed.server_key.same_key(&documents.statement.server_key) {
        return Some("it is signed with another key than the statement".to_owned());
    }
    let Some((event, digest)) = documents.event(receipt.seq) else {
        return Some(format!("the log has no event {}", receipt.seq));
    };
    if *digest != receipt.chain_head {
        return Some(format!("event {} of the log, or one before it, was changed", receipt.seq));
    }
    (!receipt.is_for(event, *digest))
        .then(|| format!("event {} of the log records something else", receipt.seq))
}

fn list_problem(documents: &Documents<'_>, roster: &[PublicKey]) -> Option<String> {
    let list = &documents.list;
    let mut problems = Problems::default();
    problems.require(list.round == documents.spec.round, || {
        format!("it is the list of round `{}`", list.round)
    });
    let sorted = list.submissions.windows(2).all(|pair| pair[0].client < pair[1].client);
    problems.require(sorted, || "it is not sorted, or lists a client twice".to_owned());
    for kind in documents.kinds() {
        if let EventKind::Accepted { client, .. } = kind {
            let is_listed = list.submissions.iter().any(|listed| listed.client == *client);
            problems.require(is_listed, || format!("it lacks the submission of `{client}`"));
        }
    }
    let n_accepted = documents.kinds().filter(|kind| matches!(kind, EventKind::Accepted { .. }));
    let (n_accepted, n_listed) = (n_accepted.count(), list.submissions.len());
    problems.require(n_accepted == n_listed, || {
        format!("the log accepts {n_accepted} submissions, and the list has {n_listed}")
    });
    let absent: Vec<&ClientId> = roster
        .iter()
        .map(PublicKey::name)
        .filter(|name| list.submissions.iter().all(|listed| listed.client != **name))
        .collect();
    problems.require(absent.iter().copied().eq(&list.absent), || {
        format!("the absent clients are {}", names(&absent))
    });
    for kind in documents.kinds() {
        if let EventKind::Closed { n_submissions, absent: recorded, .. } = kind {
            let same =
                *n_submissions == n_listed as u64 && recorded.iter().eq(absent.iter().copied());
            problems.require(same, || "the log closes the round with another list".to_owned());
        }
    }
    for (i, listed) in list.submissions.iter().enumerate() {
        let same_table =
            |other: &&ListedSubmission| other.canonical_sha256 == listed.canonical_sha256;
        let twin = list.submissions[..i].iter().find(same_table).map(|other| &other.client);
        problems.require(listed.same_table_as.as_ref() == twin, || {
            format!("it is wrong about clients that sent the same table as `{}`", listed.client)
        });
    }
    problems.into_option()
}

fn names(clients: &[&ClientId]) -> String {
    match clients {
        [] => "none".to_owned(),
        clients => clients.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", "),
    }
}
