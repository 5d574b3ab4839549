//! Opening sealed files on the coordinator's machine, and the folder of opened tables.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use equipoise_data::Digest;
use jiff::Timestamp;

use crate::content::{Content, Problem};
use crate::error::{Error, Result};
use crate::key::PrivateKey;
use crate::log::{Filed, Log, Refusal, Stage};
use crate::order::Order;
use crate::sealed::{MAX_SEALED, SealingKey};
use crate::store::{RoundFile, folder_of};
use crate::text::Name;

/// Opens and checks one file. A problem with the file is not an error: it is for the client to fix, or for the log.
pub fn open_file(
    round: &RoundFile,
    filed: &Filed,
    key: &SealingKey,
) -> Result<Result<(Vec<u8>, Content), Problem>> {
    let invitation = &round.log().invitation;
    if key.public() != invitation.terms.sealing_key {
        // Otherwise every file would look broken.
        let problem = "its files were sealed to another key than the one given";
        return Err(Error::file(round.path(), problem));
    }
    let mut copy = round.copy_out(filed.submission.sha256)?;
    let mut ciphertext = Vec::new();
    copy.file.read_to_end(&mut ciphertext).map_err(Error::io(round.path()))?;
    Ok(filed.submission.open(&ciphertext, key, invitation))
}

/// Opens the files of all clients that count, after the round has closed. Tables go to `folder`, one file per client;
/// a client whose file cannot be opened or breaks the rules is excluded in the log, and never stops the round. Can be
/// repeated.
pub fn open_all(
    round: &mut RoundFile,
    key: &SealingKey,
    folder: &Path,
    coordinator: &PrivateKey,
    now: Timestamp,
) -> Result<Vec<(Name, Problem)>> {
    if round.log().stage != Stage::Closed {
        let (event, state) = ("opening the files", round.log().stage.name());
        return Err(Refusal::NotPossible(event, state).into());
    }
    create_private_folder(folder)?;
    let counting: Vec<(Name, Filed)> =
        round.log().counting().map(|(name, filed)| (name.clone(), filed.clone())).collect();
    let mut problems = Vec::new();
    for (client, filed) in counting {
        match open_file(round, &filed, key)? {
            Ok((bytes, _)) => write_table(&folder.join(table_name(&client)), &bytes)?,
            Err(problem) => {
                let exclusion = problem.exclusion.clone();
                let order = Order::Exclude { client: client.clone(), exclusion };
                let order = order.sign(&round.log().invitation, coordinator);
                round.append(order, Vec::new(), now, coordinator)?;
                problems.push((client, problem));
            }
        }
    }
    Ok(problems)
}

/// The opened tables of the clients that count. Each must be what its client sealed, and keep the rules.
pub fn read_opened(folder: &Path, log: &Log) -> Result<BTreeMap<Name, Content>> {
    let read = |(client, filed): (&Name, &Filed)| {
        let file = folder.join(table_name(client));
        let mut bytes = Vec::new();
        let opened = open_regular(&file)?;
        opened.take(MAX_SEALED).read_to_end(&mut bytes).map_err(Error::io(&file))?;
        if Digest::of(&bytes) != filed.submission.content_sha256 {
            return Err(Error::file(&file, format!("is not the table that `{client}` sealed")));
        }
        let content = Content::parse(&bytes).map_err(|problem| Error::file(&file, problem))?;
        content.check(&log.invitation).map_err(|problem| Error::file(&file, problem))?;
        Ok((client.clone(), content))
    };
    log.counting().map(read).collect()
}

/// Opens a file without following a link or waiting for the other end of a pipe.
pub(crate) fn open_regular(file: &Path) -> Result<fs::File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::open(file, flags, Mode::empty());
    let opened = fs::File::from(opened.map_err(|error| Error::io(file)(error.into()))?);
    match opened.metadata().map_err(Error::io(file))?.is_file() {
        true => Ok(opened),
        false => Err(Error::file(file, "is not a regular file. Remove it")),
    }
}

fn table_name(client: &Name) -> String {
    format!("{client}.table")
}

fn create_private_folder(folder: &Path) -> Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && folder.is_dir() => {
            Ok(())
        }
        other => other.map_err(Error::io(folder)),
    }
}

/// Replaces a file that only its owner can read.
fn write_table(file: &Path, bytes: &[u8]) -> Result<()> {
    let mut new = tempfile::NamedTempFile::new_in(folder_of(file)).map_err(Error::io(file))?;
    new.write_all(bytes).and_then(|()| new.as_file().sync_all()).map_err(Error::io(file))?;
    new.persist(file).map_err(|error| Error::io(file)(error.error))?;
    Ok(())
}
