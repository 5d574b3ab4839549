//! Reads the documents that can be compared: logs, heads, receipts, statements and folders of published files.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::history::{Audience, History, HistoryId, Point};
use crate::protocol::{
    Digest, EventKind, PublicKey, Receipt, RoundId, SavedReceipt, ServerLogEntry, ServerLogFile,
    SignedLogHead, SignedServerHead, SignedStatement, replay, verify_chain, verify_server_log,
};

/// What a document, or a folder of documents, says about the logs of one server.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// The server's key, as the documents state it. Unknown for a server-wide log without its head.
    pub server_key: Option<PublicKey>,
    pub(super) histories: BTreeMap<HistoryId, History>,
}

impl Evidence {
    /// Reads one document. `name` is its path, for messages.
    pub fn of_file(name: &str, text: &str) -> Result<Self, String> {
        let mut evidence = Self::default();
        evidence.add_file(name, text).map_err(|problem| format!("{name}: {problem}"))?;
        Ok(evidence)
    }

    /// Reads a folder of published files, by name: the audit log, and the documents that sign it.
    pub fn of_folder(name: &str, files: &BTreeMap<String, String>) -> Result<Self, String> {
        let mut evidence = Self::default();
        for file in ["audit.jsonl", "audit-head.json", "statement.json"] {
            let path = format!("{name}/{file}");
            match files.get(file) {
                Some(text) => evidence
                    .add_file(&path, text)
                    .map_err(|problem| format!("{path}: {problem}"))?,
                None if file == "audit.jsonl" => {
                    return Err(format!(
                        "{name} is not a folder of published files: it has no {file}"
                    ));
                }
                None => {}
            }
        }
        Ok(evidence)
    }

    /// The logs that this is about, in words.
    pub(super) fn subject(&self) -> String {
        let ids: Vec<String> = self.histories.keys().map(HistoryId::to_string).collect();
        match ids.is_empty() {
            true => "no log".into(),
            false => ids.join(", "),
        }
    }

    fn add_file(&mut self, name: &str, text: &str) -> Result<(), String> {
        match Kind::of(text)
            .ok_or("is not a receipt, a head, a statement or a log of a round server")?
        {
            Kind::Receipt => {
                let receipt: SavedReceipt = parse(text, "receipt")?;
                self.add_receipt(name, receipt)
            }
            Kind::Statement => {
                let signed: SignedStatement = parse(text, "statement")?;
                check_signature(signed.has_valid_signature())?;
                let statement = &signed.statement;
                let point = (statement.seq, statement.chain_head);
                self.sign(name, &signed.server_key, &statement.round, point, &statement.audience)
            }
            Kind::LogHead => {
                let signed: SignedLogHead = parse(text, "head of an audit log")?;
                check_signature(signed.has_valid_signature())?;
                let head = &signed.head;
                let point = (head.seq, head.chain_head);
                self.sign(name, &signed.server_key, &head.round, point, &head.audience)
            }
            Kind::ServerHead => self.add_server_head(name, parse(text, "server-wide head")?),
            Kind::ServerLogFile => {
                let file: ServerLogFile = parse(text, "server-wide head and log")?;
                file.check()?;
                self.add_server_log(&file.log, &[name.to_owned()]);
                self.set_key(&file.server_key)
            }
            Kind::ServerLog => {
                let entries = text.lines().map(|line| parse(line, "line of a server-wide log"));
                let entries: Vec<ServerLogEntry> = entries.collect::<Result<_, _>>()?;
                verify_server_log(&entries).map_err(|error| error.to_string())?;
                self.add_server_log(&entries, &[]);
                Ok(())
            }
            Kind::AuditLog => self.add_audit_log(name, text),
        }
    }

    fn add_audit_log(&mut self, name: &str, text: &str) -> Result<(), String> {
        let events = verify_chain(text.lines()).map_err(|error| error.to_string())?;
        let log = replay(events.iter().map(|(event, _)| event), None)
            .map_err(|error| error.to_string())?;
        let history = self.history(&log.round);
        history.accepted.extend(log.accepted.clone());
        history.end = log.state.is_final().then_some(log.seq);
        history.log_file = Some(name.to_owned());
        for (event, digest) in &events {
            let text = Some(format!("{}, {}", event.at, event.kind));
            let point = Point { digest: *digest, text, proof: Vec::new() };
            history.points.insert(event.seq, point);
        }
        self.set_key(&log.server_key)
    }

    fn add_receipt(&mut self, name: &str, saved: SavedReceipt) -> Result<(), String> {
        let signed = saved.into_signed();
        check_signature(signed.has_valid_signature())?;
        let receipt = &signed.receipt;
        let point = (receipt.seq, receipt.chain_head);
        self.sign(name, &signed.server_key, &receipt.round, point, &receipt.audience)?;
        let text = accepted_event(receipt).to_string();
        let history = self.history(&receipt.round);
        history.accepted.insert(receipt.client.clone(), receipt.seq);
        if let Some(point) = history.points.get_mut(&receipt.seq) {
            point.text.get_or_insert(text);
        }
        Ok(())
    }

