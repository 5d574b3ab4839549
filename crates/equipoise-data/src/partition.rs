//! Parts of proxies, packed where they will be summed, and what must be known about them elsewhere.
//!
//! A part starts at a multiple of [`SEGMENT_ROWS`], so its segments are those of the whole proxy, and a round that is
//! divided among processes gives the same bits as one in memory.

use std::ops::Range;

use equipoise_core::{
    PackedPartition, PartialSample, RowSample, SEGMENT_ROWS, SamplePlan, SampledCell,
};

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
    /// The index of the client among those of the round, sorted by id.
    pub client: usize,
    /// The whole proxy in a file, or only these rows in memory.
    pub table: Table,
    /// The rows, counted from 0. The last part of a proxy ends at `u64::MAX`.
    pub rows: Range<u64>,
    /// The client's rows before these, in each cell.
    pub cells_before: Vec<[usize; 2]>,
}

/// What is known about a part after packing it.
#[derive(Debug, Clone, PartialEq)]
pub struct PartSummary {
    /// Number of segments.
    pub n_segments: usize,
    cell_counts: Vec<[usize; 2]>,
    sample: Option<PartialSample>,
    sketch: RowSketch,
    declaration: Declaration,
}

/// What is known about a client's proxy.
#[derive(Debug)]
pub struct ClientSummary {
    /// Rows in each cell.
    pub cell_counts: Vec<[usize; 2]>,
    /// Some of the rows, if the client is sampled.
    pub sample: Option<RowSample>,
    pub(crate) sketch: RowSketch,
    pub(crate) declaration: Declaration,
}

/// Packed rows, and a summary of each part.
pub type PackedParts = (PackedPartition, Vec<PartSummary>);

/// Packs parts of proxies of a round with so many clients. An error comes with the index of its part.
pub fn pack_parts(
    parts: Vec<ProxyPart>,
    n_clients: usize,
    schema: &Schema,
) -> Result<PackedParts, Box<(usize, Error)>> {
    let plan = SamplePlan::new(schema.layout(), n_clients);
    let (mut packed, mut others) = (Vec::new(), Vec::new());
    for (at, ProxyPart { client, table, rows, cells_before }) in parts.into_iter().enumerate() {
        if rows.start % SEGMENT_ROWS as u64 != 0 {
            let problem = format!(
                "part of a proxy starts at row {}, which is not a multiple of {SEGMENT_ROWS}",
                rows.start
            );
            return Err(Box::new((at, Error::Invalid(problem))));
        }
        let sampler = plan.sampler(client).map(|sampler| sampler.after(&cells_before));
        let (part, sketch, declaration) =
            pack_proxy(table, rows, schema, sampler).map_err(|error| Box::new((at, error)))?;
        packed.push(part);
        others.push((sketch, declaration));
    }
    let partition =
        PackedPartition::new(&mut packed).map_err(|error| Box::new((0, Error::Rows(error))))?;
    let parts = packed.iter().zip(others).enumerate();
    let summaries = parts.map(|(at, (part, (sketch, declaration)))| PartSummary {
        n_segments: partition.n_segments(at),
        cell_counts: part.cell_counts().to_vec(),
        sample: part.sample().cloned(),
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
        let (mut samples, mut sketches) = (Vec::new(), Vec::new());
        // All parts are of the same table.
        let declaration = parts.first().map(|part| part.declaration.clone()).unwrap_or_default();
        for part in parts {
            let totals = cell_counts.as_flattened_mut().iter_mut();
            totals.zip(part.cell_counts.as_flattened()).for_each(|(total, n)| *total += n);
            samples.extend(part.sample);
            sketches.push(part.sketch);
        }
        let sample = match samples.is_empty() {
            true => None,
            false => Some(RowSample::of_parts(&layout, &samples)?),
        };
        let sketch = RowSketch::of_parts(&sketches);
        Ok(Self { cell_counts, sample, sketch, declaration })
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
        let cells = self.sample.as_ref().map_or(&[][..], |sample| &sample.cells);
        message.count(cells.len());
        for cell in cells {
            message.count(cell.n_seen);
            message.integers(cell.places.iter().map(|place| u64::from(*place)));
            message.numbers(&cell.x);
        }
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
        let cells = (0..message.count()?).map(|_| {
            Ok(SampledCell {
                n_seen: message.count()?,
                places: message.integers()?.into_iter().map(|place| place as u32).collect(),
                x: message.numbers()?,
            })
        });
        let cells: Vec<SampledCell> = cells.collect::<Result<_, Error>>()?;
        let sample = (!cells.is_empty()).then_some(PartialSample { cells });
        let digests = message.integers()?;
        let below = message.integers()?.first().copied().unwrap_or(0);
        let sketch = RowSketch::stored(digests, below);
        let declaration = Declaration { privacy: message.text()? };
        Ok(Self { n_segments, cell_counts, sample, sketch, declaration })
    }
}

#[cfg(test)]
mod tests;
