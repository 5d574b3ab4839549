//! Tables for Python, and files of text.

use std::collections::HashMap;
use std::ffi::CStr;
use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int8Type, UInt64Type};
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::DataType;
use equipoise_data::{OutputColumn, record_batch, write_atomically};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyCapsule, PyList};

use crate::error::{Stage, exception};

/// Writes a file, all of it or nothing. An existing one is replaced only with `force`.
#[pyfunction]
pub(crate) fn write_text(py: Python<'_>, path: PathBuf, text: &str, force: bool) -> PyResult<()> {
    write_atomically(&path, force, |out| out.write_all(text.as_bytes()))
        .map_err(|error| exception(py, &error.into(), Stage::Table))
}

const STREAM: &CStr = c"arrow_array_stream";

/// A table that pyarrow, polars and others import without copies, and NumPy column by column.
#[pyclass(frozen, module = "equipoise._core")]
pub(crate) struct OutputTable(RecordBatch);

impl OutputTable {
    /// A table that says something about itself, in the metadata of its schema.
    pub(crate) fn new(columns: &[OutputColumn], properties: Vec<(&str, String)>) -> PyResult<Self> {
        let invalid = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
        let batch = record_batch(columns).map_err(|error| invalid(&error))?;
        let metadata = properties.into_iter().map(|(name, text)| (name.to_owned(), text));
        let schema =
            batch.schema().as_ref().clone().with_metadata(metadata.collect::<HashMap<_, _>>());
        Ok(Self(batch.with_schema(schema.into()).map_err(|error| invalid(&error))?))
    }
}

#[pymethods]
impl OutputTable {
    /// The Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer may request other types, but must accept these.
        let _ = requested_schema;
        let schema = self.0.schema();
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, STREAM)
    }

    /// The names of the columns.
    fn names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The NumPy type and the values of a column: bytes of numbers, or a list of texts.
    fn column<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<(&'static str, Bound<'py, PyAny>)> {
        let column = self
            .0
            .column_by_name(name)
            .ok_or_else(|| PyValueError::new_err(format!("the table has no column `{name}`")))?;
        Ok(match column.data_type() {
            DataType::Float64 => ("f8", bytes(py, column.as_primitive::<Float64Type>().values())),
            DataType::Int8 => ("i1", bytes(py, column.as_primitive::<Int8Type>().values())),
            DataType::UInt64 => ("u8", bytes(py, column.as_primitive::<UInt64Type>().values())),
            _ => ("O", PyList::new(py, column.as_string::<i32>().iter())?.into_any()),
        })
    }
}

/// Numbers as a writable buffer.
pub(crate) fn bytes<'py, T: NativeBytes>(py: Python<'py>, values: &[T]) -> Bound<'py, PyAny> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.native_bytes()).collect();
    PyByteArray::new(py, &bytes).into_any()
}

/// A number's bytes in memory.
pub(crate) trait NativeBytes: Copy {
    fn native_bytes(self) -> impl IntoIterator<Item = u8>;
}

macro_rules! native_bytes {
    ($($type:ty),*) => {$(
        impl NativeBytes for $type {
            fn native_bytes(self) -> impl IntoIterator<Item = u8> {
                self.to_ne_bytes()
            }
        }
    )*};
}

native_bytes!(f64, i8, u8, u64);
