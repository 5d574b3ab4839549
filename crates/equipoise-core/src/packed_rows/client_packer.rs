//! Packs the rows of one client, chunk by chunk.

use rayon::prelude::*;

use super::column_summary::ColumnSummary;
use super::distinct_rows::DistinctRows;
use super::packed_block::PackedBlock;
use super::{BLOCK_ROWS, SEGMENT_ROWS};
use crate::error::Error;
use crate::kernel::lanes::Quad;
use crate::row_sample::{PartialSample, RowSampler};
use crate::rows::{Layout, Rows};

/// Packs the rows of one client, chunk by chunk. The result does not depend on the chunks.
///
/// Whether merging equal rows is worthwhile is known only at the end of a segment. Until then rows are packed one by one,
/// and the distinct rows are collected as long as they are few enough. Then one of the two is dropped.
pub struct ClientPacker {
    layout: Layout,
    /// `None` once merging is known not to be worthwhile.
    distinct: Option<DistinctRows>,
    open: OpenBlock,
    /// The blocks of the segment that is being packed.
    blocks: Vec<PackedBlock>,
    /// Rows in that segment.
    n_rows: usize,
    segments: Vec<Vec<PackedBlock>>,
    cell_counts: Vec<[usize; 2]>,
    sampler: Option<RowSampler>,
    /// Of that segment.
    columns: ColumnSummary,
    /// Of the segments before it.
    columns_before: Vec<ColumnSummary>,
}

/// The rows of one client, packed.
#[derive(Debug)]
pub struct PackedClient {
    pub(super) layout: Layout,
    /// The blocks of each segment.
    pub(super) segments: Vec<Vec<PackedBlock>>,
    pub(super) cell_counts: Vec<[usize; 2]>,
    pub(super) sample: Option<PartialSample>,
    /// Sums over the columns of each segment.
    pub(super) columns: Vec<ColumnSummary>,
}

/// A block that is being filled.
#[derive(Default)]
struct OpenBlock {
    quads: Vec<Quad>,
    n_rows: usize,
}

impl ClientPacker {
    /// For rows of this layout.
    pub fn new(layout: Layout) -> Self {
        Self {
            distinct: Some(DistinctRows::new(layout.n())),
            open: OpenBlock::default(),
            blocks: Vec::new(),
            n_rows: 0,
            segments: Vec::new(),
            cell_counts: vec![[0; 2]; layout.groups.len()],
            sampler: None,
            columns: ColumnSummary::new(layout.n()),
            columns_before: Vec::new(),
            layout,
        }
    }

    /// Also keeps a sample of the rows, if there is a sampler.
    pub fn with_sampler(self, sampler: Option<RowSampler>) -> Self {
        Self { sampler, ..self }
    }

    /// Packs more rows.
    pub fn push(&mut self, rows: &Rows) -> Result<(), Error> {
        if *rows.layout() != self.layout {
            return Err(Error::layouts(&self.layout, rows.layout()));
        }
        for i in 0..rows.len() {
            if self.n_rows == SEGMENT_ROWS {
                self.close_segment();
            }
            self.n_rows += 1;
            if self.distinct.as_mut().is_some_and(|distinct| !distinct.add(rows, i)) {
                self.distinct = None;
            }
            self.open.push(rows.a(i), rows.labels()[i]);
            self.columns.add(rows.a(i));
            if self.open.n_rows == BLOCK_ROWS {
                self.blocks.push(self.open.close(&[]));
            }
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.add(rows);
        }
        let totals = self.cell_counts.as_flattened_mut().iter_mut();
        totals.zip(rows.cell_counts().as_flattened()).for_each(|(total, new)| *total += new);
        Ok(())
    }

    /// The packed rows, once all have been pushed.
    pub fn finish(mut self) -> PackedClient {
        self.close_segment();
        let Self { layout, segments, cell_counts, sampler, columns_before, .. } = self;
        let sample = sampler.map(RowSampler::finish);
        PackedClient { layout, segments, cell_counts, sample, columns: columns_before }
    }

