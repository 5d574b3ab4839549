//! Folders of clients: one table per client, named after the client.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::table::split_name;

/// The clients of a folder and their files, sorted by id. Hidden files and README files are skipped. Anything
/// else that is not a table is an error, because it may be a client that would be missed.
pub fn read_folder(dir: &Path) -> Result<Vec<(String, PathBuf)>, Error> {
    let failed = |source| Error::Read { file: dir.to_path_buf(), source };
    let mut paths = std::fs::read_dir(dir)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.path()).map_err(failed))
        .collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    let mut clients: BTreeMap<String, PathBuf> = BTreeMap::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') || name.starts_with("README") {
            continue;
        }
        let (id, _) = split_name(&path)
            .filter(|_| path.is_file())
            .ok_or_else(|| Error::Invalid(format!(
                "{}: does not belong in a folder of clients, which has one .csv, .csv.gz or .parquet file per client. Move it elsewhere.",
                path.display()
            )))?;
        if let Some(first) = clients.get(&id) {
            return Err(Error::Invalid(format!(
                "client `{id}` has two files, {} and {}. Keep one of them.",
                first.display(),
                path.display()
            )));
        }
        clients.insert(id, path);
    }
    if clients.is_empty() {
        return Err(Error::Invalid(format!(
            "{}: contains no clients. Put one .csv, .csv.gz or .parquet file per client there, named after the client.",
            dir.display()
        )));
    }
    Ok(clients.into_iter().collect())
}

/// The client whose table this is: the file's name without its extension. `None` if the name is not that of a table.
pub fn client_of(path: &Path) -> Option<String> {
    split_name(path).map(|(client, _)| client)
}

#[cfg(test)]
mod tests;
