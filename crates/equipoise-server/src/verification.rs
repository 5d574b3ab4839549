//! Whether published files are what they say: offline, from the files alone.
//!
//! Everything hangs on the server's key. Whoever has it from elsewhere, from the coordinator or from a
//! receipt, gives it; without it the files are only shown to agree with one another.

use std::collections::BTreeMap;
use std::path::Path;

use equipoise_data::{Model, OutcomeFile, Schema};
use serde::Serialize;

use crate::protocol::{
    Digest, Event, EventKind, ListedSubmission, Manifest, PublicKey, SignedLogHead, SignedReceipt,
    SignedStatement, SubmissionList, verify_chain,
};

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What.
    pub what: String,
    /// Whether it holds.
    pub holds: bool,
    /// What was found where it does not, or how far it holds.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// What a reader brings from elsewhere.
#[derive(Debug, Clone, Default)]
pub struct Trusted {
    /// The server's key.
    pub server_key: Option<PublicKey>,
    /// Receipts that clients have kept.
    pub receipts: Vec<SignedReceipt>,
}

/// Checks published files, given by name.
pub fn verify(files: &BTreeMap<String, Vec<u8>>, trusted: &Trusted) -> Vec<Check> {
    let mut checks = Checks::default();
    let Some(statement) = checks.read::<SignedStatement>(files, "statement.json") else {
        return checks.0;
    };
    check_statement(&mut checks, files, &statement, trusted);
    let audit = text(files, "audit.jsonl");
    let events = match verify_chain(audit.lines()) {
        Ok(events) => events,
        Err(problem) => {
            checks.add("the audit log is one chain", false, problem.to_string());
            return checks.0;
        }
    };
    checks.add(
        "the audit log is one chain",
        !events.is_empty(),
        format!("{} events", events.len()),
    );
    check_log(&mut checks, files, &statement, &events);
    if let Some(head) = checks.read::<SignedLogHead>(files, "audit-head.json") {
        let last = events.last().map(|(event, digest)| (event.seq, *digest));
        let holds = head.is_sound()
            && head.server_key == statement.server_key
            && head.head.round == statement.statement.round
            && last == Some((head.head.seq, head.head.chain_head));
        checks.add("the log ends where the server signed that it ends", holds, "");
    }
    if let Some(list) = checks.read::<SubmissionList>(files, "submissions.json") {
        check_submissions(&mut checks, &statement, &events, &list);
        check_outcome(&mut checks, files, &list);
    }
    for receipt in &trusted.receipts {
        check_kept_receipt(&mut checks, &statement, &events, receipt);
    }
    checks.0
}

#[derive(Default)]
struct Checks(Vec<Check>);

impl Checks {
    fn add(&mut self, what: impl Into<String>, holds: bool, detail: impl Into<String>) {
        self.0.push(Check { what: what.into(), holds, detail: detail.into() });
    }

    fn read<T: serde::de::DeserializeOwned>(
        &mut self,
        files: &BTreeMap<String, Vec<u8>>,
        name: &str,
    ) -> Option<T> {
        let what = format!("{name} can be read");
        let Some(content) = files.get(name) else {
            self.add(what, false, "it is not there");
            return None;
        };
        match serde_json::from_slice(content) {
            Ok(value) => Some(value),
            Err(error) => {
                self.add(what, false, error.to_string());
                None
            }
        }
    }
}

