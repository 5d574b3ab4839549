//! The coordinator's way of taking files that came by mail or from a drop folder, and the end of a round.

use std::fs;
use std::io::{self, BufReader, Read};
use std::path::Path;

use jiff::Timestamp;

use crate::document::Document;
use crate::error::{Error, Result};
use crate::key::PrivateKey;
use crate::log::Refusal;
use crate::order::Order;
use crate::sealed::{Submission, read_header};
use crate::spool::Spool;
use crate::store::RoundFile;

/// Receives a sealed file from a stream and returns the receipt. The signature is checked before the rest is read.
pub fn receive(
    round: &mut RoundFile,
    source: impl Read,
    now: impl FnOnce() -> Timestamp,
    writer: &PrivateKey,
) -> Result<Document> {
    let mut source = BufReader::new(source);
    let header = read_header(&mut source).map_err(Error::io(round.path()))?;
    let header = header.map_err(|problem| Refusal::Malformed(problem.to_string()))?;
    let submission = Submission::of(header, &round.log().invitation)?;
    if round.log().seq_of(&submission.document).is_none() {
        round.log().admits(&submission)?;
    }
    let body = Spool::fill(round.folder(), &mut source, submission.length)?;
    round.accept(&submission, body, now(), writer)
}

/// Ends a round for good: deletes the sealing key first, so that no copy of a sealed file can be opened after that,
/// then the opened tables and the sealed files. Can be repeated if it was interrupted.
pub fn purge(
    round: &mut RoundFile,
    sealing_key: &Path,
    opened: &Path,
    coordinator: &PrivateKey,
    now: Timestamp,
) -> Result<()> {
    let order = Order::Purge {}.sign(&round.log().invitation, coordinator);
    if !round.log().is_purged {
        // Refuses before anything is deleted.
        round.log().next_line(order.clone(), now)?;
    }
    if_there(fs::remove_file(sealing_key)).map_err(Error::io(sealing_key))?;
    if_there(fs::remove_dir_all(opened)).map_err(Error::io(opened))?;
    if !round.log().is_purged {
        round.append(order, Vec::new(), now, coordinator)?;
    }
    Ok(())
}

fn if_there(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
