//! Reads a folder of proxies and the trusted rows into a round.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use equipoise_core::{
    ClientPacker, ClientStatistics, DistinctRows, PackedClient, PackedRows, PrivacyStatement,
    Round, TableRole, Warning,
};

use crate::error::Error;
use crate::folder::read_folder;
use crate::overlap::{Overlaps, find_overlaps};
use crate::partition::ClientSummary;
use crate::proxy::{Declaration, ProxyOrigin, visit_proxy_rows};
use crate::read_limits::ReadLimits;
use crate::row_sketch::{RowSketch, RowSketcher};
use crate::schema::Schema;
use crate::table::{Table, open_encoded_table};
use crate::trusted::{Trusted, TrustedRows};
use crate::warning;

/// A round, and what was noticed while reading it.
pub struct LoadedRound {
    /// The round.
    pub round: Round,
    /// Warnings about the proxies, each with its client, then about the trusted rows.
    pub warnings: Vec<Warning>,
    /// Clients whose proxies have rows in common.
    pub overlaps: Overlaps,
    /// The number of distinct rows of each proxy.
    pub distinct_rows: Vec<DistinctRows>,
    /// How each proxy says that it is differentially private.
    pub privacy: Vec<Option<PrivacyStatement>>,
    /// Clients that have trusted rows and no proxy. Their rows are left out.
    pub absent: Vec<String>,
}

/// What to do about trusted rows of clients without a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// Refuse them: a name may be misspelt.
    Refuse,
    /// Leave them out, as in a network round to which these clients did not submit.
    LeaveOut,
}

/// Reads a folder of proxies (encoded rows) with a file per client, and trusted rows (raw): a table, or a folder with a
/// file per client.
pub fn load_round(
    proxies_dir: &Path,
    trusted: &Path,
    schema: &Schema,
) -> Result<LoadedRound, Error> {
    load_round_with(proxies_dir, Trusted::Path(trusted.to_path_buf()), schema, Absent::Refuse)
}

/// Like [`load_round`], for trusted rows anywhere.
pub fn load_round_with(
    proxies_dir: &Path,
    trusted: Trusted,
    schema: &Schema,
    absent: Absent,
) -> Result<LoadedRound, Error> {
    let files = read_folder(proxies_dir)?;
    load_files(files, (trusted, absent), schema, rayon::current_num_threads())
}

/// Files are opened when it is their turn: there may be more of them than a process may have open.
fn load_files(
    files: Vec<(String, PathBuf)>,
    (trusted, absent): (Trusted, Absent),
    schema: &Schema,
    n_readers: usize,
) -> Result<LoadedRound, Error> {
    let trusted = ReadTrusted::new(trusted, &files, schema, absent)?;
    let paths: Vec<PathBuf> = files.iter().map(|(_, path)| path.clone()).collect();
    let proxies = paths.iter().map(|path| open_encoded_table(path, ReadLimits::NONE));
    load(files, proxies, trusted, schema, n_readers)
}

/// Like [`load_round_with`], for open tables of clients in any order.
pub fn load_tables(
    mut proxies: Vec<(String, Table)>,
    trusted: Trusted,
    schema: &Schema,
    absent: Absent,
) -> Result<LoadedRound, Error> {
    proxies.sort_by(|(a, _), (b, _)| a.cmp(b));
    if let Some([(id, _), _]) = proxies.array_windows().find(|[(a, _), (b, _)]| a == b) {
        return Err(Error::Invalid(format!("client `{id}` has two tables. Keep one.")));
    }
    let name = |(id, table): &(String, Table)| (id.clone(), table.file().to_path_buf());
    let files: Vec<(String, PathBuf)> = proxies.iter().map(name).collect();
    let trusted = ReadTrusted::new(trusted, &files, schema, absent)?;
    let proxies = proxies.into_iter().map(|(_, table)| Ok(table));
    load(files, proxies, trusted, schema, rayon::current_num_threads())
}

/// Trusted rows of the clients of a round, and the clients that are absent from it.
struct ReadTrusted {
    rows: TrustedRows,
    absent: Vec<String>,
}

impl ReadTrusted {
    /// `files` has the clients of the round, sorted.
    fn new(
        trusted: Trusted,
        files: &[(String, PathBuf)],
        schema: &Schema,
        absent: Absent,
    ) -> Result<Self, Error> {
        let clients: Vec<String> = files.iter().map(|(id, _)| id.clone()).collect();
        let mut rows = trusted.read(schema)?;
        if absent == Absent::Refuse {
            rows.refuse_absent(&clients)?;
        }
        let absent = rows.leave_out_absent(&clients);
        Ok(Self { rows, absent })
    }
}

/// `files` has the clients and the names of their proxies, sorted by client; the tables are in the same order.
fn load(
    files: Vec<(String, PathBuf)>,
    proxies: impl Iterator<Item = Result<Table, Error>> + Send,
    trusted: ReadTrusted,
    schema: &Schema,
    n_readers: usize,
) -> Result<LoadedRound, Error> {
    let (mut clients, mut sketches, mut declarations) = (Vec::new(), Vec::new(), Vec::new());
    for (client, sketch, declaration) in pack_proxies(proxies, files.len(), schema, n_readers)? {
        clients.push(client);
        sketches.push(sketch);
        declarations.push(declaration);
    }
    let proxies = Box::new(PackedRows::new(clients)?);
    let declared = declarations.iter().zip(&files).map(|(stored, (_, file))| stored.read(file));
    let declared = declared.collect::<Result<Vec<_>, _>>()?;
    assemble(files, proxies, &sketches, declared, trusted, schema)
}

