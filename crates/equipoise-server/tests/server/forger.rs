//! A hostile operator, who holds the server's key: rewrites published files and signs everything again, so that all
//! digests, chains and signatures fit.

use std::collections::BTreeMap;
use std::path::Path;

use equipoise_core::Outcome;
use equipoise_data::{Schema, outcome};
use equipoise_report::{OutcomePage, defend};
use equipoise_server::protocol::{
    Digest, Event, EventKind, PUBLISHED_FILES, PrivateKey, Receipt, RoundSpec, SignedLogHead,
    SignedStatement, Subject, SubmissionList, verify_chain,
};
use serde::Serialize;

pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// The parts of a published round, ready to be changed.
#[derive(Clone)]
pub(crate) struct Forger {
    key: PrivateKey,
    original: Files,
    pub(crate) statement: SignedStatement,
    pub(crate) head: SignedLogHead,
    pub(crate) spec: RoundSpec,
    pub(crate) list: SubmissionList,
    pub(crate) outcome: Outcome,
    pub(crate) events: Vec<Event>,
    /// Files that are published with this content, whatever the rest says.
    pub(crate) replaced: Files,
}

impl Forger {
    pub(crate) fn new(files: &Files, key: PrivateKey) -> Self {
        let text = |name: &str| String::from_utf8(files[name].clone()).unwrap();
        let log = text("audit.jsonl");
        Self {
            key,
            original: files.clone(),
            statement: serde_json::from_str(&text("statement.json")).unwrap(),
            head: serde_json::from_str(&text("audit-head.json")).unwrap(),
            spec: serde_json::from_str(&text("spec.json")).unwrap(),
            list: serde_json::from_str(&text("submissions.json")).unwrap(),
            outcome: outcome::from_json(&text("outcome.json"), Path::new("outcome.json")).unwrap(),
            events: verify_chain(log.lines())
                .unwrap()
                .into_iter()
                .map(|(event, _)| event)
                .collect(),
            replaced: Files::new(),
        }
    }

    /// Publishes a file with other content.
    pub(crate) fn replace(&mut self, name: &str, change: impl Fn(&str) -> String) {
        let found = self.replaced.get(name).unwrap_or(&self.original[name]);
        let before = String::from_utf8(found.clone()).unwrap();
        let after = change(&before);
        assert_ne!(before, after, "the forgery of {name} changed nothing");
        self.replaced.insert(name.to_owned(), after.into_bytes());
    }

    /// Signs the changed files again, and leaves the log as it is, up to the publication.
    pub(crate) fn republish(self) -> Files {
        self.sign()
    }

    /// Signs the changed files again, after a change of the log itself: it is linked again, and every receipt and the
    /// digests of specification and submissions follow the change.
    pub(crate) fn rewrite(mut self) -> Files {
        let spec_json = self.file("spec.json");
        let mut previous = Digest::ZERO;
        for i in 0..self.events.len() {
            let list_digest = Digest::of(&self.file("submissions.json"));
            let event = &mut self.events[i];
            (event.seq, event.previous) = (i as u64 + 1, previous);
            match &mut event.kind {
                EventKind::Created { spec_sha256, schema_sha256, .. } => {
                    *spec_sha256 = Digest::of(&spec_json);
                    *schema_sha256 = self.spec.schema_sha256;
                }
                EventKind::Closed { submissions_sha256, n_submissions, absent, .. } => {
                    *submissions_sha256 = list_digest;
                    *n_submissions = self.list.submissions.len() as u64;
                    absent.clone_from(&self.list.absent);
                }
                _ => {}
            }
            previous = Digest::of(event.to_line().as_bytes());
            let Some(receipt) = Receipt::for_event(&self.spec.audience, event, previous) else {
                continue;
            };
            let mut listed = self.list.submissions.iter_mut();
            if let Some(entry) = listed.find(|entry| entry.client == receipt.client) {
                entry.sha256 = receipt.sha256;
                entry.canonical_sha256 = receipt.canonical_sha256;
                (entry.rows, entry.distinct_rows) = (receipt.rows, receipt.distinct_rows);
                entry.receipt = receipt.sign(&self.key);
            }
        }
        self.sign()
    }

    /// The content of a file, as the changed parts give it.
    fn file(&self, name: &str) -> Vec<u8> {
        if let Some(content) = self.replaced.get(name) {
            return content.clone();
        }
        let schema = Schema::from_toml(&self.spec.schema_toml, Path::new("schema.toml")).unwrap();
        match name {
            "spec.json" => self.spec.to_json().into_bytes(),
            "schema.toml" => self.spec.schema_toml.clone().into_bytes(),
            "settings.json" => pretty(&self.spec.settings),
            "submissions.json" => self.list.to_json().into_bytes(),
            _ => {
                let page = OutcomePage::new(&self.outcome, &schema).unwrap();
                let files = defend::files(&page).unwrap();
                files.into_iter().find(|(known, _)| *known == name).unwrap().1
            }
        }
    }

    fn sign(mut self) -> Files {
        let mut files: Files =
            PUBLISHED_FILES.map(|name| (name.to_owned(), self.file(name))).into_iter().collect();
        let last = self.events.len() - 1;
        let before = self.events[last - 1].to_line();
        let mut statement = self.statement.statement.clone();
        statement.seq = last as u64;
        statement.chain_head = Digest::of(before.as_bytes());
        for subject in &mut statement.subjects {
            if let Some(content) = files.get(&subject.name) {
                *subject = Subject { name: subject.name.clone(), sha256: Digest::of(content) };
            }
        }
        let statement_json = match self.replaced.get("statement.json") {
            Some(content) => content.clone(),
            None => pretty(&statement.sign(&self.key)),
        };
        let published = self.events.last_mut().unwrap();
        published.previous = Digest::of(before.as_bytes());
        if let EventKind::Published { statement_sha256, .. } = &mut published.kind {
            *statement_sha256 = Digest::of(&statement_json);
        }
        let mut head = self.head.head.clone();
        let lines: Vec<String> = self.events.iter().map(Event::to_line).collect();
        let log = match self.replaced.get("audit.jsonl") {
            Some(content) => content.clone(),
            None => (lines.join("\n") + "\n").into_bytes(),
        };
        head.seq = self.events.len() as u64;
        head.chain_head = Digest::of(lines.last().unwrap().as_bytes());
        files.insert("statement.json".into(), statement_json);
        files.insert("audit.jsonl".into(), log);
        files.insert("audit-head.json".into(), pretty(&head.sign(&self.key)));
        files
    }
}

fn pretty(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap();
    bytes.push(b'\n');
    bytes
}
