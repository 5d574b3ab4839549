//! The server's side of a round whose proxies are in other processes.

use std::path::PathBuf;

use equipoise_cli::api;
use equipoise_data::{
    ClientSummary, PartSummary, TableKind, WireReader, check_origins, load_summarised, open_table,
    read_folder,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::defense::{TrustedRows, defend_loaded};
use crate::error::{Stage, arguments, exception};
use crate::model::Model;
use crate::partition::in_proxy_of;
use crate::remote_rows::{Failure, RemotePart, RemoteRows};
use crate::schema::Schema;
use crate::task;

/// The clients of a folder and their files, sorted.
#[pyfunction]
pub(crate) fn folder_clients(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<(String, PathBuf)>> {
    read_folder(&folder).map_err(|error| exception(py, &error.into(), Stage::Solve))
}

/// The number of rows of a client's Parquet file, according to its metadata. `None` for other formats.
#[pyfunction]
pub(crate) fn claimed_rows(py: Python<'_>, client: &str, path: PathBuf) -> PyResult<Option<u64>> {
    let count = || match TableKind::of(&path)? {
        TableKind::Parquet => Ok(open_table(&path)?.claimed_rows()),
        _ => std::fs::metadata(&path)
            .map(|_| None)
            .map_err(|source| equipoise_data::Error::Read { file: path.clone(), source }),
    };
    py.detach(count)
        .map_err(|error| exception(py, &in_proxy_of(client, error.into()), Stage::Table))
}

/// Runs the defense on proxies that are packed elsewhere. `clients` has each client with the file of its proxy, or its
/// name and whether it is a file, sorted by client. `parts` has the clients of each partition's parts, in the order of
/// clients and rows, and `summaries` what the partitions say about them. `partitions` is asked for sums.
#[pyfunction]
#[pyo3(signature = (partitions, clients, parts, summaries, trusted, schema, options, *, sweep, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn defend_partitions(
    py: Python<'_>,
    partitions: Py<PyAny>,
    clients: Vec<(String, PathBuf, bool)>,
    parts: Vec<Vec<usize>>,
    summaries: Vec<Vec<u8>>,
    trusted: TrustedRows<'_>,
    schema: &Schema,
    options: &Bound<'_, PyDict>,
    sweep: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, Model)> {
    let settings = api::solve_settings(&arguments(options)?)
        .map_err(|error| exception(py, &error, Stage::Setting))?;
    let trusted = trusted.open(&schema.0)?;
    let schema = schema.0.clone();
    let failure = Failure::default();
    let in_task = failure.clone();
    let solved = task::run(py, Stage::Solve, progress, move |watcher| {
        let files: Vec<(String, PathBuf)> = clients
            .iter()
            .filter(|(_, _, is_file)| *is_file)
            .map(|(client, path, _)| (client.clone(), path.clone()))
            .collect();
        let about_origins = check_origins(&files, &schema, settings.fairness)?;
        let (of_clients, partition_parts) = divide(clients.len(), parts, &summaries)?;
        let of_client = |parts: Vec<PartSummary>| ClientSummary::of_parts(&schema, parts);
        let of_clients = of_clients.into_iter().map(of_client).collect::<Result<_, _>>()?;
        let names = clients.into_iter().map(|(client, name, _)| (client, name)).collect();
        let n = schema.layout().n();
        let rows = |clients| -> Box<dyn equipoise_core::ClientStatistics> {
            let (partitions, partitions_in_python) = (partition_parts, partitions);
            let failure = in_task;
            Box::new(RemoteRows { n, clients, partitions, partitions_in_python, failure })
        };
        let mut loaded = load_summarised(names, trusted, &schema, of_clients, rows)?;
        loaded.warnings.splice(0..0, about_origins);
        watcher.check()?;
        defend_loaded(&schema, &loaded, &settings, sweep, watcher)
    });
    solved.map_err(|error| failure.take().unwrap_or(error))
}

/// The summaries by client, and the parts of each partition.
type Divided = (Vec<Vec<PartSummary>>, Vec<Vec<RemotePart>>);

fn divide(
    n_clients: usize,
    parts: Vec<Vec<usize>>,
    summaries: &[Vec<u8>],
) -> anyhow::Result<Divided> {
    let mut n_parts = vec![0; n_clients];
    let unknown = || anyhow::anyhow!("a partition has a part of an unknown client");
    for client in parts.iter().flatten() {
        *n_parts.get_mut(*client).ok_or_else(unknown)? += 1;
    }
    let mut of_clients: Vec<Vec<PartSummary>> = vec![Vec::new(); n_clients];
    let mut partitions = Vec::with_capacity(parts.len());
    for (parts, summary) in parts.into_iter().zip(summaries) {
        let mut message = WireReader::new(summary);
        let mut of_partition = Vec::with_capacity(parts.len());
        for client in parts {
            let summary = PartSummary::read(&mut message)?;
            let (n_segments, is_whole) = (summary.n_segments, n_parts[client] == 1);
            of_partition.push(RemotePart { client, n_segments, is_whole });
            of_clients[client].push(summary);
        }
        message.end()?;
        partitions.push(of_partition);
    }
    Ok((of_clients, partitions))
}
