//! What the coordinator adds to a closed round at the mailbox: the events since, and the published files. One
//! request, all or nothing.
//!
//! A signed header with length and digest, then a line of JSON with the lines of the log and the lengths of the
//! files, then the files.

use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};

use equipoise_data::Digest;
use serde::{Deserialize, Serialize};

use crate::document::{Document, Kind, MAX_DOCUMENT, malformed};
use crate::error::{Error, Result};
use crate::key::PrivateKey;
use crate::log::{Log, Refusal};
use crate::order::FileDigest;
use crate::publish::MAX_PUBLISHED;
use crate::spool::{Spool, Spooled, each_piece};
use crate::store::RoundFile;

/// Room for the events beside the published files.
const MAX_LINES: u64 = 16 * MAX_DOCUMENT;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    /// Number of the first line.
    first: u64,
    lines: Vec<String>,
    files: Vec<FileDigest>,
}

/// The header and body for a mailbox whose log ends with the event that closed the round.
pub fn extension(round: &RoundFile, coordinator: &PrivateKey) -> Result<(Document, Spooled)> {
    let log = round.log();
    let first = (2..=log.seq()).find(|seq| *log.writer_of(*seq) == coordinator.public());
    let first = first.unwrap_or(log.seq() + 1);
    let published = log.statement.iter().flat_map(|(_, statement)| statement.files.values());
    let files: Vec<FileDigest> = published.copied().collect();
    let contents = Contents { first, lines: round.lines(first)?, files };
    let mut spool = Spool::new(round.folder())?;
    // Text and numbers.
    let line = serde_json::to_vec(&contents).expect("the contents are plain data");
    spool.write(&line)?;
    spool.write(b"\n")?;
    for file in &contents.files {
        let mut copy = round.copy_out(file.sha256)?.file;
        each_piece(&mut copy, |piece| spool.write(piece), Error::io(round.path()))?;
    }
    let body = spool.finish()?;
    let header = FileDigest { length: body.length, sha256: body.sha256 };
    Ok((Document::sign(Kind::Extension, log.invitation.digest, &header, coordinator), body))
}

/// Checks the header, before the body is read. Returns length and digest of the body.
pub fn check_header(header: &Document, log: &Log) -> Result<FileDigest, Refusal> {
    let invitation = &log.invitation;
    let header: FileDigest =
        header.read(Kind::Extension, invitation.digest, &invitation.terms.coordinator)?;
    let limit = MAX_PUBLISHED + MAX_LINES;
    match header.length <= limit {
        true => Ok(header),
        false => Err(Refusal::TooLarge(header.length, limit)),
    }
}

/// Appends the events and stores the files. Those that the round has already are skipped, so it can be sent again.
pub fn extend(round: &mut RoundFile, header: &Document, mut body: Spooled) -> Result<()> {
    let expected = check_header(header, round.log())?;
    if (expected.length, expected.sha256) != (body.length, body.sha256) {
        let (expected, found) = (expected.length, body.length);
        return Err(Refusal::OtherBody(expected, found).into());
    }
    body.file.seek(SeekFrom::Start(0)).map_err(Error::io(round.path()))?;
    let mut source = BufReader::new(body.file);
    let mut line = Vec::new();
    let read = source.by_ref().take(MAX_LINES).read_until(b'\n', &mut line);
    read.map_err(Error::io(round.path()))?;
    let contents: Contents =
        serde_json::from_slice(&line).map_err(|error| malformed("the extension", &error))?;
    let new = new_lines(round.log(), &contents)?.to_vec();
    let mut bodies = Vec::new();
    for FileDigest { length, sha256 } in contents.files {
        let body = Spool::fill(round.folder(), &mut source.by_ref().take(length), length)?;
        if (body.length, body.sha256) != (length, sha256) {
            return Err(Refusal::OtherBody(length, body.length).into());
        }
        bodies.push(body);
    }
    round.extend(&new, bodies)
}

/// The lines that the log does not have, after checking that it has the others and that all of them are the
/// coordinator's.
fn new_lines<'a>(log: &Log, contents: &'a Contents) -> Result<&'a [String], Refusal> {
    let fork = || Refusal::Fork(contents.first);
    let n_held = (log.seq() + 1).checked_sub(contents.first).ok_or_else(fork)?;
    let n_held = contents.lines.len().min(usize::try_from(n_held).unwrap_or(usize::MAX));
    let (held, new) = contents.lines.split_at(n_held);
    for (seq, line) in (contents.first..).zip(held) {
        if log.digest_of(seq) != Some(Digest::of(line.as_bytes())) {
            return Err(Refusal::Fork(seq));
        }
    }
    let mut extended = log.clone();
    for line in new {
        extended.apply(line)?;
    }
    let coordinator = log.invitation.terms.coordinator;
    let is_allowed = |seq: u64| *extended.writer_of(seq) == coordinator;
    match (log.seq() + 1..=extended.seq()).all(is_allowed) {
        true => Ok(new),
        false => Err(Refusal::NotWriter),
    }
}
