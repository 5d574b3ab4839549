//! A block of packed rows.

use crate::kernel::Block;
use crate::kernel::lanes::{Quad, as_bytes, as_bytes_mut};

/// Rows of a client, four to a panel: the entries of all panels, then the counts of all rows, if any.
#[derive(Debug)]
pub(super) struct PackedBlock {
    /// Number of rows without padding.
    pub(super) n_rows: usize,
    /// Whether rows have counts.
    pub(super) counted: bool,
    pub(super) quads: Box<[Quad]>,
}

impl PackedBlock {
    /// The bytes of the block.
    pub(super) fn bytes(&self) -> &[u8] {
        as_bytes(&self.quads)
    }

    /// The block at the start of `bytes`, with rows of `n` entries; moves on. `None` if there are too few bytes.
    pub(super) fn read(
        (n_rows, n): (usize, usize),
        counted: bool,
        bytes: &mut &[u8],
    ) -> Option<Self> {
        let size = n_rows.div_ceil(4).checked_mul(n.checked_add(usize::from(counted))?)?;
        let (block, rest) = bytes.split_at_checked(size.checked_mul(size_of::<Quad>())?)?;
        let mut quads = vec![Quad::default(); size].into_boxed_slice();
        as_bytes_mut(&mut quads).copy_from_slice(block);
        *bytes = rest;
        Some(Self { n_rows, counted, quads })
    }

    /// The block, with rows of `n` entries, in the kernel's format.
    pub(super) fn in_kernel_format(&self, n: usize) -> Block<'_> {
        let (values, counts) = self.quads.split_at(self.n_rows.div_ceil(4) * n);
        Block { values, counts: self.counted.then_some(counts), n_rows: self.n_rows }
    }
}
