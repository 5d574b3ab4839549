//! `backup.json`: which files a back-up holds, by their digests.

use std::fs;
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};

use super::{LISTING, StoreError};
use crate::protocol::{Digest, Name};
use crate::round::RoundSpec;
use crate::store::folder::digest_of_file;

/// What a back-up holds. Version 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackUp {
    /// Version of this list.
    pub version: u32,
    /// When it was made.
    pub at: Timestamp,
    /// The rounds.
    pub rounds: Vec<Name>,
    /// All files but this list, sorted by path.
    pub files: Vec<BackUpFile>,
}

/// A file of a back-up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackUpFile {
    /// Where it is, below the back-up.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Its digest.
    pub sha256: Digest,
}

impl BackUp {
    /// The list as a file.
    pub(super) fn to_json(&self) -> String {
        // Expect safety: strings and numbers.
        serde_json::to_string_pretty(self).expect("a list is plain data") + "\n"
    }

    /// Bytes of all files.
    pub fn total_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// All files that a database speaks of, below the data directory.
pub(super) fn referenced_files(database: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut files = Vec::new();
    let mut query = connection.prepare("SELECT id, spec FROM round")?;
    let rounds = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for row in rounds {
        let (round, spec): (String, String) = row?;
        let spec: RoundSpec = serde_json::from_str(&spec)?;
        let folder = Path::new("rounds").join(round).join("root");
        files.extend(spec.roots.values().map(|root| folder.join(&root.file)));
    }
    let mut query = connection.prepare("SELECT DISTINCT sha256 FROM submission")?;
    for digest in query.query_map([], |row| row.get::<_, String>(0))? {
        files.push(Path::new("sha256").join(digest?));
    }
    let mut query = connection.prepare("SELECT DISTINCT canonical_sha256 FROM submission")?;
    for digest in query.query_map([], |row| row.get::<_, String>(0))? {
        files.push(Path::new("canonical").join(format!("{}.parquet", digest?)));
    }
    let mut query = connection.prepare("SELECT round, name FROM artefact")?;
    let published = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for row in published {
        let (round, name): (String, String) = row?;
        files.push(Path::new("published").join(round).join(name));
    }
    Ok(files)
}

/// All files below a folder, but the list itself.
pub(super) fn list(folder: &Path) -> Result<Vec<BackUpFile>, StoreError> {
    let mut files = Vec::new();
    collect(folder, Path::new(""), &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn collect(base: &Path, below: &Path, files: &mut Vec<BackUpFile>) -> Result<(), StoreError> {
    let folder = base.join(below);
    for entry in fs::read_dir(&folder).map_err(StoreError::file(&folder))? {
        let entry = entry.map_err(StoreError::file(&folder))?;
        let (path, relative) = (entry.path(), below.join(entry.file_name()));
        if path.is_dir() {
            collect(base, &relative, files)?;
        } else if relative != Path::new(LISTING) {
            let bytes = path.metadata().map_err(StoreError::file(&path))?.len();
            let path_text = relative.to_string_lossy().into_owned();
            files.push(BackUpFile { path: path_text, bytes, sha256: digest_of_file(&path)? });
        }
    }
    Ok(())
}

/// A path that stays below the back-up.
pub(super) fn relative(path: &str) -> Option<&Path> {
    let path = Path::new(path);
    let stays = path.components().all(|part| matches!(part, Component::Normal(_)));
    (stays && path.file_name().is_some()).then_some(path)
}
