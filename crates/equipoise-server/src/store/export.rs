//! Copies the inputs of a round's solve for an auditor, while the server runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use equipoise_data::Staged;
use rusqlite::{Connection, OpenFlags};

use super::StoreError;
use super::folder::digest_of_file;
use super::private::{create_private_folder, write_private};
use super::query::{spec_of, state_of, submissions};
use crate::protocol::{ClientId, Digest, Refusal, RoundId, RoundState};

/// A copied input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedFile {
    /// The client.
    pub client: ClientId,
    /// Path below the target folder.
    pub path: PathBuf,
    /// Its digest.
    pub sha256: Digest,
}

/// Copies the canonical tables and roots of the clients that submitted to `target/proxies` and `target/roots`. The
/// round must be closed, because its submissions could still change otherwise. Only the user can read the copies.
pub fn export_inputs(
    data: &Path,
    round: &RoundId,
    target: &Path,
) -> Result<Vec<ExportedFile>, StoreError> {
    let database = data.join("equipoise.db");
    if !database.is_file() {
        let problem = "is not a data directory: it has no equipoise.db".to_owned();
        return Err(StoreError::Export(data.to_path_buf(), problem));
    }
    // A database in WAL mode is read through a file that every reader may have to create.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(database, flags)?;
    connection.busy_timeout(Duration::from_secs(30))?;
    let state = state_of(&connection, round)?;
    if !matches!(state, RoundState::Closed | RoundState::Solving | RoundState::Published) {
        return Err(StoreError::Export(
            data.to_path_buf(),
            format!("round `{round}` is {state}. Its tables can be exported once it is closed."),
        ));
    }
    let spec = spec_of(&connection, round)?;
    let mut inputs = Vec::new();
    for submission in submissions(&connection, round)? {
        let client = submission.client;
        let root = spec.roots.get(&client).ok_or(Refusal::NotFound("root"))?;
        let table = PathBuf::from("proxies").join(format!("{client}.parquet"));
        let canonical = submission.canonical_sha256;
        let source = data.join("canonical").join(format!("{canonical}.parquet"));
        inputs.push(Input { client: client.clone(), source, path: table, sha256: canonical });
        let source = data.join("rounds").join(round.as_str()).join("root").join(&root.file);
        let path = PathBuf::from("roots").join(&root.file);
        inputs.push(Input { client, source, path, sha256: root.sha256 });
    }
    drop(connection);

    if target.symlink_metadata().is_ok() {
        return Err(StoreError::Export(target.to_path_buf(), "already exists".to_owned()));
    }
    let _until_done = Staged::create(|| {
        create_private_folder(target)?;
        Ok::<_, StoreError>(target.to_path_buf())
    })?;
    let copied = copy_all(inputs, target);
    if copied.is_err() {
        // Half an export would only mislead.
        let _ = fs::remove_dir_all(target);
    }
    copied
}

/// A file to copy to `path` below the target.
struct Input {
    client: ClientId,
    source: PathBuf,
    path: PathBuf,
    sha256: Digest,
}

fn copy_all(inputs: Vec<Input>, target: &Path) -> Result<Vec<ExportedFile>, StoreError> {
    for name in ["proxies", "roots"] {
        create_private_folder(&target.join(name))?;
    }
    let mut exported = Vec::new();
    for Input { client, source, path, sha256 } in inputs {
        let copy = target.join(&path);
        copy_private(&source, &copy)?;
        let found = digest_of_file(&copy)?;
        if found != sha256 {
            return Err(StoreError::Damaged {
                what: format!("a table of client `{client}` ({})", source.display()),
                problem: format!("its SHA-256 is {found}, not {sha256}"),
            });
        }
        exported.push(ExportedFile { client, path, sha256 });
    }
    Ok(exported)
}

fn copy_private(from: &Path, to: &Path) -> Result<(), StoreError> {
    write_private(to, &[])?;
    let mut source = fs::File::open(from).map_err(StoreError::file(from))?;
    let mut copy = fs::OpenOptions::new().write(true).open(to).map_err(StoreError::file(to))?;
    std::io::copy(&mut source, &mut copy)
        .and_then(|_| copy.sync_all())
        .map_err(StoreError::file(to))
}
