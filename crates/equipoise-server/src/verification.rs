//! Offline verification of published files.
//!
//! All trust rests on the server's key. With a key from the coordinator or from a receipt, verification shows
//! that the server published these files. Without one, it only shows that the files are consistent.

use std::collections::BTreeMap;
use std::path::Path;

use equipoise_data::{Model, OutcomeFile, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::protocol::{
    Digest, Event, EventKind, PublicKey, SignedLogHead, SignedReceipt, SignedStatement,
    SubmissionList, verify_chain,
};

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was checked, as a statement that holds or does not.
    #[serde(rename = "what")]
    pub claim: String,
    /// Whether it holds.
    pub holds: bool,
    /// What was found instead, or a limitation of the check.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// What the verifier trusts: input from sources other than the published files.
#[derive(Debug, Clone, Default)]
pub struct Trusted {
    /// The server's key.
    pub server_key: Option<PublicKey>,
    /// Receipts kept by clients.
    pub receipts: Vec<SignedReceipt>,
}

/// Verifies published files, keyed by name.
pub fn verify(files: &BTreeMap<String, Vec<u8>>, trusted: &Trusted) -> Vec<Check> {
    let mut verifier = Verifier { files, checks: Vec::new() };
    if let Some(statement) = verifier.read("statement.json") {
        verifier.check_all(&statement, trusted);
    }
    verifier.checks
}

type Events = [(Event, Digest)];

struct Verifier<'a> {
    files: &'a BTreeMap<String, Vec<u8>>,
    checks: Vec<Check>,
}

