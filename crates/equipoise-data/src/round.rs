//! Reads a folder of proxies and a folder of roots into a round.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use equipoise_core::{
    BlockKeeper, ClientPacker, DistinctRows, PackedClient, PackedRows, Root, Round, RowSampler,
    SamplePlan, TableRole, Warning,
};

use crate::error::Error;
use crate::folder::{match_clients, missing, read_folder, read_root_files};
use crate::memory::{Memory, Shares};
use crate::overlap::{Overlaps, find_overlaps};
use crate::proxy::visit_proxy;
use crate::read_limits::ReadLimits;
use crate::row_sketch::{RowSketch, RowSketcher};
use crate::schema::Schema;
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
}

/// Reads a folder of proxies (encoded rows) and a folder of roots (raw rows), one file per client in each. The memory
/// limit determines only where the rows of the proxies are kept.
pub fn load_round(
    proxies_dir: &Path,
    root_dir: &Path,
    schema: &Schema,
    memory: &Memory,
) -> Result<LoadedRound, Error> {
    let (proxies, roots) = (read_folder(proxies_dir)?, read_folder(root_dir)?);
    match_clients(&proxies, &roots)?;
    load_matched(proxies, roots, root_dir, schema, memory)
}

/// Like [`load_round`], but a client with a root and no proxy is absent: its root is not used, as in a network round to
/// which it did not submit. Returns the absent clients too. A proxy without a root is still an error, because nobody
/// trusts a sample of that client: a network round has a root for every client on its roster and accepts no others.
pub fn load_round_of_present(
    proxies_dir: &Path,
    root_dir: &Path,
    schema: &Schema,
    memory: &Memory,
) -> Result<(LoadedRound, Vec<String>), Error> {
    let (proxies, mut roots) = (read_folder(proxies_dir)?, read_folder(root_dir)?);
    let absent = missing(&proxies, &roots);
    roots.retain(|(id, _)| !absent.contains(id));
    match_clients(&proxies, &roots)?;
    Ok((load_matched(proxies, roots, root_dir, schema, memory)?, absent))
}

/// Loads proxies and roots of the same clients.
fn load_matched(
    files: Vec<(String, PathBuf)>,
    roots: Vec<(String, PathBuf)>,
    root_dir: &Path,
    schema: &Schema,
    memory: &Memory,
) -> Result<LoadedRound, Error> {
    let n_threads = rayon::current_num_threads();
    let plan = SamplePlan::new(schema.layout(), files.len());
    let shares = memory.share_out(schema.layout().n(), files.len(), n_threads, &plan)?;
    load_files(files, roots, root_dir, schema, shares)
}

fn load_files(
    files: Vec<(String, PathBuf)>,
    roots: Vec<(String, PathBuf)>,
    root_dir: &Path,
    schema: &Schema,
    shares: Shares,
) -> Result<LoadedRound, Error> {
    let plan = SamplePlan::new(schema.layout(), files.len());
    let (proxies, sketches): (Vec<_>, Vec<_>) =
        pack_proxies(&files, schema, &plan, &shares)?.into_iter().unzip();
    let roots = read_root_files(roots, schema)?;

    let mut warnings = Vec::new();
    for ((id, file), proxy) in files.iter().zip(&proxies) {
        for warning in warning::one_sided(file, schema, proxy.cell_counts()) {
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
            folder: root_dir.to_path_buf(),
            column: schema.sensitive.column_name(),
            source: error,
        },
        other => Error::Rows(other),
    })?;
    let client_ids: Vec<String> = files.into_iter().map(|(id, _)| id).collect();
    let overlaps = find_overlaps(&client_ids, &sketches);
    let distinct_rows = sketches.iter().map(RowSketch::distinct_rows).collect();
    drop(sketches);
    let proxies = Box::new(PackedRows::new(proxies, shares.keeper)?);
    let round = Round::from_parts(client_ids, proxies, root)?;
    Ok(LoadedRound { round, warnings, overlaps, distinct_rows })
}

/// Reads and packs the proxies, several at a time. Each file is decoded once.
///
/// Files are started in order, and none after one that failed, so the error is always that of the first bad file,
/// whatever the number of readers.
fn pack_proxies(
    files: &[(String, PathBuf)],
    schema: &Schema,
    plan: &SamplePlan,
    shares: &Shares,
) -> Result<Vec<(PackedClient, RowSketch)>, Error> {
    let packed: Vec<OnceLock<Result<(PackedClient, RowSketch), Error>>> =
        files.iter().map(|_| OnceLock::new()).collect();
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let read = || {
        while !failed.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (Some((_, path)), Some(slot)) = (files.get(at), packed.get(at)) else { break };
            let client = pack_proxy(path, schema, plan.sampler(at), &shares.keeper);
            failed.fetch_or(client.is_err(), Ordering::Relaxed);
            // No other reader has this slot.
            let _ = slot.set(client);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..shares.n_readers.min(files.len()) {
            scope.spawn(read);
        }
        read();
    });
    packed.into_iter().filter_map(OnceLock::into_inner).collect()
}

fn pack_proxy(
    path: &Path,
    schema: &Schema,
    sampler: Option<RowSampler>,
    keeper: &BlockKeeper,
) -> Result<(PackedClient, RowSketch), Error> {
    let mut packer = ClientPacker::new(schema.layout(), keeper).with_sampler(sampler);
    let mut sketcher = RowSketcher::new();
    visit_proxy(path, schema, ReadLimits::NONE, |rows| {
        sketcher.add(rows);
        packer.push(rows).map_err(packing_error)
    })?;
    Ok((packer.finish().map_err(packing_error)?, sketcher.finish()))
}

/// The error of the scratch file, if that is what stopped the packing.
fn packing_error(error: equipoise_core::Error) -> Error {
    match error {
        equipoise_core::Error::Source(source) => match source.downcast::<Error>() {
            Ok(error) => *error,
            Err(other) => Error::Rows(equipoise_core::Error::Source(other)),
        },
        other => Error::Rows(other),
    }
}

#[cfg(test)]
mod tests;
