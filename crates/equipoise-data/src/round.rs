//! From two folders, one of proxies and one of roots, to a round that can be solved.

use std::path::Path;

use equipoise_core::Round;

use crate::error::Error;
use crate::folder::{match_clients, read_proxies, read_roots};
use crate::outcome::{OutcomeWarning, WarnedTable};
use crate::schema::Schema;
use crate::warning::Warning;

/// A round and what was noticed while it was read.
pub struct LoadedRound {
    /// The round.
    pub round: Round,
    /// What deserves a look among the proxies; each names its client.
    pub proxy_warnings: Vec<Warning>,
    /// What deserves a look among the roots; each names its client.
    pub root_warnings: Vec<Warning>,
}

impl LoadedRound {
    /// The warnings as an outcome keeps them: without paths, which mean nothing elsewhere.
    pub fn outcome_warnings(&self) -> Vec<OutcomeWarning> {
        let of = |table: WarnedTable| move |warning| OutcomeWarning::of_table(warning, table);
        let proxies = self.proxy_warnings.iter().map(of(WarnedTable::Proxy));
        let roots = self.root_warnings.iter().map(of(WarnedTable::Root));
        proxies.chain(roots).collect()
    }
}

/// Reads a folder of proxies (encoded rows) and a folder of roots (raw rows), one file per client in each.
pub fn load_round(
    proxies_dir: &Path,
    root_dir: &Path,
    schema: &Schema,
) -> Result<LoadedRound, Error> {
    let proxies = read_proxies(proxies_dir, schema)?;
    let roots = read_roots(root_dir, schema)?;
    match_clients(&proxies, &roots)?;

    let (mut proxy_warnings, mut root_warnings) = (Vec::new(), Vec::new());
    let clients = proxies.into_iter().zip(roots).map(|(proxy, root)| {
        proxy_warnings.extend(proxy.warnings);
        root_warnings.extend(root.warnings);
        equipoise_core::Client { id: proxy.id, proxy: proxy.rows, root: root.rows }
    });
    let round = Round::new(clients.collect()).map_err(|error| match error {
        equipoise_core::Error::RootGroup { .. } => Error::Root {
            folder: root_dir.to_path_buf(),
            column: schema.sensitive.column.clone(),
            source: error,
        },
        other => Error::Rows(other),
    })?;
    Ok(LoadedRound { round, proxy_warnings, root_warnings })
}
