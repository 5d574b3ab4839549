//! Reads a folder of proxies and a folder of roots into a round.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use equipoise_core::{
    ClientPacker, ClientStatistics, DistinctRows, PackedClient, PackedRows, PrivacyStatement, Root,
    Round, RowSampler, SamplePlan, TableRole, Warning,
};

use crate::error::Error;
use crate::folder::{match_clients, missing, read_folder, read_roots};
use crate::overlap::{Overlaps, find_overlaps};
use crate::partition::ClientSummary;
use crate::proxy::{ProxyOrigin, visit_proxy_rows};
use crate::row_sketch::{RowSketch, RowSketcher};
use crate::schema::Schema;
use crate::table_source::TableSource;
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
    /// How many rows each proxy says it stands for.
    pub represented_rows: Vec<Option<u64>>,
}

/// The tables of a round: a proxy (encoded rows) and a root (raw rows) of each client.
#[derive(Debug)]
pub struct RoundTables {
    proxies: Vec<(String, TableSource)>,
    roots: Vec<(String, TableSource)>,
    /// Where the roots are, for messages.
    roots_name: PathBuf,
}

impl RoundTables {
    /// The tables of clients, in any order.
    pub fn new(
        mut proxies: Vec<(String, TableSource)>,
        mut roots: Vec<(String, TableSource)>,
    ) -> Result<Self, Error> {
        for tables in [&mut proxies, &mut roots] {
            tables.sort_by(|(a, _), (b, _)| a.cmp(b));
            if let Some([(id, _), _]) = tables.array_windows().find(|[(a, _), (b, _)]| a == b) {
                return Err(Error::Invalid(format!("client `{id}` has two tables. Keep one.")));
            }
        }
        match_clients(&proxies, &roots)?;
        Ok(Self { proxies, roots, roots_name: "the roots".into() })
    }

    /// The tables in a folder of proxies and a folder of roots, one file per client in each.
    pub fn in_folders(proxies: &Path, roots: &Path) -> Result<Self, Error> {
        Ok(Self::new(files_in(proxies)?, files_in(roots)?)?.with_roots_in(roots))
    }

    fn with_roots_in(self, folder: &Path) -> Self {
        Self { roots_name: folder.to_path_buf(), ..self }
    }
}

/// The tables of a folder, one file per client.
fn files_in(folder: &Path) -> Result<Vec<(String, TableSource)>, Error> {
    let files = read_folder(folder)?.into_iter();
    Ok(files.map(|(id, path)| (id, (&path).into())).collect())
}

/// Reads a folder of proxies (encoded rows) and a folder of roots (raw rows), one file per client in each.
pub fn load_round(
    proxies_dir: &Path,
    root_dir: &Path,
    schema: &Schema,
) -> Result<LoadedRound, Error> {
    load_tables(RoundTables::in_folders(proxies_dir, root_dir)?, schema)
}

/// Like [`load_round`], but a client with a root and no proxy is absent: its root is not used, as in a network round to
/// which it did not submit. Returns the absent clients too. A proxy without a root is still an error, because nobody
/// trusts a sample of that client: a network round has a root for every client on its roster and accepts no others.
pub fn load_round_of_present(
    proxies_dir: &Path,
    root_dir: &Path,
    schema: &Schema,
) -> Result<(LoadedRound, Vec<String>), Error> {
    let (proxies, mut roots) = (files_in(proxies_dir)?, files_in(root_dir)?);
    let absent = missing(&proxies, &roots);
    roots.retain(|(id, _)| !absent.contains(id));
    let tables = RoundTables::new(proxies, roots)?.with_roots_in(root_dir);
    Ok((load_tables(tables, schema)?, absent))
}

/// Reads the tables of a round, as [`load_round`] does.
pub fn load_tables(tables: RoundTables, schema: &Schema) -> Result<LoadedRound, Error> {
    load_with_readers(tables, schema, rayon::current_num_threads())
}

fn load_with_readers(
    tables: RoundTables,
    schema: &Schema,
    n_readers: usize,
) -> Result<LoadedRound, Error> {
    let RoundTables { proxies, roots, roots_name } = tables;
    let files: Vec<(String, PathBuf)> =
        proxies.iter().map(|(id, table)| (id.clone(), table.name().to_path_buf())).collect();
    // A broken file gets its error where its rows are read, so errors wait until then.
    let declared: Vec<_> = proxies.iter().map(|(_, table)| table.declared()).collect();
    let plan = SamplePlan::new(schema.layout(), files.len());
    let (proxies, sketches): (Vec<_>, Vec<_>) =
        pack_proxies(proxies, schema, &plan, n_readers)?.into_iter().unzip();
    let proxies = Box::new(PackedRows::new(proxies)?);
    let declared = declared.into_iter().collect::<Result<Vec<_>, _>>()?;
    assemble(files, proxies, &sketches, declared, (roots, roots_name), schema)
}

