//! A client's side: sealing to a file first, delivering it in any way, keeping the receipt.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use equipoise_data::{Digest, write_atomically};
use jiff::{SignedDuration, Timestamp};

use crate::content::Content;
use crate::document::Document;
use crate::error::{Error, Result};
use crate::invitation::Invitation;
use crate::key::PrivateKey;
use crate::log::Receipt;
use crate::mailbox::Remote;
use crate::opening::open_regular;
use crate::sealed::{Submission, check_roster, read_header, seal};
use crate::text::Name;

/// Fewer rows than this are unusual.
const FEW_ROWS: u64 = 12;

/// Seals a table to a file, unless the file already has it: the same table is delivered as the same file. Returns the
/// header.
pub fn seal_to_file(
    file: &Path,
    invitation: &Invitation,
    client: &Name,
    key: &PrivateKey,
    content: &Content,
    now: Timestamp,
) -> Result<Submission> {
    check_roster(invitation, client, key)?;
    content.check(invitation).map_err(|problem| Error::file(file, problem))?;
    let mut sealed_at = now;
    if file.symlink_metadata().is_ok() {
        let (held, _) = read_sealed(file, invitation)?;
        if held.client == *client && held.content_sha256 == Digest::of(&content.to_bytes()) {
            return Ok(held);
        }
        // Later than the last one, also if the clock went back.
        let later = held.sealed_at.checked_add(SignedDuration::from_nanos(1));
        sealed_at = now.max(later.unwrap_or(now));
    }
    let sealed = seal(invitation, client, key, content, sealed_at)?;
    write_atomically(file, true, |out| out.write_all(&sealed))?;
    Ok(read_sealed(file, invitation)?.0)
}

/// Reads a sealed file and checks all that can be checked without a key. The file is returned at its ciphertext.
pub fn read_sealed(file: &Path, invitation: &Invitation) -> Result<(Submission, File)> {
    let mut source = open_regular(file)?;
    let header = read_header(&mut std::io::BufReader::new(&mut source)).map_err(Error::io(file))?;
    let header = header.map_err(|problem| {
        Error::file(file, format!("exists, and is not a sealed file: {problem}"))
    })?;
    let start = header.to_string().len() as u64;
    let submission =
        Submission::of(header, invitation).map_err(|error| Error::file(file, error))?;
    source.seek(SeekFrom::Start(start)).map_err(Error::io(file))?;
    let body = (&mut source).take(submission.length + 1);
    let found = Digest::of_reader(body).map_err(Error::io(file))?;
    if found != (submission.length, submission.sha256) {
        return Err(Error::file(file, "is damaged or cut off. Remove it and seal again"));
    }
    source.seek(SeekFrom::Start(start)).map_err(Error::io(file))?;
    Ok((submission, source))
}

/// Delivers a sealed file to the mailbox, and keeps the receipt beside it.
pub fn deliver(
    file: &Path,
    invitation: &Invitation,
    mailbox: &Remote,
) -> Result<(Receipt, PathBuf)> {
    let (submission, mut body) = read_sealed(file, invitation)?;
    let receipt = mailbox.put(&submission.document, Some(&mut body))?;
    keep_receipt(file, &receipt, &submission, invitation)
}

/// Checks a receipt and writes it beside the sealed file, as `north.sealed.3.receipt` for event 3.
pub fn keep_receipt(
    file: &Path,
    receipt: &Document,
    submission: &Submission,
    invitation: &Invitation,
) -> Result<(Receipt, PathBuf)> {
    let checked = Receipt::of(receipt, submission, invitation)?;
    let path = file.with_added_extension(format!("{}.receipt", checked.seq));
    write_atomically(&path, true, |out| out.write_all(receipt.to_string().as_bytes()))?;
    Ok((checked, path))
}

/// What a person should confirm before the table is sent.
pub fn unusual(content: &Content) -> Vec<String> {
    let rows = content.preamble.rows;
    let bits = |row: &[f64]| row.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let width = (content.preamble.columns as usize).max(1);
    let distinct: BTreeSet<Vec<u64>> = content.values.chunks(width).take(1000).map(bits).collect();
    let mut notes = Vec::new();
    if rows < FEW_ROWS {
        notes.push(format!("the table has only {rows} rows"));
    }
    if distinct.len() == 1 && rows > 1 {
        notes.push("all rows that were looked at are the same".to_owned());
    }
    notes
}
