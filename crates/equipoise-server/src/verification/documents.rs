//! The published files, parsed. Nothing is checked beyond what parsing needs.

use std::collections::BTreeMap;
use std::path::Path;

use equipoise_core::Outcome;
use equipoise_core::Settings;
use equipoise_data::{Schema, outcome};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::check::Checks;
use super::strict_json;
use crate::protocol::{
    Digest, Event, EventKind, PROGRAM, PublicKey, RoundSpec, SignedLogHead, SignedStatement,
    SubmissionList, verify_chain,
};

/// Files by name.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// The published files of a round.
pub(super) struct Documents<'a> {
    pub(super) files: &'a Files,
    pub(super) statement: SignedStatement,
    pub(super) head: SignedLogHead,
    pub(super) events: Vec<(Event, Digest)>,
    pub(super) spec: RoundSpec,
    pub(super) schema: Schema,
    pub(super) settings: Settings,
    pub(super) list: SubmissionList,
    pub(super) outcome: Outcome,
}

/// Parses the statement.
pub(super) fn read_statement(files: &Files, checks: &mut Checks) -> Option<SignedStatement> {
    let read = json(files, "statement.json");
    read.map_err(|problem| checks.add("statement.json is readable", Some(problem))).ok()
}

impl<'a> Documents<'a> {
    /// Parses all files. Every file that is missing or unreadable gives a failed check.
    pub(super) fn read(
        files: &'a Files,
        statement: SignedStatement,
        checks: &mut Checks,
    ) -> Option<Self> {
        let outcome = text(files, "outcome.json").and_then(|text| {
            outcome::from_json(text, Path::new("outcome.json")).map_err(|e| e.to_string())
        });
        let schema = text(files, "schema.toml").and_then(|text| {
            Schema::from_toml(text, Path::new("schema.toml")).map_err(|e| e.to_string())
        });
        let events = text(files, "audit.jsonl").and_then(read_events);
        let spec = json(files, "spec.json");
        let program = statement.statement.program.clone();
        let mut reader = Reader { checks, program: &program };
        // All of them are read before the first missing one ends the verification.
        let head = reader.readable("audit-head.json", json(files, "audit-head.json"));
        let events = reader.readable("audit.jsonl", events);
        let spec = reader.readable("spec.json", spec);
        let schema = reader.readable("schema.toml", schema);
        let settings = reader.readable("settings.json", json(files, "settings.json"));
        let list = reader.readable("submissions.json", json(files, "submissions.json"));
        let outcome = reader.readable("outcome.json", outcome);
        Some(Self {
            files,
            statement,
            head: head?,
            events: events?,
            spec: spec?,
            schema: schema?,
            settings: settings?,
            list: list?,
            outcome: outcome?,
        })
    }

    /// The content of a file; empty if it is missing.
    pub(super) fn file(&self, name: &str) -> &[u8] {
        self.files.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether this version of the program published the files, so that it must be able to write the same bytes.
    pub(super) fn is_from_this_version(&self) -> bool {
        self.statement.statement.program == PROGRAM
    }

    /// Adds a check that a file has exactly these bytes. A difference is a forgery only if this version of the program
    /// wrote the file.
    pub(super) fn compare(&self, claim: String, name: &str, expected: &[u8], checks: &mut Checks) {
        let difference = difference(self.file(name), expected);
        match difference {
            Some(_) if !self.is_from_this_version() => {
                checks.add_undecided(claim, self.use_version());
            }
            difference => checks.add(claim, difference),
        }
    }

    /// Says which version of the program can decide what this one cannot.
    pub(super) fn use_version(&self) -> String {
        use_version(&self.statement.statement.program)
    }

    /// The first event, if it creates the round.
    pub(super) fn created(&self) -> Option<Created<'_>> {
        match &self.events.first()?.0.kind {
            EventKind::Created { spec_sha256, schema_sha256, server_key, roster, .. } => {
                Some(Created {
                    spec_sha256: *spec_sha256,
                    schema_sha256: *schema_sha256,
                    server_key,
                    roster,
                })
            }
            _ => None,
        }
    }