fn text(files: &BTreeMap<String, Vec<u8>>, name: &str) -> String {
    files.get(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
}

fn check_statement(
    checks: &mut Checks,
    files: &BTreeMap<String, Vec<u8>>,
    statement: &SignedStatement,
    trusted: &Trusted,
) {
    checks.add("the statement is signed by the key that it names", statement.is_sound(), "");
    match &trusted.server_key {
        Some(key) => {
            let same = key.same_key(&statement.server_key);
            checks.add("that key is the one you trust", same, "");
        }
        None if trusted.receipts.is_empty() => checks.add(
            "that key is the server's",
            true,
            format!("not checked: compare {} with the coordinator's", statement.server_key),
        ),
        None => {}
    }
    for needed in crate::round::PUBLISHED_FILES {
        if statement.digest_of(needed).is_none() {
            checks.add(format!("the statement names {needed}"), false, "it does not");
        }
    }
    for subject in &statement.statement.subjects {
        let what = format!("{} is the file of the statement", subject.name);
        match files.get(&subject.name) {
            None => checks.add(what, false, "it is not there"),
            Some(content) => {
                let found = Digest::of(content);
                let holds = found == subject.sha256;
                checks.add(
                    what,
                    holds,
                    if holds { String::new() } else { format!("its SHA-256 is {found}") },
                );
            }
        }
    }
}

fn check_log(
    checks: &mut Checks,
    files: &BTreeMap<String, Vec<u8>>,
    statement: &SignedStatement,
    events: &[(Event, Digest)],
) {
    let said = &statement.statement;
    let one_round = events.iter().all(|(event, _)| event.round == said.round);
    checks.add("the log is that of the statement's round", one_round, "");
    let head = events.get((said.seq as usize).wrapping_sub(1)).map(|(_, digest)| *digest);
    checks.add("the statement was made over this log", head == Some(said.chain_head), "");
    let created_by_key = matches!(
        events.first().map(|(event, _)| &event.kind),
        Some(EventKind::Created { server_key, .. }) if server_key.same_key(&statement.server_key)
    );
    checks.add("the round was set up with the statement's key", created_by_key, "");
    let digest = files.get("statement.json").map(|content| Digest::of(content));
    let published = events.iter().any(|(event, _)| {
        matches!(&event.kind, EventKind::Published { statement_sha256, .. }
            if Some(*statement_sha256) == digest)
    });
    checks.add("the log tells that this statement was published", published, "");
}

fn check_submissions(
    checks: &mut Checks,
    statement: &SignedStatement,
    events: &[(Event, Digest)],
    list: &SubmissionList,
) {
    let Some(EventKind::Created { roster, .. }) = events.first().map(|(event, _)| &event.kind)
    else {
        return checks.add("the log begins with the set-up", false, "");
    };
    for submission in &list.submissions {
        let client = &submission.client;
        let receipt = &submission.receipt;
        let signed = roster.iter().find(|key| key.name() == client).is_some_and(|key| {
            Manifest::from_bytes(submission.manifest.as_bytes()).is_ok_and(|manifest| {
                manifest.is_signed_by(key, &submission.signature)
                    && manifest.audience == statement.statement.audience
            })
        });
        checks.add(format!("what `{client}` sent is signed by its key of the roster"), signed, "");
        let sound = submission.agrees()
            && receipt.is_sound()
            && receipt.server_key.same_key(&statement.server_key)
            && is_in_log(events, receipt)
            && accepted_event(events, submission);
        checks.add(format!("the receipt of `{client}` stands in the log"), sound, "");
    }
    let accepted =
        events.iter().filter(|(event, _)| matches!(event.kind, EventKind::Accepted { .. })).count();
    checks.add(
        "every submission of the log is in the list",
        accepted == list.submissions.len(),
        format!("{accepted} in the log, {} in the list", list.submissions.len()),
    );
    let absent = roster
        .iter()
        .map(PublicKey::name)
        .filter(|name| list.submissions.iter().all(|s| s.client != **name));
    checks.add("the list names who sent nothing", absent.eq(list.absent.iter()), "");
    let closed = events.iter().any(|(event, _)| {
        matches!(&event.kind, EventKind::Closed { submissions_sha256, .. }
            if *submissions_sha256 == list.digest())
    });
    checks.add("the list is the one that the round was closed with", closed, "");
}

fn is_in_log(events: &[(Event, Digest)], receipt: &SignedReceipt) -> bool {
    let told = events.get((receipt.receipt.seq as usize).wrapping_sub(1));
    told.is_some_and(|(event, digest)| {
        *digest == receipt.receipt.chain_head
            && matches!(&event.kind, EventKind::Accepted { client, sha256, rows, distinct_rows, .. }
                if *client == receipt.receipt.client
                    && *sha256 == receipt.receipt.sha256
                    && *rows == receipt.receipt.rows
                    && *distinct_rows == receipt.receipt.distinct_rows)
    })
}

fn accepted_event(events: &[(Event, Digest)], submission: &ListedSubmission) -> bool {
    events.iter().any(|(event, _)| {
        matches!(&event.kind, EventKind::Accepted { client, canonical_sha256, .. }
            if *client == submission.client && *canonical_sha256 == submission.canonical_sha256)
    })
}

fn check_outcome(checks: &mut Checks, files: &BTreeMap<String, Vec<u8>>, list: &SubmissionList) {
    let outcome = OutcomeFile::from_json(&text(files, "outcome.json"), Path::new("outcome.json"));
    let model = Model::from_json(&text(files, "model.json"), Path::new("model.json"));
    let schema = Schema::from_toml(&text(files, "schema.toml"), Path::new("schema.toml"));
    let (outcome, model, schema) = match (outcome, model, schema) {
        (Ok(outcome), Ok(model), Ok(schema)) => (outcome, model, schema),
        (outcome, model, schema) => {
            let problems = [outcome.err(), model.err(), schema.err()];
            let detail: Vec<String> =
                problems.into_iter().flatten().map(|error| error.to_string()).collect();
            return checks.add("outcome, model and schema can be read", false, detail.join("; "));
        }
    };
    let digest = schema.digest();
    let agree = model.theta() == outcome.theta
        && model.schema().digest() == digest
        && outcome.schema_digest == digest.to_string();
    checks.add("outcome, model and schema belong together", agree, "");
    let of_outcome = outcome.clients.iter().map(|c| (c.id.as_str(), c.proxy_rows as u64));
    let of_list = list.submissions.iter().map(|s| (s.client.as_str(), s.rows));
    checks.add("the outcome weighs exactly the submissions", of_outcome.eq(of_list), "");
    let settings = serde_json::from_str::<equipoise_core::Settings>(&text(files, "settings.json"));
    let same = settings.is_ok_and(|settings| settings == outcome.settings);
    checks.add("the outcome was made with the round's settings", same, "");
}

fn check_kept_receipt(
    checks: &mut Checks,
    statement: &SignedStatement,
    events: &[(Event, Digest)],
    receipt: &SignedReceipt,
) {
    let holds = receipt.is_sound()
        && receipt.receipt.round == statement.statement.round
        && receipt.server_key.same_key(&statement.server_key)
        && is_in_log(events, receipt);
    let client = &receipt.receipt.client;
    checks.add(format!("the receipt that `{client}` kept stands in the log"), holds, "");
}
