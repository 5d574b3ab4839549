//! Reads a folder of proxies and a folder of roots into a round.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use equipoise_core::{
    ClientPacker, ClientStatistics, DistinctRows, PackedClient, PackedRows, PrivacyStatement, Root,
    Round, RowSampler, SamplePlan, TableRole, Warning,
};

use crate::error::Error;
use crate::folder::{match_clients, missing, read_folder, read_roots};
use crate::overlap::{Overlaps, find_overlaps};
use crate::partition::ClientSummary;
use crate::proxy::{Declaration, ProxyOrigin, visit_proxy_rows};
use crate::raw_rows::chosen_columns;
use crate::read_limits::ReadLimits;
use crate::row_sketch::{RowSketch, RowSketcher};
use crate::schema::Schema;
use crate::table::{Table, TableFile, open_encoded_table, open_table};
use crate::warning;

/// A round, and what was noticed while reading it.
pub struct LoadedRound {
    /// The round.
    pub round: Round,
    /// Warnings about the proxies, then about the roots; each names its client.
    pub warnings: Vec<Warning>,
    /// Clients whose proxies have rows in common.
    pub overlaps: Overlaps,
    /// The number of distinct rows of each proxy.
    pub distinct_rows: Vec<DistinctRows>,
    /// How each proxy says that it is differentially private.
    pub privacy: Vec<Option<PrivacyStatement>>,
}

/// Reads a folder of proxies (encoded rows) and a folder of roots (raw rows), one file per client in each.
pub fn load_round(
    proxies_dir: &Path,
    root_dir: &Path,
    schema: &Schema,
) -> Result<LoadedRound, Error> {
    let (proxies, roots) = (read_folder(proxies_dir)?, read_folder(root_dir)?);
    load_files(proxies, &roots, root_dir, schema, rayon::current_num_threads())
}

/// Like [`load_round`], but a client with a root and no proxy is absent: its root is not used, as in a network round to
/// which it did not submit. Returns the absent clients too. A proxy without a root is still an error, because nobody
/// trusts a sample of that client: a network round has a root for every client on its roster and accepts no others.
pub fn load_round_of_present(
    proxies_dir: &Path,
    root_dir: &Path,
    schema: &Schema,
) -> Result<(LoadedRound, Vec<String>), Error> {
    let (proxies, mut roots) = (read_folder(proxies_dir)?, read_folder(root_dir)?);
    let absent = missing(&proxies, &roots);
    roots.retain(|(id, _)| !absent.contains(id));
    let loaded = load_files(proxies, &roots, root_dir, schema, rayon::current_num_threads())?;
    Ok((loaded, absent))
}

/// Files are opened when it is their turn: there may be more of them than a process may have open.
fn load_files(
    files: Vec<(String, PathBuf)>,
    roots: &[(String, PathBuf)],
    root_dir: &Path,
    schema: &Schema,
    n_readers: usize,
) -> Result<LoadedRound, Error> {
    match_clients(&files, roots)?;
    let paths: Vec<PathBuf> = files.iter().map(|(_, path)| path.clone()).collect();
    let proxies = paths.iter().map(|path| open_encoded_table(path, ReadLimits::NONE));
    let root = |(id, path): &(String, PathBuf)| {
        let columns = chosen_columns(schema, true, true);
        Ok((id.clone(), open_table(TableFile { columns, ..path.into() })?))
    };
    load(files, proxies, (roots.iter().map(root), root_dir), schema, n_readers)
}

/// Like [`load_round`], for open tables of clients in any order.
pub fn load_tables(
    mut proxies: Vec<(String, Table)>,
    mut roots: Vec<(String, Table)>,
    schema: &Schema,
) -> Result<LoadedRound, Error> {
    for tables in [&mut proxies, &mut roots] {
        tables.sort_by(|(a, _), (b, _)| a.cmp(b));
        if let Some([(id, _), _]) = tables.array_windows().find(|[(a, _), (b, _)]| a == b) {
            return Err(Error::Invalid(format!("client `{id}` has two tables. Keep one.")));
        }
    }
    match_clients(&proxies, &roots)?;
    let name = |(id, table): &(String, Table)| (id.clone(), table.file().to_path_buf());
    let files = proxies.iter().map(name).collect();
    let proxies = proxies.into_iter().map(|(_, table)| Ok(table));
    let roots = (roots.into_iter().map(Ok), Path::new(ROOTS));
    load(files, proxies, roots, schema, rayon::current_num_threads())
}

/// What messages call roots that are not in one folder.
const ROOTS: &str = "the roots";