    fn add_server_head(&mut self, name: &str, signed: SignedServerHead) -> Result<(), String> {
        check_signature(signed.has_valid_signature())?;
        self.set_key(&signed.server_key)?;
        let proof = vec![name.to_owned()];
        let head = signed.head;
        let points = &mut self.histories.entry(HistoryId::Server).or_default().points;
        points.insert(head.n, Point { digest: head.head, text: None, proof: proof.clone() });
        for round in head.rounds {
            let point = Point { digest: round.chain_head, text: None, proof: proof.clone() };
            self.history(&round.round).points.insert(round.seq, point);
        }
        Ok(())
    }

    fn add_server_log(&mut self, entries: &[ServerLogEntry], proof: &[String]) {
        for entry in entries {
            let point = |digest: Digest, text: Option<String>| Point {
                digest,
                text,
                proof: proof.to_vec(),
            };
            let (round, seq, event) = (&entry.round, entry.seq, entry.event);
            let text = format!("event {seq} of round `{round}`, with the digest {event}");
            let server = self.histories.entry(HistoryId::Server).or_default();
            server.points.insert(entry.n, point(entry.digest(), Some(text)));
            self.history(round).points.insert(seq, point(event, None));
        }
        // The empty log is the beginning of every log.
        self.histories
            .entry(HistoryId::Server)
            .or_default()
            .points
            .insert(0, Point { digest: Digest::ZERO, text: None, proof: proof.to_vec() });
    }

    /// Adds a signed position of a round's log. If the log is known, it must contain it, and is then signed up to there.
    fn sign(
        &mut self,
        name: &str,
        key: &PublicKey,
        round: &RoundId,
        (seq, digest): (u64, Digest),
        audience: &str,
    ) -> Result<(), String> {
        self.set_key(key)?;
        let history = self.history(round);
        if history.audience.as_ref().is_some_and(|known| known.name != audience) {
            return Err("names another audience than the files beside it".into());
        }
        history.audience = Some(Audience { name: audience.to_owned(), file: name.to_owned() });
        if history.points.is_empty() {
            let proof = vec![name.to_owned()];
            history.points.insert(seq, Point { digest, text: None, proof });
            return Ok(());
        }
        if history.points.get(&seq).is_none_or(|point| point.digest != digest) {
            return Err("does not belong to the audit log beside it".into());
        }
        let proof: Vec<String> =
            history.log_file.iter().cloned().chain([name.to_owned()]).collect();
        for (_, point) in history.points.range_mut(..=seq) {
            if point.proof.is_empty() {
                point.proof = proof.clone();
            }
        }
        Ok(())
    }

    fn history(&mut self, round: &RoundId) -> &mut History {
        self.histories.entry(HistoryId::Round(round.clone())).or_default()
    }

    fn set_key(&mut self, key: &PublicKey) -> Result<(), String> {
        match &self.server_key {
            Some(known) if !known.same_key(key) => {
                Err("is signed with another key than the files beside it".into())
            }
            _ => {
                self.server_key = Some(key.clone());
                Ok(())
            }
        }
    }
}

/// The kind of a document.
enum Kind {
    Receipt,
    Statement,
    LogHead,
    ServerHead,
    ServerLogFile,
    ServerLog,
    AuditLog,
}

impl Kind {
    fn of(text: &str) -> Option<Self> {
        // A log is one document per line.
        let first_line = || serde_json::from_str(text.lines().next().unwrap_or_default());
        let value: Value = serde_json::from_str(text).or_else(|_| first_line()).ok()?;
        let kinds = [
            ("/receipt", Self::Receipt),
            ("/statement", Self::Statement),
            ("/log", Self::ServerLogFile),
            ("/head/n", Self::ServerHead),
            ("/head/seq", Self::LogHead),
            ("/n", Self::ServerLog),
            ("/event", Self::AuditLog),
        ];
        kinds.into_iter().find(|(key, _)| value.pointer(key).is_some()).map(|(_, kind)| kind)
    }
}

fn parse<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("is not a valid {what} of this version: {error}"))
}

fn check_signature(is_valid: bool) -> Result<(), String> {
    match is_valid {
        true => Ok(()),
        false => Err("its signature is invalid, so the file was changed or is incomplete".into()),
    }
}

/// The event that a receipt is for.
fn accepted_event(receipt: &Receipt) -> EventKind {
    EventKind::Accepted {
        client: receipt.client.clone(),
        sha256: receipt.sha256,
        canonical_sha256: receipt.canonical_sha256,
        rows: receipt.rows,
        distinct_rows: receipt.distinct_rows,
        received_at: receipt.received_at,
    }
}
