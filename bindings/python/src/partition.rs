//! Parts of proxies that are packed and summed in a worker process.

use std::cell::OnceCell;

use equipoise_core::{ClientStatistics, LocalFits, Order, PackedPartition};
use equipoise_data::{PartSummary, ProxyPart, WireReader, WireWriter, pack_parts};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Stage, exception};
use crate::remote_rows::{fit_numbers, inner_settings, order_of};
use crate::schema::Schema;
use crate::table::proxy_table;

/// Packed rows of some clients, or of parts of them, and what must be known about them elsewhere. Copies of it in other
/// processes hold the same rows.
#[pyclass(frozen, module = "equipoise._core")]
pub(crate) struct Partition {
    rows: PackedPartition,
    /// The summary of each part, as a message.
    summary: Vec<u8>,
}

/// A part of a proxy: the name of the client, the table, its first row and the one after its last.
type Part<'py> = (String, Bound<'py, PyAny>, u64, Option<u64>);

#[pymethods]
impl Partition {
    /// Reads and packs parts of proxies.
    #[staticmethod]
    #[pyo3(signature = (parts, schema))]
    fn pack(py: Python<'_>, parts: Vec<Part<'_>>, schema: &Schema) -> PyResult<Self> {
        let names: Vec<String> = parts.iter().map(|part| part.0.clone()).collect();
        let parts = parts.into_iter().map(|(name, table, first, end)| {
            let rows = first..end.unwrap_or(u64::MAX);
            let table = proxy_table(&format!("the proxy of client `{name}`"), &table)?;
            Ok(ProxyPart { table, rows })
        });
        let parts = parts.collect::<PyResult<Vec<_>>>()?;
        let packed = py.detach(|| {
            let packed = alone(|| pack_parts(parts, &schema.0))?;
            packed.map_err(|failed| {
                let (part, error) = *failed;
                in_proxy_of(&names[part], error.into())
            })
        });
        let (rows, summaries) = packed.map_err(|error| exception(py, &error, Stage::Table))?;
        let mut message = WireWriter::default();
        summaries.iter().for_each(|summary: &PartSummary| summary.write(&mut message));
        Ok(Self { rows, summary: message.finish() })
    }

    /// What must be known about the parts elsewhere.
    fn summary<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.summary)
    }

    /// Sums of the segments of each part at a model, up to the order requested for each part: 0 for none, then loss,
    /// gradient, Hessian.
    fn sums<'py>(
        &self,
        py: Python<'py>,
        theta: &[u8],
        orders: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        let orders: Vec<Option<Order>> = orders.iter().map(|code| order_of(*code)).collect();
        self.answer(py, || {
            let theta = WireReader::new(theta).numbers()?;
            self.check_parts(orders.len())?;
            let mut reply = WireWriter::default();
            reply.numbers(&self.rows.segment_sums(&theta, &orders)?);
            Ok(reply.finish())
        })
    }

    /// The models of whole clients, each fitted to its rows alone. `weights` has the weight of each part, or 0 for parts
    /// that are not to be fitted.
    fn fits<'py>(
        &self,
        py: Python<'py>,
        request: &[u8],
        weights: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.answer(py, || {
            let mut message = WireReader::new(request);
            let (start, numbers) = (message.numbers()?, message.numbers()?);
            let (n_rows_total, ridge, inner) = inner_settings(&numbers)
                .ok_or_else(|| anyhow::anyhow!("the request for local fits is damaged"))?;
            let weights = WireReader::new(weights).numbers()?;
            self.check_parts(weights.len())?;
            let request = LocalFits { start, weights: Vec::new(), n_rows_total, ridge, inner };
            let mut reply = WireWriter::default();
            for (part, &weight) in weights.iter().enumerate().filter(|(_, w)| **w != 0.0) {
                let fit = self.rows.fit_client(&request, part, weight)?;
                reply.numbers(&fit.map(|fit| fit_numbers(&fit)).unwrap_or_default());
            }
            Ok(reply.finish())
        })
    }

    /// Some rows of each part: for each part, its first row and the number of rows from one to the next.
    fn spaced_rows<'py>(
        &self,
        py: Python<'py>,
        n_features: usize,
        spacing: Vec<(usize, usize)>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.answer(py, || {
            self.check_parts(spacing.len())?;
            let mut reply = WireWriter::default();
            for (part, (first, step)) in spacing.into_iter().enumerate() {
                let rows = self.rows.spaced_rows(part, n_features, first, step);
                reply.integers(rows.marks.iter().map(|mark| u64::from(*mark)));
                reply.numbers(&rows.x);
            }
            Ok(reply.finish())
        })
    }

    /// Bytes in memory, by which a scheduler judges what a worker holds.
    fn __sizeof__(&self) -> usize {
        self.rows.n_bytes() + self.summary.len()
    }

    /// A partition from its rows and its summary.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, rows: &[u8], summary: &[u8]) -> PyResult<Self> {
        let rows = PackedPartition::from_bytes(rows)
            .map_err(|error| exception(py, &error.into(), Stage::Solve))?;
        Ok(Self { rows, summary: summary.to_vec() })
    }

    /// The rows and the summary, which `from_bytes` needs.
    fn to_bytes<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, Bound<'py, PyBytes>) {
        let rows = py.detach(|| self.rows.to_bytes());
        (PyBytes::new(py, &rows), PyBytes::new(py, &self.summary))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (rows, summary) = self.to_bytes(py);
        let unpack = py.import("equipoise._partitions")?.getattr("unpack")?;
        Ok((unpack, PyTuple::new(py, [rows, summary])?))
    }
}

impl Partition {
    fn answer<'py>(
        &self,
        py: Python<'py>,
        work: impl FnOnce() -> anyhow::Result<Vec<u8>> + Send,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let reply = py.detach(|| alone(work).and_then(|reply| reply));
        Ok(PyBytes::new(py, &reply.map_err(|error| exception(py, &error, Stage::Solve))?))
    }

    fn check_parts(&self, found: usize) -> Result<(), equipoise_core::Error> {
        match self.rows.n_clients() {
            expected if expected == found => Ok(()),
            expected => Err(equipoise_core::Error::Clients { expected, found }),
        }
    }
}

/// Says whose proxy an error is about, unless the error says so.
pub(crate) fn in_proxy_of(client: &str, error: anyhow::Error) -> anyhow::Error {
    let name = format!("client `{client}`");
    if error.to_string().contains(&name) { error } else { error.context(name) }
}

/// Runs work on one thread: a scheduler runs as many tasks at a time as it has threads.
fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> anyhow::Result<T> {
    thread_local! {
        static POOL: OnceCell<ThreadPool> = const { OnceCell::new() };
    }
    POOL.with(|cell| {
        let pool = match cell.get() {
            Some(pool) => pool,
            None => {
                let pool = ThreadPoolBuilder::new().num_threads(1).build()?;
                cell.get_or_init(|| pool)
            }
        };
        Ok(pool.install(work))
    })
}