/// A round whose proxies are packed elsewhere: see [`pack_parts`](crate::pack_parts). `proxies` has each client with the
/// name of its table, sorted by client; `rows` gives access to their rows.
pub fn load_summarised(
    proxies: Vec<(String, PathBuf)>,
    mut roots: Vec<(String, TableSource)>,
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
    assemble(proxies, rows(summaries), &sketches, declared, (roots, "the roots".into()), schema)
}

/// Adds the roots, and all that can be said about the proxies.
fn assemble(
    files: Vec<(String, PathBuf)>,
    proxies: Box<dyn ClientStatistics>,
    sketches: &[RowSketch],
    declared: Vec<ProxyOrigin>,
    (roots, roots_name): (Vec<(String, TableSource)>, PathBuf),
    schema: &Schema,
) -> Result<LoadedRound, Error> {
    let roots = read_roots(roots, schema)?;
    let mut warnings = Vec::new();
    for (c, (id, file)) in files.iter().enumerate() {
        let cell_counts = proxies.cell_counts(c).unwrap_or_default();
        let noise = declared[c].privacy.as_ref().and_then(|statement| {
            let represented_rows = declared[c].represented_rows;
            statement.warn_of_large_noise(&schema.layout().groups, cell_counts, represented_rows)
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
            folder: roots_name,
            column: schema.sensitive.column_name(),
            source: error,
        },
        other => Error::Rows(other),
    })?;
    let client_ids: Vec<String> = files.into_iter().map(|(id, _)| id).collect();
    let overlaps = find_overlaps(&client_ids, sketches);
    let distinct_rows = sketches.iter().map(RowSketch::distinct_rows).collect();
    let represented_rows: Vec<Option<u64>> =
        declared.iter().map(|of| of.represented_rows).collect();
    let privacy: Vec<_> = declared.into_iter().map(|of| of.privacy).collect();
    let of_one_row = |statement: &Option<PrivacyStatement>| {
        statement.as_ref().and_then(|statement| statement.rate_error(1)).unwrap_or(0.0)
    };
    let noise = privacy.iter().map(of_one_row).collect();
    let round = Round::from_parts(client_ids, proxies, root)?
        .with_noise(noise)?
        .with_noisy_clients(privacy.iter().map(Option::is_some).collect())?
        .with_represented_rows(represented_rows.clone())?;
    Ok(LoadedRound { round, warnings, overlaps, distinct_rows, privacy, represented_rows })
}

/// Reads and packs the proxies, several at a time. Each file is decoded once.
///
/// Files are started in order, and none after one that failed, so the error is always that of the first bad file,
/// whatever the number of readers.
fn pack_proxies(
    tables: Vec<(String, TableSource)>,
    schema: &Schema,
    plan: &SamplePlan,
    n_readers: usize,
) -> Result<Vec<(PackedClient, RowSketch)>, Error> {
    let tables: Vec<Mutex<Option<TableSource>>> =
        tables.into_iter().map(|(_, table)| Mutex::new(Some(table))).collect();
    let packed: Vec<OnceLock<Result<(PackedClient, RowSketch), Error>>> =
        tables.iter().map(|_| OnceLock::new()).collect();
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let read = || {
        while !failed.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (Some(table), Some(slot)) = (tables.get(at), packed.get(at)) else { break };
            let Some(table) = table.lock().ok().and_then(|mut table| table.take()) else { break };
            let client = pack_proxy(table, 0..u64::MAX, schema, plan.sampler(at));
            failed.fetch_or(client.is_err(), Ordering::Relaxed);
            // No other reader has this slot.
            let _ = slot.set(client);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..n_readers.min(tables.len()) {
            scope.spawn(read);
        }
        read();
    });
    packed.into_iter().filter_map(OnceLock::into_inner).collect()
}

/// Packs these rows of a proxy.
pub(crate) fn pack_proxy(
    table: TableSource,
    rows: Range<u64>,
    schema: &Schema,
    sampler: Option<RowSampler>,
) -> Result<(PackedClient, RowSketch), Error> {
    let mut packer = ClientPacker::new(schema.layout()).with_sampler(sampler);
    let mut sketcher = RowSketcher::new();
    visit_proxy_rows(table, rows, schema, |rows| {
        sketcher.add(rows);
        packer.push(rows).map_err(Error::Rows)
    })?;
    Ok((packer.finish(), sketcher.finish()))
}

#[cfg(test)]
mod tests;
