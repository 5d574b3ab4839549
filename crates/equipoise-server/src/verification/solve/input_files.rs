//! The files of a folder by digest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::protocol::{ClientId, Digest};

/// Inputs that do not match what the round was solved from.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// A file or folder that cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// No file has the digest that the round recorded.
    #[error(
        "{}: no file is {what} of client `{client}`, which has SHA-256 {digest}.{} Ask the coordinator for the files of \
         `equipoise round export`.", folder.display(), named(.found)
    )]
    Missing {
        /// The folder.
        folder: PathBuf,
        /// What is missing.
        what: &'static str,
        /// The client.
        client: ClientId,
        /// The recorded digest.
        digest: Digest,
        /// A file with the client's name and another digest.
        found: Option<Box<(PathBuf, Digest)>>,
    },
    /// The specification has no root for a client.
    #[error("the specification has no root for client `{0}`")]
    NoRoot(ClientId),
}

fn named(found: &Option<Box<(PathBuf, Digest)>>) -> String {
    match found.as_deref() {
        Some((file, digest)) => format!(" {} has SHA-256 {digest}.", file.display()),
        None => String::new(),
    }
}

/// The files of a folder by digest.
pub(super) struct InputFiles<'a> {
    folder: &'a Path,
    by_digest: BTreeMap<Digest, PathBuf>,
}

impl<'a> InputFiles<'a> {
    /// Digests every file in a folder. Hidden files are skipped.
    pub(super) fn read(folder: &'a Path) -> Result<Self, InputError> {
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |source| InputError::Io { path, source }
        };
        let mut by_digest = BTreeMap::new();
        for entry in std::fs::read_dir(folder).map_err(failed(folder))? {
            let path = entry.map_err(failed(folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with('.') || !path.is_file() {
                continue;
            }
            let (_, digest) = Digest::of_file(&path).map_err(failed(&path))?;
            by_digest.insert(digest, path);
        }
        Ok(Self { folder, by_digest })
    }

    /// The file with this digest.
    pub(super) fn find(
        &self,
        what: &'static str,
        client: &ClientId,
        digest: Digest,
    ) -> Result<&Path, InputError> {
        self.get(digest).ok_or_else(|| {
            let is_of_client = |path: &Path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.strip_prefix(client.as_str()).is_some_and(|rest| rest.starts_with('.'))
            };
            let named = self.by_digest.iter().find(|(_, path)| is_of_client(path));
            InputError::Missing {
                folder: self.folder.to_path_buf(),
                what,
                client: client.clone(),
                digest,
                found: named.map(|(digest, path)| Box::new((path.clone(), *digest))),
            }
        })
    }

    /// The file with this digest, if the folder has it.
    pub(super) fn get(&self, digest: Digest) -> Option<&Path> {
        self.by_digest.get(&digest).map(PathBuf::as_path)
    }
}
