//! Tables from Python: a path, an Arrow stream, or columns of numbers and text.

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, StringArray};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema};
use equipoise_data::{
    Error, ReadLimits, RowsToScore, Table, TableFile, open_encoded_table, open_table,
    read_rows_to_score,
};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::{Stage, exception};

const STREAM: &CStr = c"arrow_array_stream";

/// A table of raw rows under a schema, whose features help to detect the delimiter of a CSV file.
pub(crate) fn raw_table(
    name: &str,
    object: &Bound<'_, PyAny>,
    schema: &equipoise_data::Schema,
) -> PyResult<Table> {
    let features: Vec<&str> = schema.features.iter().map(|f| f.column.as_str()).collect();
    raw_table_with(name, object, &features)
}

/// A table of raw rows that should have these columns.
pub(crate) fn raw_table_with(
    name: &str,
    object: &Bound<'_, PyAny>,
    columns: &[&str],
) -> PyResult<Table> {
    let from_file =
        |path: &Path| open_table(TableFile { columns: columns.to_vec(), ..path.into() });
    table(name, object, from_file)
}

/// A table of encoded rows.
pub(crate) fn proxy_table(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Table> {
    table(name, object, |path| open_encoded_table(path, ReadLimits::NONE))
}

/// The table that an object stands for: a path, an object with `__arrow_c_stream__`, or a list of pairs of a name and
/// values. `name` is what messages call a table in memory.
fn table(
    name: &str,
    object: &Bound<'_, PyAny>,
    from_file: impl FnOnce(&Path) -> Result<Table, Error>,
) -> PyResult<Table> {
    let table = if let Ok(path) = object.extract::<PathBuf>() {
        from_file(&path)
    } else if object.hasattr("__arrow_c_stream__")? {
        let reader = stream(object)?;
        Table::of_batches(name, Box::new(reader))
    } else {
        let batch = columns(object)?;
        let schema = batch.schema();
        Table::of_batches(name, Box::new(RecordBatchIterator::new([Ok(batch)], schema)))
    };
    table.map_err(|error| exception(object.py(), &error.into(), Stage::Table))
}

/// Raw rows to be scored, all of them: an estimator must not return fewer predictions than it got rows.
pub(crate) fn rows_to_score(
    table: Table,
    schema: &equipoise_data::Schema,
) -> Result<RowsToScore, Error> {
    let name = table.file().to_path_buf();
    let data = read_rows_to_score(table, schema, &[])?;
    let first = data.unscorable.first().and_then(|row| Some((row.row, row.problems.first()?)));
    match first {
        Some((row, (column, problem))) => Err(Error::Table {
            file: name,
            row: Some(row),
            column: Some(column.clone()),
            problem: Box::new(problem.clone()),
        }),
        None => Ok(data),
    }
}

/// Imports a stream through the Arrow PyCapsule interface. Rows are read in place.
#[allow(unsafe_code)]
fn stream(object: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a valid stream, says the interface. `from_raw` moves the stream out and leaves a
    // released one behind, which the capsule's destructor ignores.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    RecordBatchStreamReader::try_new(stream)
        .map_err(|error| PyTypeError::new_err(format!("the Arrow stream cannot be read: {error}")))
}

/// Columns: contiguous buffers of 64-bit floats, which are read in place, or lists of text and `None`, which are copied.
fn columns(object: &Bound<'_, PyAny>) -> PyResult<RecordBatch> {
    let columns: Vec<(String, Bound<'_, PyAny>)> = object.extract()?;
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
    let mut fields = Vec::with_capacity(columns.len());
    for (name, values) in columns {
        let (kind, array): (DataType, ArrayRef) = match PyBuffer::<f64>::get(&values) {
            Ok(buffer) => (DataType::Float64, Arc::new(floats(object.py(), buffer)?)),
            Err(_) => {
                let texts: Vec<Option<String>> = values.extract()?;
                (DataType::Utf8, Arc::new(StringArray::from(texts)))
            }
        };
        fields.push(Field::new(name, kind, true));
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    RecordBatch::try_new(schema, arrays).map_err(|error| PyTypeError::new_err(error.to_string()))
}

/// The numbers of a buffer. The array keeps the buffer alive.
#[allow(unsafe_code)]
fn floats(py: Python<'_>, buffer: PyBuffer<f64>) -> PyResult<Float64Array> {
    let n = buffer.item_count();
    let start = NonNull::new(buffer.buf_ptr().cast::<u8>());
    let Some(start) = start.filter(|_| n > 0 && buffer.is_c_contiguous()) else {
        return Ok(Float64Array::from(buffer.to_vec(py)?));
    };
    // SAFETY: a contiguous buffer has `n` numbers from there on, aligned, as `PyBuffer` has checked. Their owner neither
    // moves nor frees them before the buffer is released, which is when the array is dropped. It must not change them
    // meanwhile either, as `docs/reference/python.md` tells users: other threads of Python run during a call.
    let bytes =
        unsafe { Buffer::from_custom_allocation(start, n * size_of::<f64>(), Arc::new(buffer)) };
    Ok(Float64Array::new(ScalarBuffer::new(bytes, 0, n), None))
}