    /// Ends a segment and starts the next one.
    fn close_segment(&mut self) {
        match self.distinct.take().filter(DistinctRows::are_worth_merging) {
            Some(distinct) => self.pack_distinct(&distinct),
            None if self.open.n_rows > 0 => {
                self.blocks.push(self.open.close(&[]));
            }
            None => {}
        }
        let n = self.layout.n();
        self.segments.push(std::mem::take(&mut self.blocks));
        self.columns_before.push(std::mem::replace(&mut self.columns, ColumnSummary::new(n)));
        self.distinct = Some(DistinctRows::new(n));
        self.n_rows = 0;
    }

    /// Replaces the rows with the distinct rows and their counts.
    fn pack_distinct(&mut self, distinct: &DistinctRows) {
        self.blocks.clear();
        self.open = OpenBlock::default();
        for start in (0..distinct.len()).step_by(BLOCK_ROWS) {
            let block = start..distinct.len().min(start + BLOCK_ROWS);
            let mut counts = vec![Quad::default(); block.len().div_ceil(4)];
            for (at, index) in block.enumerate() {
                let (a, label, count) = distinct.get(index);
                self.open.push(a, label);
                counts[at / 4].0[at % 4] = count;
            }
            self.blocks.push(self.open.close(&counts));
        }
    }
}

impl PackedClient {
    /// Packs rows in memory without merging, in parallel.
    pub(super) fn unmerged(rows: &Rows) -> Self {
        let (layout, cell_counts) = (rows.layout().clone(), rows.cell_counts());
        let n = layout.n();
        let block = |start: usize| {
            let end = rows.len().min(start + BLOCK_ROWS);
            let size = (end - start).div_ceil(4) * n;
            let mut open = OpenBlock { quads: Vec::with_capacity(size), n_rows: 0 };
            (start..end).for_each(|i| open.push(rows.a(i), rows.labels()[i]));
            PackedBlock {
                n_rows: open.n_rows,
                counted: false,
                quads: open.quads.into_boxed_slice(),
            }
        };
        let segment = |start: usize| {
            let end = rows.len().min(start + SEGMENT_ROWS);
            (start..end).into_par_iter().step_by(BLOCK_ROWS).map(block).collect()
        };
        let starts = || (0..rows.len().max(1)).step_by(SEGMENT_ROWS);
        let summary = |start: usize| ColumnSummary::of_range(rows, start, SEGMENT_ROWS);
        let (segments, columns) =
            rayon::join(|| starts().map(segment).collect(), || starts().map(summary).collect());
        Self { layout, segments, cell_counts, sample: None, columns }
    }

    /// Number of rows before merging.
    pub fn n_rows(&self) -> usize {
        self.cell_counts.as_flattened().iter().sum()
    }

    /// Number of rows in each cell, as in [`Rows::cell_counts`].
    pub fn cell_counts(&self) -> &[[usize; 2]] {
        &self.cell_counts
    }

    /// Sums over the columns of each segment.
    pub fn columns(&self) -> &[ColumnSummary] {
        &self.columns
    }

    /// The rows sampled, if there was a sampler.
    pub fn sample(&self) -> Option<&PartialSample> {
        self.sample.as_ref()
    }
}

impl OpenBlock {
    /// Adds `y·a` to the last panel, or to a new one if that is full.
    fn push(&mut self, a: &[f64], label: f64) {
        let lane = self.n_rows % 4;
        if lane == 0 {
            self.quads.resize(self.quads.len() + a.len(), Quad::default());
        }
        self.n_rows += 1;
        let start = self.quads.len() - a.len();
        // Adding 0 turns −0 into 0, so that the label leaves no trace in a 0.
        self.quads[start..].iter_mut().zip(a).for_each(|(q, v)| q.0[lane] = label * v + 0.0);
    }

    /// Ends the block and starts the next one.
    fn close(&mut self, counts: &[Quad]) -> PackedBlock {
        self.quads.extend_from_slice(counts);
        let size = self.quads.len();
        let n_rows = std::mem::take(&mut self.n_rows);
        let quads = std::mem::take(&mut self.quads).into_boxed_slice();
        // The first block grows with its rows because most clients of a large round are small.
        if n_rows == BLOCK_ROWS {
            self.quads.reserve_exact(size);
        }
        PackedBlock { n_rows, counted: !counts.is_empty(), quads }
    }
}