    /// The event with this sequence number.
    pub(super) fn event(&self, seq: u64) -> Option<&(Event, Digest)> {
        self.events.get(usize::try_from(seq).ok()?.checked_sub(1)?)
    }

    /// All events of the log.
    pub(super) fn kinds(&self) -> impl DoubleEndedIterator<Item = &EventKind> {
        self.events.iter().map(|(event, _)| &event.kind)
    }
}

/// What the first event fixes.
pub(super) struct Created<'a> {
    pub(super) spec_sha256: Digest,
    pub(super) schema_sha256: Digest,
    pub(super) server_key: &'a PublicKey,
    pub(super) roster: &'a [PublicKey],
}

/// A value as the server writes it to a file: indented, with a final line break.
pub(super) fn pretty(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Reports files that cannot be read. Another version of the program may have good reasons to write them so.
struct Reader<'a> {
    checks: &'a mut Checks,
    program: &'a str,
}

impl Reader<'_> {
    fn readable<T>(&mut self, name: &str, read: Result<T, String>) -> Option<T> {
        let claim = format!("{name} is readable");
        match (read, self.program) {
            (Ok(document), _) => return Some(document),
            (Err(problem), PROGRAM) => self.checks.add(claim, Some(problem)),
            (Err(problem), program) => {
                let why = format!("{problem}. {}", use_version(program));
                self.checks.add_undecided(claim, why);
            }
        }
        None
    }
}

fn use_version(program: &str) -> String {
    format!("The round was published by {program}, and this is {PROGRAM}. Verify it with {program}")
}

fn text<'a>(files: &'a Files, name: &str) -> Result<&'a str, String> {
    let content = files.get(name).ok_or("the file is missing")?;
    std::str::from_utf8(content).map_err(|_| "the file is not UTF-8 text".to_owned())
}

fn json<T: DeserializeOwned>(files: &Files, name: &str) -> Result<T, String> {
    let text = text(files, name)?;
    strict_json::check(text.as_bytes()).map_err(|error| error.to_string())?;
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// The events of the log. Every line must be exactly what the server writes for its event.
fn read_events(text: &str) -> Result<Vec<(Event, Digest)>, String> {
    let lines = text.strip_suffix('\n').ok_or("the last line is not complete")?;
    let events = verify_chain(lines.split('\n')).map_err(|error| error.to_string())?;
    let mut pairs = events.iter().zip(lines.split('\n'));
    match pairs.find(|((event, _), line)| event.to_line() != **line) {
        Some(((event, _), _)) => Err(format!(
            "line {} of the audit log is not in the form in which the server writes events",
            event.seq
        )),
        None => Ok(events),
    }
}

/// Where a file differs from what it should be. `None` if it does not.
fn difference(found: &[u8], expected: &[u8]) -> Option<String> {
    if found == expected {
        return None;
    }
    let [found, expected] = [found, expected].map(String::from_utf8_lossy);
    let (mut theirs, mut ours) = (found.split_inclusive('\n'), expected.split_inclusive('\n'));
    let mut number = 0;
    loop {
        number += 1;
        match (theirs.next(), ours.next()) {
            (Some(found), Some(expected)) if found == expected => {}
            (Some(found), Some(expected)) if found.trim() == expected.trim() => {
                return Some(format!("line {number} has other white space"));
            }
            (Some(found), Some(expected)) => {
                let (found, expected) = around_difference(found, expected);
                return Some(format!("line {number} has `{found}` instead of `{expected}`"));
            }
            (Some(_), None) => return Some(format!("it does not end after line {}", number - 1)),
            (None, Some(_)) => return Some(format!("it ends before line {number}")),
            // The bytes differ only where they are not UTF-8 text.
            (None, None) => return Some("it is not UTF-8 text".to_owned()),
        }
    }
}

/// The parts of two lines from just before their first difference.
fn around_difference(found: &str, expected: &str) -> (String, String) {
    const BEFORE: usize = 24;
    const LENGTH: usize = 72;
    let same = found.chars().zip(expected.chars()).take_while(|(a, b)| a == b).count();
    let part = |line: &str| {
        let part = line.trim_end().chars().skip(same.saturating_sub(BEFORE)).take(LENGTH);
        part.collect::<String>().trim_start().to_owned()
    };
    (part(found), part(expected))
}