impl Verifier<'_> {
    fn check_all(&mut self, statement: &SignedStatement, trusted: &Trusted) {
        self.check_statement(statement, trusted);
        let claim = "the audit log is an unbroken chain";
        let events = match verify_chain(self.text("audit.jsonl").lines()) {
            Ok(events) => events,
            Err(error) => return self.add(claim, false, error.to_string()),
        };
        self.add(claim, !events.is_empty(), format!("{} events", events.len()));
        self.check_log(statement, &events);
        if let Some(signed) = self.read::<SignedLogHead>("audit-head.json") {
            let last = events.last().map(|(event, digest)| (event.seq, *digest));
            let holds = signed.has_valid_signature()
                && signed.server_key == statement.server_key
                && signed.head.round == statement.statement.round
                && last == Some((signed.head.seq, signed.head.chain_head));
            self.add("the end of the audit log is signed by the server", holds, "");
        }
        if let Some(list) = self.read("submissions.json") {
            self.check_submissions(statement, &events, &list);
            self.check_outcome(&list);
        }
        for receipt in &trusted.receipts {
            let holds = receipt.receipt.round == statement.statement.round
                && is_in_log(&events, receipt, statement);
            let client = &receipt.receipt.client;
            self.add(format!("the receipt kept by `{client}` matches the audit log"), holds, "");
        }
    }

    fn add(&mut self, claim: impl Into<String>, holds: bool, detail: impl Into<String>) {
        self.checks.push(Check { claim: claim.into(), holds, detail: detail.into() });
    }

    fn read<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        let read = match self.files.get(name) {
            None => Err("the file is missing".to_owned()),
            Some(content) => serde_json::from_slice(content).map_err(|error| error.to_string()),
        };
        read.map_err(|detail| self.add(format!("{name} is readable"), false, detail)).ok()
    }

    fn text(&self, name: &str) -> String {
        let content = self.files.get(name).map_or(&[][..], Vec::as_slice);
        String::from_utf8_lossy(content).into_owned()
    }

    fn check_statement(&mut self, signed: &SignedStatement, trusted: &Trusted) {
        self.add("the statement's signature is valid", signed.has_valid_signature(), "");
        match &trusted.server_key {
            Some(key) => {
                let same = key.same_key(&signed.server_key);
                self.add("the statement is signed with the key you trust", same, "");
            }
            None if trusted.receipts.is_empty() => self.add(
                "the statement names the server's key",
                true,
                format!("compare {} with the coordinator's copy", signed.server_key),
            ),
            None => {}
        }
        let subjects = &signed.statement.subjects;
        for name in crate::protocol::PUBLISHED_FILES {
            if !subjects.iter().any(|subject| subject.name == name) {
                self.add(format!("the statement lists {name}"), false, "");
            }
        }
        for subject in subjects {
            let found = self.files.get(&subject.name).map(|content| Digest::of(content));
            let detail = match found {
                None => "the file is missing".to_owned(),
                Some(found) if found != subject.sha256 => format!("its SHA-256 is {found}"),
                Some(_) => String::new(),
            };
            let claim = format!("{} matches the statement", subject.name);
            self.add(claim, detail.is_empty(), detail);
        }
    }

    fn check_log(&mut self, signed: &SignedStatement, events: &Events) {
        let statement = &signed.statement;
        let one_round = events.iter().all(|(event, _)| event.round == statement.round);
        self.add("the audit log belongs to the statement's round", one_round, "");
        let head = event_at(events, statement.seq).map(|(_, digest)| *digest);
        self.add("the statement covers this audit log", head == Some(statement.chain_head), "");
        let created_with_key = events.first().is_some_and(|(event, _)| {
            matches!(&event.kind, EventKind::Created { server_key, .. }
                if server_key.same_key(&signed.server_key))
        });
        self.add("the round was set up with the statement's key", created_with_key, "");
        let digest = self.files.get("statement.json").map(|content| Digest::of(content));
        let published = any_event(events, |kind| {
            matches!(kind, EventKind::Published { statement_sha256, .. }
                if Some(*statement_sha256) == digest)
        });
        self.add("the audit log records the publication of this statement", published, "");
    }

    fn check_submissions(
        &mut self,
        statement: &SignedStatement,
        events: &Events,
        list: &SubmissionList,
    ) {
        let Some(EventKind::Created { roster, .. }) = events.first().map(|(event, _)| &event.kind)
        else {
            return self.add("the audit log starts with the round's setup", false, "");
        };
        for submission in &list.submissions {
            let client = &submission.client;
            let manifest = submission.signed_manifest(roster);
            let signed = manifest.is_some_and(|m| m.audience == statement.statement.audience);
            let claim = format!("the submission of `{client}` is signed with its roster key");
            self.add(claim, signed, "");
            let recorded = submission.is_consistent()
                && is_in_log(events, &submission.receipt, statement)
                && any_event(events, |kind| {
                    matches!(kind, EventKind::Accepted { client, canonical_sha256, .. }
                        if *client == submission.client
                            && *canonical_sha256 == submission.canonical_sha256)
                });
            self.add(format!("the receipt of `{client}` matches the audit log"), recorded, "");
        }
        let is_accepted = |kind: &EventKind| matches!(kind, EventKind::Accepted { .. });
        let accepted = events.iter().filter(|(event, _)| is_accepted(&event.kind)).count();
        self.add(
            "the submission list contains every accepted submission",
            accepted == list.submissions.len(),
            format!("{accepted} in the log, {} in the list", list.submissions.len()),
        );
        let absent = roster
            .iter()
            .map(PublicKey::name)
            .filter(|name| list.submissions.iter().all(|s| s.client != **name));
        self.add("the submission list names every absent client", absent.eq(&list.absent), "");
        let closed = any_event(events, |kind| {
            matches!(kind, EventKind::Closed { submissions_sha256, .. }
                if *submissions_sha256 == list.digest())
        });
        self.add("the submission list is the one the round was closed with", closed, "");
    }

    fn check_outcome(&mut self, list: &SubmissionList) {
        let outcome = OutcomeFile::from_json(&self.text("outcome.json"), Path::new("outcome.json"));
        let model = Model::from_json(&self.text("model.json"), Path::new("model.json"));
        let schema = Schema::from_toml(&self.text("schema.toml"), Path::new("schema.toml"));
        let (outcome, model, schema) = match (outcome, model, schema) {
            (Ok(outcome), Ok(model), Ok(schema)) => (outcome, model, schema),
            (outcome, model, schema) => {
                let errors = [outcome.err(), model.err(), schema.err()].into_iter().flatten();
                let detail: Vec<String> = errors.map(|error| error.to_string()).collect();
                let claim = "outcome, model and schema are readable";
                return self.add(claim, false, detail.join("; "));
            }
        };
        let digest = schema.digest();
        let agree = model.theta() == outcome.outcome.theta
            && model.schema().digest() == digest
            && outcome.schema_digest == digest.to_string();
        self.add("outcome, model and schema agree", agree, "");
        let outcome = outcome.outcome;
        let used = outcome.clients.iter().map(|c| (c.id.as_str(), c.proxy_rows as u64));
        let listed = list.submissions.iter().map(|s| (s.client.as_str(), s.rows));
        self.add("the outcome covers exactly the listed submissions", used.eq(listed), "");
        let settings =
            serde_json::from_str::<equipoise_core::Settings>(&self.text("settings.json"));
        let same = settings.is_ok_and(|settings| settings == outcome.settings);
        self.add("the outcome used the round's settings", same, "");
    }
}

fn event_at(events: &Events, seq: u64) -> Option<&(Event, Digest)> {
    events.get((seq as usize).wrapping_sub(1))
}

fn any_event(events: &Events, matches: impl Fn(&EventKind) -> bool) -> bool {
    events.iter().any(|(event, _)| matches(&event.kind))
}

/// Whether a receipt is signed with the statement's key and describes an event of the log.
fn is_in_log(events: &Events, signed: &SignedReceipt, statement: &SignedStatement) -> bool {
    let receipt = &signed.receipt;
    signed.has_valid_signature()
        && signed.server_key.same_key(&statement.server_key)
        && event_at(events, receipt.seq).is_some_and(|(event, digest)| {
            *digest == receipt.chain_head
                && matches!(&event.kind, EventKind::Accepted { client, sha256, rows, distinct_rows, .. }
                    if *client == receipt.client
                        && *sha256 == receipt.sha256
                        && *rows == receipt.rows
                        && *distinct_rows == receipt.distinct_rows)
        })
}
