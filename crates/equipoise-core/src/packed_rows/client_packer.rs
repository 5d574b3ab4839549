//! Packs the rows of one client, which come in pieces.

use super::BLOCK_ROWS;
use super::block_keeper::{BlockKeeper, PackedBlock};
use super::kinds::Kinds;
use crate::error::Error;
use crate::kernel::lanes::Quad;
use crate::rows::{Layout, Rows};

/// Packs the rows of one client, piece by piece; how they are cut into pieces changes nothing.
///
/// Whether equal rows are worth merging shows at the end. Until then rows are packed one by one and the kinds of
/// rows are collected beside, as long as they are few enough; then one of the two is thrown away.
pub struct ClientPacker {
    layout: Layout,
    keeper: BlockKeeper,
    /// `None` where merging does not pay, or is not wanted.
    kinds: Option<Kinds>,
    open: OpenBlock,
    blocks: Vec<PackedBlock>,
    counts: [[usize; 2]; 2],
}

/// The rows of one client, packed.
#[derive(Debug)]
pub struct PackedClient {
    pub(super) layout: Layout,
    pub(super) blocks: Vec<PackedBlock>,
    /// Rows that came; fewer are kept where equal ones are merged.
    pub(super) n_rows: usize,
    counts: [[usize; 2]; 2],
}

/// A block that is being filled.
#[derive(Default)]
struct OpenBlock {
    quads: Vec<Quad>,
    n_rows: usize,
}

impl ClientPacker {
    /// For rows of this layout, kept by `keeper`.
    pub fn new(layout: Layout, keeper: &BlockKeeper) -> Self {
        Self {
            layout,
            keeper: keeper.clone(),
            kinds: Some(Kinds::new(layout.n())),
            open: OpenBlock::default(),
            blocks: Vec::new(),
            counts: [[0; 2]; 2],
        }
    }

    /// Bytes that a packer needs at most for rows of `n` entries, beside the blocks that its keeper has.
    pub fn most_bytes(n: usize) -> usize {
        Kinds::most_bytes(n) + 2 * Self::block_bytes(n)
    }

    /// Bytes of the largest block of rows of `n` entries: what is written to a [`Spill`](crate::Spill) in one go.
    pub fn block_bytes(n: usize) -> usize {
        BLOCK_ROWS / 4 * (n + 1) * size_of::<Quad>()
    }

    /// Packs more rows.
    pub fn push(&mut self, rows: &Rows) -> Result<(), Error> {
        if rows.layout() != self.layout {
            let (expected, found) = (self.layout.n(), rows.layout().n());
            return Err(Error::Features { expected, found });
        }
        for i in 0..rows.len() {
            if self.kinds.as_mut().is_some_and(|kinds| !kinds.add(rows, i)) {
                self.kinds = None;
            }
            self.open.push(rows.a(i), rows.labels()[i]);
            if self.open.n_rows == BLOCK_ROWS {
                self.blocks.push(self.open.close(&[], &self.keeper)?);
            }
        }
        for (all, new) in
            self.counts.as_flattened_mut().iter_mut().zip(rows.cell_counts().as_flattened())
        {
            *all += new;
        }
        Ok(())
    }

    /// All rows have come.
    pub fn finish(mut self) -> Result<PackedClient, Error> {
        let n_rows = self.counts.as_flattened().iter().sum();
        match self.kinds.take().filter(Kinds::are_worth_merging) {
            Some(kinds) => self.keep_kinds(&kinds)?,
            None if self.open.n_rows > 0 => {
                self.blocks.push(self.open.close(&[], &self.keeper)?);
            }
            None => {}
        }
        let Self { layout, blocks, counts, .. } = self;
        Ok(PackedClient { layout, blocks, n_rows, counts })
    }

    /// Each kind once, with its count, instead of the rows.
    fn keep_kinds(&mut self, kinds: &Kinds) -> Result<(), Error> {
        self.blocks.drain(..).for_each(|block| self.keeper.forget(block));
        self.open = OpenBlock::default();
        for start in (0..kinds.len()).step_by(BLOCK_ROWS) {
            let block = start..kinds.len().min(start + BLOCK_ROWS);
            let mut counts = vec![Quad::default(); block.len().div_ceil(4)];
            for (at, kind) in block.enumerate() {
                let (a, label, count) = kinds.get(kind);
                self.open.push(a, label);
                counts[at / 4].0[at % 4] = count;
            }
            self.blocks.push(self.open.close(&counts, &self.keeper)?);
        }
        Ok(())
    }
}

impl PackedClient {
    pub(super) fn of_blocks(rows: &Rows, blocks: Vec<PackedBlock>) -> Self {
        let (n_rows, counts) = (rows.len(), rows.cell_counts());
        Self { layout: rows.layout(), blocks, n_rows, counts }
    }

    /// Number of rows that came.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// How many rows each cell has, as [`Rows::cell_counts`] tells.
    pub fn cell_counts(&self) -> [[usize; 2]; 2] {
        self.counts
    }
}

impl OpenBlock {
    fn push(&mut self, a: &[f64], label: f64) {
        let lane = self.n_rows % 4;
        if lane == 0 {
            self.quads.resize(self.quads.len() + a.len(), Quad::default());
        }
        self.n_rows += 1;
        let start = self.quads.len() - a.len();
        pack_row(&mut self.quads[start..], lane, a, label);
    }

    /// Hands the block over and begins the next one.
    fn close(&mut self, counts: &[Quad], keeper: &BlockKeeper) -> Result<PackedBlock, Error> {
        self.quads.extend_from_slice(counts);
        let size = self.quads.len();
        let n_rows = std::mem::take(&mut self.n_rows);
        let block = keeper.keep(&mut self.quads, n_rows, !counts.is_empty())?;
        // The first block grows with its rows, for most clients of a large round are small.
        if n_rows == BLOCK_ROWS {
            self.quads.reserve_exact(size);
        }
        Ok(block)
    }
}

/// Puts `y·a` into one of the four places of a panel.
#[inline(always)]
pub(super) fn pack_row(panel: &mut [Quad], lane: usize, a: &[f64], label: f64) {
    // Adding 0 makes −0 a 0: labels must not tell equal rows apart.
    panel.iter_mut().zip(a).for_each(|(quad, v)| quad.0[lane] = label * v + 0.0);
}
