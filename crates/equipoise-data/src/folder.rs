//! Folders of clients: one table per client, named after the client.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use equipoise_core::{Rows, TableRole, Warning};

use crate::error::{Error, Purpose};
use crate::raw_rows::{EncodedTable, read_rows_of};
use crate::schema::Schema;
use crate::table::{Table, split_name};

/// A client's root.
#[derive(Debug, Clone, PartialEq)]
pub struct Client {
    /// The client: the file name without its extension.
    pub id: String,
    /// Its encoded rows.
    pub rows: Rows,
    /// Warnings about the rows, each with the client.
    pub warnings: Vec<Warning>,
}

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

/// Reads the roots (tables of raw rows) of some clients, one after another.
pub(crate) fn read_roots(
    roots: impl Iterator<Item = Result<(String, Table), Error>>,
    schema: &Schema,
) -> Result<Vec<Client>, Error> {
    let client = |root: Result<(String, Table), Error>| {
        let (id, table) = root?;
        let EncodedTable { rows, mut warnings } = read_rows_of(table, schema, Purpose::Root)?;
        for warning in &mut warnings {
            (warning.client, warning.table) = (Some(id.clone()), Some(TableRole::Root));
        }
        Ok(Client { id, rows, warnings })
    };
    roots.map(client).collect()
}

/// Checks that proxies and roots, each sorted by client as [`read_folder`] returns them, belong to the same clients.
pub fn match_clients<T>(proxies: &[(String, T)], roots: &[(String, T)]) -> Result<(), Error> {
    let (without_root, without_proxy) = (missing(roots, proxies), missing(proxies, roots));
    if without_root.is_empty() && without_proxy.is_empty() {
        return Ok(());
    }
    Err(Error::Unmatched { without_root, without_proxy })
}

/// The clients of `of` that `from` lacks.
pub(crate) fn missing<T>(from: &[(String, T)], of: &[(String, T)]) -> Vec<String> {
    let is_missing = |id: &&String| from.binary_search_by(|(other, _)| other.cmp(id)).is_err();
    of.iter().map(|(id, _)| id).filter(is_missing).cloned().collect()
}

#[cfg(test)]
mod tests;
