//! Writes proxies as Parquet, chunk by chunk.

use std::io::{self, Write};

use equipoise_core::Rows;

use super::origin::ProxyOrigin;
use super::{columns, group_code};
use crate::output_table::{ColumnValues, OutputColumn};
use crate::schema::Schema;
use crate::table::BatchWriter;

/// Bytes of features in a row group, which is held in memory a few times over.
const GROUP_BYTES: usize = 8 << 20;

/// Writes a Parquet proxy. The bytes depend only on the rows, not on how they are divided into chunks.
pub struct ProxyWriter<W: Write + Send> {
    out: BatchWriter<W>,
    names: Vec<String>,
    group_rows: usize,
    features: Vec<Vec<f64>>,
    groups: Vec<i8>,
    labels: Vec<i8>,
}

impl<W: Write + Send> std::fmt::Debug for ProxyWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProxyWriter").field("columns", &self.names).finish_non_exhaustive()
    }
}

impl<W: Write + Send> ProxyWriter<W> {
    /// A writer for rows encoded with the schema.
    pub fn new(out: W, schema: &Schema) -> Self {
        let n_x = schema.layout().n_x;
        Self {
            out: BatchWriter::new(out),
            names: columns(schema),
            group_rows: (GROUP_BYTES / 8 / n_x.max(1)).clamp(1024, 1 << 20),
            features: vec![Vec::new(); n_x],
            groups: Vec::new(),
            labels: Vec::new(),
        }
    }

    /// Stores where the proxy comes from. Call it before the first row.
    pub fn set_origin(&mut self, origin: &ProxyOrigin) {
        self.out.set_properties(origin.properties());
    }

    /// Adds rows.
    pub fn push(&mut self, rows: &Rows) -> io::Result<()> {
        if rows.layout().n_x != self.features.len() {
            return Err(io::Error::other("the rows were encoded with another schema"));
        }
        for i in 0..rows.len() {
            for (column, value) in self.features.iter_mut().zip(rows.x(i)) {
                column.push(*value);
            }
            self.groups.push(group_code(rows.groups()[i]));
            self.labels.push(if rows.is_positive(i) { 1 } else { -1 });
            if self.labels.len() == self.group_rows {
                self.write_group()?;
            }
        }
        Ok(())
    }

    /// Writes the remaining rows. A file without rows is an error.
    pub fn finish(mut self) -> io::Result<()> {
        if !self.labels.is_empty() {
            self.write_group()?;
        }
        self.out.finish()
    }

    fn write_group(&mut self) -> io::Result<()> {
        let features = self.features.iter_mut().map(|values| {
            let empty = Vec::with_capacity(values.len());
            ColumnValues::Numbers(std::mem::replace(values, empty))
        });
        let codes = [&mut self.groups, &mut self.labels]
            .map(|values| ColumnValues::Codes(std::mem::take(values)));
        let group: Vec<OutputColumn> = self
            .names
            .iter()
            .zip(features.chain(codes))
            .map(|(name, values)| OutputColumn::new(name.clone(), values))
            .collect();
        self.out.write(&group)
    }
}
