//! `backup.json`: the files of a backup with their digests.

use std::fs;
use std::path::{Component, Path};

use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};

use super::{LISTING, StoreError};
use crate::protocol::{Digest, RoundId};
use crate::store::folder::digest_of_file;

/// The content of a backup. Version 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backup {
    /// Format version.
    pub version: u32,
    /// When it was made.
    pub at: Timestamp,
    /// The rounds.
    pub rounds: Vec<RoundId>,
    /// All files except this list, sorted by path.
    pub files: Vec<BackupFile>,
}

/// A file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackupFile {
    /// Path relative to the backup.
    pub path: String,
    /// Size.
    pub bytes: u64,
    /// Digest.
    pub sha256: Digest,
}

impl Backup {
    pub(super) fn to_json(&self) -> String {
        // Expect safety: only strings and numbers.
        serde_json::to_string_pretty(self).expect("a list is plain data") + "\n"
    }

    /// Total size of all files.
    pub fn total_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// All files that a database refers to, relative to the data directory.
pub(super) fn referenced_files(database: &Path) -> Result<Vec<String>, StoreError> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut query = connection.prepare(
        "SELECT 'rounds/' || round.id || '/root/' || json_extract(root.value, '$.file')
             FROM round, json_each(round.spec, '$.roots') AS root
         UNION SELECT 'sha256/' || sha256 FROM submission
         UNION SELECT 'canonical/' || canonical_sha256 || '.parquet' FROM submission
         UNION SELECT 'published/' || round || '/' || name FROM artefact",
    )?;
    let paths = query.query_map([], |row| row.get(0))?;
    Ok(paths.collect::<Result<_, _>>()?)
}

/// All files in a folder, except the list itself.
pub(super) fn list(folder: &Path) -> Result<Vec<BackupFile>, StoreError> {
    let mut files = Vec::new();
    collect(folder, Path::new(""), &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn collect(base: &Path, below: &Path, files: &mut Vec<BackupFile>) -> Result<(), StoreError> {
    let folder = base.join(below);
    for entry in fs::read_dir(&folder).map_err(StoreError::file(&folder))? {
        let entry = entry.map_err(StoreError::file(&folder))?;
        let (path, relative) = (entry.path(), below.join(entry.file_name()));
        if path.is_dir() {
            collect(base, &relative, files)?;
        } else if relative != Path::new(LISTING) {
            let bytes = path.metadata().map_err(StoreError::file(&path))?.len();
            let path_text = relative.to_string_lossy().into_owned();
            files.push(BackupFile { path: path_text, bytes, sha256: digest_of_file(&path)? });
        }
    }
    Ok(())
}

/// The path, if it stays inside the backup.
pub(super) fn relative(path: &str) -> Option<&Path> {
    let path = Path::new(path);
    let stays = path.components().all(|part| matches!(part, Component::Normal(_)));
    (stays && path.file_name().is_some()).then_some(path)
}