/// `files` has the clients and the names of their proxies, sorted by client; the tables are in the same order.
fn load(
    files: Vec<(String, PathBuf)>,
    proxies: impl Iterator<Item = Result<Table, Error>> + Send,
    roots: (impl Iterator<Item = Result<(String, Table), Error>>, &Path),
    schema: &Schema,
    n_readers: usize,
) -> Result<LoadedRound, Error> {
    let plan = SamplePlan::new(schema.layout(), files.len());
    let (mut clients, mut sketches, mut declarations) = (Vec::new(), Vec::new(), Vec::new());
    for (client, sketch, declaration) in
        pack_proxies(proxies, files.len(), schema, &plan, n_readers)?
    {
        clients.push(client);
        sketches.push(sketch);
        declarations.push(declaration);
    }
    let proxies = Box::new(PackedRows::new(clients)?);
    let declared = declarations.iter().zip(&files).map(|(stored, (_, file))| stored.read(file));
    let declared = declared.collect::<Result<Vec<_>, _>>()?;
    assemble(files, proxies, &sketches, declared, roots, schema)
}

/// A round whose proxies are packed elsewhere: see [`pack_parts`](crate::pack_parts). `proxies` has each client with the
/// name of its table, sorted by client; `rows` gives access to their rows.
pub fn load_summarised(
    proxies: Vec<(String, PathBuf)>,
    mut roots: Vec<(String, Table)>,
    schema: &Schema,
    summaries: Vec<ClientSummary>,
    rows: impl FnOnce(Vec<ClientSummary>) -> Box<dyn ClientStatistics>,
) -> Result<LoadedRound, Error> {
    roots.sort_by(|(a, _), (b, _)| a.cmp(b));
    let named: Vec<(String, ())> = proxies.iter().map(|(id, _)| (id.clone(), ())).collect();
    let with_root: Vec<(String, ())> = roots.iter().map(|(id, _)| (id.clone(), ())).collect();
    match_clients(&named, &with_root)?;
    let sketches: Vec<RowSketch> = summaries.iter().map(|s| s.sketch.clone()).collect();
    let stored = proxies.iter().zip(&summaries);
    let declared = stored.map(|((_, file), summary)| summary.declaration.read(file));
    let declared = declared.collect::<Result<Vec<_>, Error>>()?;
    let roots = (roots.into_iter().map(Ok), Path::new(ROOTS));
    assemble(proxies, rows(summaries), &sketches, declared, roots, schema)
}

/// Adds the roots, and all that can be said about the proxies.
fn assemble(
    files: Vec<(String, PathBuf)>,
    proxies: Box<dyn ClientStatistics>,
    sketches: &[RowSketch],
    declared: Vec<ProxyOrigin>,
    (roots, roots_name): (impl Iterator<Item = Result<(String, Table), Error>>, &Path),
    schema: &Schema,
) -> Result<LoadedRound, Error> {
    let roots = read_roots(roots, schema)?;
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
    let root_rows = roots.into_iter().map(|root| {
        warnings.extend(root.warnings);
        root.rows
    });
    let root = Root::new(root_rows.collect()).map_err(|error| match error {
        equipoise_core::Error::RootGroup { .. } => Error::Root {
            folder: roots_name.to_path_buf(),
            column: schema.sensitive.column_name(),
            source: error,
        },
        other => Error::Rows(other),
    })?;
    let client_ids: Vec<String> = files.into_iter().map(|(id, _)| id).collect();
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
    Ok(LoadedRound { round, warnings, overlaps, distinct_rows, privacy })
}

/// Reads and packs the proxies, several at a time. Each file is decoded once.
///
/// Files are started in order, and none after one that failed, so the error is always that of the first bad file,
/// whatever the number of readers.
fn pack_proxies(
    tables: impl Iterator<Item = Result<Table, Error>> + Send,
    n_tables: usize,
    schema: &Schema,
    plan: &SamplePlan,
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
            let pack = |table| pack_proxy(table, 0..u64::MAX, schema, plan.sampler(at));
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
    sampler: Option<RowSampler>,
) -> Result<PackedProxy, Error> {
    let declaration = Declaration::of(&table);
    let mut packer = ClientPacker::new(schema.layout()).with_sampler(sampler);
    let mut sketcher = RowSketcher::new();
    visit_proxy_rows(table, rows, schema, |rows| {
        sketcher.add(rows);
        packer.push(rows).map_err(Error::Rows)
    })?;
    Ok((packer.finish(), sketcher.finish(), declaration))
}

#[cfg(test)]
mod tests;
