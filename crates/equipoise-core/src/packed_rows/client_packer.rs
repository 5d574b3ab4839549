//! Packs the rows of one client, chunk by chunk.

use super::BLOCK_ROWS;
use crate::error::Error;
use crate::kernel::Block;
use crate::kernel::lanes::Quad;
use crate::row_spacing::mark;
use crate::rows::{Layout, Rows};

/// Packs the rows of one client, chunk by chunk. The result does not depend on the chunks.
pub struct ClientPacker {
    layout: Layout,
    /// The panels of the block that is being filled.
    panels: Vec<Quad>,
    /// Rows in that block.
    n_open: usize,
    blocks: Vec<Block>,
    cell_counts: Vec<[usize; 2]>,
    /// Group and label of each row.
    marks: Vec<u8>,
}

/// The rows of one client, packed.
#[derive(Debug)]
pub struct PackedClient {
    pub(super) layout: Layout,
    pub(super) blocks: Vec<Block>,
    pub(super) cell_counts: Vec<[usize; 2]>,
    pub(super) marks: Vec<u8>,
}

impl ClientPacker {
    /// For rows of this layout.
    pub fn new(layout: Layout) -> Self {
        Self {
            panels: Vec::new(),
            n_open: 0,
            blocks: Vec::new(),
            cell_counts: vec![[0; 2]; layout.groups.len()],
            marks: Vec::new(),
            layout,
        }
    }

    /// Packs more rows.
    pub fn push(&mut self, rows: &Rows) -> Result<(), Error> {
        if *rows.layout() != self.layout {
            return Err(Error::layouts(&self.layout, rows.layout()));
        }
        for i in 0..rows.len() {
            self.push_row(rows.a(i), rows.labels()[i]);
        }
        let marks = (0..rows.len()).map(|i| mark(rows.group(i), rows.is_positive(i)));
        self.marks.extend(marks);
        let totals = self.cell_counts.as_flattened_mut().iter_mut();
        totals.zip(rows.cell_counts().as_flattened()).for_each(|(total, new)| *total += new);
        Ok(())
    }

    /// Adds `y·a` to the last panel, or to a new one if that is full.
    fn push_row(&mut self, a: &[f64], label: f64) {
        let lane = self.n_open % 4;
        if lane == 0 {
            self.panels.resize(self.panels.len() + a.len(), Quad::default());
        }
        let start = self.panels.len() - a.len();
        // Adding 0 turns −0 into 0, so that the label leaves no trace in a 0.
        self.panels[start..].iter_mut().zip(a).for_each(|(q, v)| q.0[lane] = label * v + 0.0);
        self.n_open += 1;
        if self.n_open == BLOCK_ROWS {
            self.close_block();
            // The first block grows with its rows because most clients of a large round are small.
            self.panels.reserve_exact(BLOCK_ROWS / 4 * a.len());
        }
    }

    fn close_block(&mut self) {
        let values = std::mem::take(&mut self.panels).into_boxed_slice();
        self.blocks.push(Block { values, n_rows: std::mem::take(&mut self.n_open) });
    }

    /// The packed rows, once all have been pushed.
    pub fn finish(mut self) -> PackedClient {
        if self.n_open > 0 {
            self.close_block();
        }
        let Self { layout, blocks, cell_counts, marks, .. } = self;
        PackedClient { layout, blocks, cell_counts, marks }
    }
}

impl PackedClient {
    /// Number of rows in each cell, as in [`Rows::cell_counts`].
    pub fn cell_counts(&self) -> &[[usize; 2]] {
        &self.cell_counts
    }
}