/// A round whose proxies are packed elsewhere: see [`pack_parts`](crate::pack_parts). `proxies` has each client with the
/// name of its table, sorted by client; `rows` gives access to their rows.
pub fn load_summarised(
    proxies: Vec<(String, PathBuf)>,
    trusted: Trusted,
    schema: &Schema,
    summaries: Vec<ClientSummary>,
    rows: impl FnOnce(Vec<ClientSummary>) -> Box<dyn ClientStatistics>,
) -> Result<LoadedRound, Error> {
    let trusted = ReadTrusted::new(trusted, &proxies, schema, Absent::Refuse)?;
    let sketches: Vec<RowSketch> = summaries.iter().map(|s| s.sketch.clone()).collect();
    let stored = proxies.iter().zip(&summaries);
    let declared = stored.map(|((_, file), summary)| summary.declaration.read(file));
    let declared = declared.collect::<Result<Vec<_>, Error>>()?;
    assemble(proxies, rows(summaries), &sketches, declared, trusted, schema)
}

/// Adds the trusted rows, and all that can be said about the proxies.
fn assemble(
    files: Vec<(String, PathBuf)>,
    proxies: Box<dyn ClientStatistics>,
    sketches: &[RowSketch],
    declared: Vec<ProxyOrigin>,
    trusted: ReadTrusted,
    schema: &Schema,
) -> Result<LoadedRound, Error> {
    let mut warnings = Vec::new();
    for (c, (id, file)) in files.iter().enumerate() {
        let cell_counts = proxies.cell_counts(c).unwrap_or_default();
        let noise = declared[c].privacy.as_ref().and_then(|statement| {
            statement.warn_of_large_noise(&schema.layout().groups, cell_counts)
        });
        for warning in warning::one_sided(file, schema, cell_counts).into_iter().chain(noise) {
            let (client, table) = (Some(id.clone()), Some(TableRole::Proxy));
            warnings.push(Warning { client, table, ..warning });
        }
    }
    let client_ids: Vec<String> = files.into_iter().map(|(id, _)| id).collect();
    let (root, about_rows) = trusted.rows.into_root(&client_ids, schema)?;
    warnings.extend(about_rows);
    let overlaps = find_overlaps(&client_ids, sketches);
    let distinct_rows = sketches.iter().map(RowSketch::distinct_rows).collect();
    let privacy: Vec<_> = declared.into_iter().map(|of| of.privacy).collect();
    let of_one_row = |statement: &Option<PrivacyStatement>| {
        statement.as_ref().and_then(|statement| statement.rate_error(1)).unwrap_or(0.0)
    };
    let noise = privacy.iter().map(of_one_row).collect();
    let round = Round::from_parts(client_ids, proxies, root)?
        .with_noise(noise)?
        .with_noisy_clients(privacy.iter().map(Option::is_some).collect())?;
    let absent = trusted.absent;
    Ok(LoadedRound { round, warnings, overlaps, distinct_rows, privacy, absent })
}

/// Reads and packs the proxies, several at a time. Each file is decoded once.
///
/// Files are started in order, and none after one that failed, so the error is always that of the first bad file,
/// whatever the number of readers.
fn pack_proxies(
    tables: impl Iterator<Item = Result<Table, Error>> + Send,
    n_tables: usize,
    schema: &Schema,
    n_readers: usize,
) -> Result<Vec<PackedProxy>, Error> {
    let tables = Mutex::new(tables.enumerate());
    let packed: Vec<OnceLock<Result<PackedProxy, Error>>> =
        (0..n_tables).map(|_| OnceLock::new()).collect();
    let failed = AtomicBool::new(false);
    let read = || {
        while !failed.load(Ordering::Relaxed) {
            let next = tables.lock().ok().and_then(|mut tables| tables.next());
            let Some((at, table)) = next else { break };
            let pack = |table| pack_proxy(table, 0..u64::MAX, schema);
            let client = table.and_then(pack);
            failed.fetch_or(client.is_err(), Ordering::Relaxed);
            // No other reader has this slot.
            let _ = packed[at].set(client);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..n_readers.min(n_tables) {
            scope.spawn(read);
        }
        read();
    });
    packed.into_iter().filter_map(OnceLock::into_inner).collect()
}

/// Packed rows of a proxy, a sketch of them, and what the proxy declares.
type PackedProxy = (PackedClient, RowSketch, Declaration);

/// Packs these rows of a proxy.
pub(crate) fn pack_proxy(
    table: Table,
    rows: Range<u64>,
    schema: &Schema,
) -> Result<PackedProxy, Error> {
    let declaration = Declaration::of(&table);
    let mut packer = ClientPacker::new(schema.layout());
    let mut sketcher = RowSketcher::new();
    visit_proxy_rows(table, rows, schema, |rows| {
        sketcher.add(rows);
        packer.push(rows).map_err(Error::Rows)
    })?;
    Ok((packer.finish(), sketcher.finish(), declaration))
}

#[cfg(test)]
mod tests;
