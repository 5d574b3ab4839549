//! A coordinator, five clients, perhaps a mailbox, and their folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use equipoise_data::Digest;
use equipoise_round::mailbox::{PulledLog, pull};
use equipoise_round::sealed::seal_bytes;
use equipoise_round::{
    Content, Document, Error, Invitation, Log, Mailbox, Name, Order, PrivateKey, Refusal, Result,
    RoundFile, SealingKey, Terms, open_all, publish, receive, seal,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) const SCHEMA: &str = r#"
version = 1
intercept = true
[label]
column = "hired"
positive = "1"
[sensitive]
column = "sex"
privileged = "m"
[[feature]]
column = "score"
kind = "numeric"
center = 50
scale = 10
[[feature]]
column = "tier"
kind = "categorical"
levels = ["a", "b"]
"#;

pub(crate) const CLIENTS: [&str; 5] = ["center", "east", "north", "south", "west"];
pub(crate) const START: i64 = 1_800_000_000;
pub(crate) const HOUR: i64 = 3600;

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) coordinator: PrivateKey,
    pub(crate) mailbox: PrivateKey,
    pub(crate) sealing: SealingKey,
    pub(crate) invitation: Invitation,
    pub(crate) has_mailbox: bool,
}

pub(crate) fn time(seconds: i64) -> Timestamp {
    Timestamp::from_second(START + seconds).unwrap()
}

pub(crate) fn name(text: &str) -> Name {
    text.parse().unwrap()
}

pub(crate) fn key(client: &str) -> PrivateKey {
    let at = CLIENTS.iter().position(|name| *name == client).unwrap_or(99);
    PrivateKey::from_seed([at as u8 + 10; 32])
}

impl World {
    pub(crate) fn new(has_mailbox: bool) -> Self {
        let (coordinator, mailbox) =
            (PrivateKey::from_seed([1; 32]), PrivateKey::from_seed([2; 32]));
        let sealing = SealingKey::random();
        let address = "https://localhost:1".to_owned();
        let terms = Terms {
            format: 1,
            name: name("spring"),
            issued_at: time(0),
            coordinator: coordinator.public(),
            schema: SCHEMA.to_owned(),
            criterion: "sp".to_owned(),
            requirements: Value::Null,
            settings: Value::Null,
            minimum: 2,
            roster: CLIENTS.map(|client| (name(client), key(client).public())).into(),
            deadline: time(24 * HOUR),
            max_bytes: 1 << 20,
            sealing_key: sealing.public(),
            mailbox: has_mailbox.then(|| Mailbox { address, key: mailbox.public() }),
            trusted_sha256: Digest::of(b"trusted"),
        };
        let invitation = Invitation::sign(terms, &coordinator).unwrap();
        let folder = tempfile::tempdir().unwrap();
        Self { folder, coordinator, mailbox, sealing, invitation, has_mailbox }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn create(&self, file: &str) -> RoundFile {
        RoundFile::create(&self.path(file), &self.invitation).unwrap()
    }

    /// Who writes the log while the round is open.
    pub(crate) fn writer(&self) -> &PrivateKey {
        if self.has_mailbox { &self.mailbox } else { &self.coordinator }
    }

    pub(crate) fn content(&self, client: &str, rows: usize) -> Content {
        let values = (0..rows).flat_map(|row| {
            let (sign, odd) = (if row % 3 == 0 { 1.0 } else { -1.0 }, (row % 2) as f64);
            [sign * row as f64 / 7.0, odd, 1.0 - odd, odd, sign]
        });
        let (origin, privacy) = (Value::from("test"), Value::Null);
        Content::new(&self.invitation, &key(client), origin, privacy, values.collect())
    }

    /// A sealed file. `rows` tells files of one client apart.
    pub(crate) fn sealed(&self, client: &str, rows: usize, sealed_at: i64) -> Vec<u8> {
        let content = self.content(client, rows);
        seal(&self.invitation, &name(client), &key(client), &content, time(sealed_at)).unwrap()
    }

    /// A sealed file with any content.
    pub(crate) fn sealed_bytes(&self, client: &str, content: &[u8], sealed_at: i64) -> Vec<u8> {
        let at = time(sealed_at);
        seal_bytes(&self.invitation, &name(client), &key(client), content, at).unwrap()
    }

    pub(crate) fn deliver(&self, round: &mut RoundFile, file: &[u8], at: i64) -> Result<Document> {
        receive(round, file, || time(at), self.writer())
    }

    pub(crate) fn order(&self, order: &Order) -> Document {
        order.sign(&self.invitation, &self.coordinator)
    }

    pub(crate) fn close(&self, round: &mut RoundFile, at: i64) -> Result<Document> {
        let order = Order::Close { accept_late: BTreeMap::new(), from_copy: false };
        round.append(self.order(&order), Vec::new(), time(at), self.writer())
    }

    pub(crate) fn revoke(&self, round: &mut RoundFile, client: &str, at: i64) -> Result<Document> {
        let order = Order::Revoke { client: name(client), reason: "key was stolen".into() };
        let writer =
            if round.log().closed_seq.is_some() { &self.coordinator } else { self.writer() };
        round.append(self.order(&order), Vec::new(), time(at), writer)
    }

    /// Brings the coordinator's copy up to date.
    pub(crate) fn pull(&self, copy: &mut RoundFile, mailbox: &RoundFile) -> Result<Document> {
        let answer = PulledLog::of(mailbox, &self.mailbox)?;
        pull_from(copy, &answer, mailbox)
    }

    /// A round in which everyone delivers on time, closed.
    pub(crate) fn closed(&self, file: &str) -> (RoundFile, Document) {
        let mut round = self.create(file);
        for (at, client) in (1..).zip(CLIENTS) {
            self.deliver(&mut round, &self.sealed(client, 20, at), at).unwrap();
        }
        let receipt = self.close(&mut round, 100).unwrap();
        (round, receipt)
    }

    /// Opens, writes a result and publishes.
    pub(crate) fn publish(&self, round: &mut RoundFile, closed: Document, at: i64) -> PathBuf {
        let folder = self.path("spring");
        let opened = self.path("spring.opened");
        open_all(round, &self.sealing, &opened, &self.coordinator, time(at)).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("outcome.json"), b"{\"weights\":[]}").unwrap();
        fs::write(folder.join("model.json"), b"{}").unwrap();
        publish(round, &folder, closed, &self.coordinator, time(at)).unwrap();
        folder
    }
}

pub(crate) fn pull_from(
    copy: &mut RoundFile,
    answer: &PulledLog,
    mailbox: &RoundFile,
) -> Result<Document> {
    let text = serde_json::to_vec(answer).unwrap();
    pull(copy, |blob| {
        Ok(match blob {
            None => Box::new(Cursor::new(text.clone())) as Box<dyn Read>,
            Some(sha256) => Box::new(mailbox.copy_out(sha256)?.file),
        })
    })
}

/// The refusal of a result that must be one.
pub(crate) fn refusal<T: std::fmt::Debug>(result: Result<T>) -> Refusal {
    match result {
        Err(Error::Refused(refusal)) => refusal,
        other => panic!("expected a refusal, found {other:?}"),
    }
}

pub(crate) fn replay(folder: &Path) -> Log {
    let text = fs::read_to_string(folder.join("log.jsonl")).unwrap();
    Log::replay(&text.lines().collect::<Vec<_>>()).unwrap()
}

/// A later time in the same world.
pub(crate) fn later(at: Timestamp, seconds: i64) -> Timestamp {
    at.checked_add(SignedDuration::from_secs(seconds)).unwrap()
}
