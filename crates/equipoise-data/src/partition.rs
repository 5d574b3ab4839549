//! Parts of proxies, packed where they will be summed, and what must be known about them elsewhere.
//!
//! A part starts at a multiple of [`SEGMENT_ROWS`], so its segments are those of the whole proxy, and a round that is
//! divided among processes gives the same bits as one in memory.

use std::ops::Range;

use equipoise_core::{PackedPartition, SEGMENT_ROWS};

use crate::error::Error;
use crate::proxy::Declaration;
use crate::round::pack_proxy;
use crate::row_sketch::RowSketch;
use crate::schema::Schema;
use crate::table::Table;
use crate::wire::{WireReader, WireWriter};

/// Consecutive rows of a proxy.
#[derive(Debug)]
pub struct ProxyPart {
    /// The whole proxy in a file, or only these rows in memory.
    pub table: Table,
    /// The rows, counted from 0. The last part of a proxy ends at `u64::MAX`.
    pub rows: Range<u64>,
}

/// What is known about a part after packing it.
#[derive(Debug, Clone, PartialEq)]
pub struct PartSummary {
    /// Number of segments.
    pub n_segments: usize,
    cell_counts: Vec<[usize; 2]>,
    sketch: RowSketch,
    declaration: Declaration,
}

/// What is known about a client's proxy.
#[derive(Debug)]
pub struct ClientSummary {
    /// Rows in each cell.
    pub cell_counts: Vec<[usize; 2]>,
    pub(crate) sketch: RowSketch,
    pub(crate) declaration: Declaration,
}

/// Packed rows, and a summary of each part.
pub type PackedParts = (PackedPartition, Vec<PartSummary>);

/// Packs parts of proxies. An error comes with the index of its part.
pub fn pack_parts(
    parts: Vec<ProxyPart>,
    schema: &Schema,
) -> Result<PackedParts, Box<(usize, Error)>> {
    let (mut packed, mut others) = (Vec::new(), Vec::new());
    for (at, ProxyPart { table, rows }) in parts.into_iter().enumerate() {
        if rows.start % SEGMENT_ROWS as u64 != 0 {
            let problem = format!(
                "part of a proxy starts at row {}, which is not a multiple of {SEGMENT_ROWS}",
                rows.start
            );
            return Err(Box::new((at, Error::Invalid(problem))));
        }
        let (part, sketch, declaration) =
            pack_proxy(table, rows, schema).map_err(|error| Box::new((at, error)))?;
        packed.push(part);
        others.push((sketch, declaration));
    }
    let partition =
        PackedPartition::new(&mut packed).map_err(|error| Box::new((0, Error::Rows(error))))?;
    let parts = packed.iter().zip(others).enumerate();
    let summaries = parts.map(|(at, (part, (sketch, declaration)))| PartSummary {
        n_segments: partition.n_segments(at),
        cell_counts: part.cell_counts().to_vec(),
        sketch,
        declaration,
    });
    let summaries = summaries.collect();
    Ok((partition, summaries))
}

impl ClientSummary {
    /// The summary of a proxy, from those of its parts in order.
    pub fn of_parts(schema: &Schema, parts: Vec<PartSummary>) -> Result<Self, Error> {
        let layout = schema.layout();
        let mut cell_counts = vec![[0; 2]; layout.groups.len()];
        let mut sketches = Vec::new();
        // All parts are of the same table.
        let declaration = parts.first().map(|part| part.declaration.clone()).unwrap_or_default();
        for part in parts {
            let totals = cell_counts.as_flattened_mut().iter_mut();
            totals.zip(part.cell_counts.as_flattened()).for_each(|(total, n)| *total += n);
            sketches.push(part.sketch);
        }
        let sketch = RowSketch::of_parts(&sketches);
        Ok(Self { cell_counts, sketch, declaration })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.cell_counts.as_flattened().iter().sum()
    }
}

impl PartSummary {
    /// Appends the summary to a message.
    pub fn write(&self, message: &mut WireWriter) {
        message.count(self.n_segments);
        message.integers(self.cell_counts.as_flattened().iter().map(|n| *n as u64));
        message.integers(self.sketch.digests().iter().copied());
        message.integers([self.sketch.below()].into_iter());
        message.text(self.declaration.privacy.as_deref());
    }

    /// Reads a summary from a message.
    pub fn read(message: &mut WireReader<'_>) -> Result<Self, Error> {
        let n_segments = message.count()?;
        let cell_counts = message.integers()?;
        let (pairs, _) = cell_counts.as_chunks::<2>();
        let cell_counts = pairs.iter().map(|pair| pair.map(|n| n as usize)).collect();
        let digests = message.integers()?;
        let below = message.integers()?.first().copied().unwrap_or(0);
        let sketch = RowSketch::stored(digests, below);
        let declaration = Declaration { privacy: message.text()? };
        Ok(Self { n_segments, cell_counts, sketch, declaration })
    }
}

#[cfg(test)]
mod tests;
