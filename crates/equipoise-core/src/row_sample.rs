//! Samples of the clients' rows, on which a defense can measure any model by group.
//!
//! Packed rows have lost their groups and labels, and may be on disk. So a few clients keep some of their rows as they
//! came: up to a fixed number from each cell (group and label), so that small groups are measured well too.

use crate::error::Error;
use crate::rows::{Layout, Rows};

/// The largest number of clients whose rows are sampled. The median over so many is as good as over all.
const MAX_SAMPLED_CLIENTS: usize = 40;
/// The largest number of rows sampled from one client: a rate among them has an error below 0.02.
const MAX_ROWS: usize = 4096;
/// Bytes that all samples of a round may take together, unless that leaves fewer than [`MIN_CELL_ROWS`] per cell.
const MAX_BYTES: usize = 32 << 20;
/// Rows of a cell that are kept in any case.
const MIN_CELL_ROWS: usize = 16;

/// Rows sampled from one client, and how many rows of each cell it has in all.
#[derive(Debug, Clone, PartialEq)]
pub struct RowSample {
    rows: Rows,
    cell_counts: Vec<[usize; 2]>,
}

/// What was sampled of consecutive rows of one client. Samples of all its rows make a [`RowSample`].
#[derive(Debug, Clone, PartialEq)]
pub struct PartialSample {
    /// In the order of groups, each with negatives first.
    pub cells: Vec<SampledCell>,
}

/// The sampled rows of a cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SampledCell {
    /// Number of the client's rows in this cell so far, sampled or not, including those before these rows.
    pub n_seen: usize,
    /// The place of each sampled row in the client's sample. A later row takes the place of an earlier one.
    pub places: Vec<u32>,
    /// The features of the sampled rows.
    pub x: Vec<f64>,
}

impl RowSample {
    /// The sample of all rows of a client, from samples of its consecutive parts.
    pub fn of_parts(layout: &Layout, parts: &[PartialSample]) -> Result<Self, Error> {
        let (mut x, mut groups, mut positive) = (Vec::new(), Vec::new(), Vec::new());
        let n_x = layout.n_x;
        let mut cell_counts = vec![[0; 2]; layout.groups.len()];
        for (at, n_seen) in cell_counts.as_flattened_mut().iter_mut().enumerate() {
            let start = x.len();
            for cell in parts.iter().filter_map(|part| part.cells.get(at)) {
                for (i, &place) in cell.places.iter().enumerate() {
                    let (row, to) =
                        (cell.x.get(i * n_x..(i + 1) * n_x), start + place as usize * n_x);
                    let Some(row) = row.filter(|_| to <= x.len()) else {
                        return Err(Error::Input("the parts of a sample do not fit".to_owned()));
                    };
                    if to == x.len() {
                        x.extend_from_slice(row);
                        groups.push((at / 2) as u8);
                        positive.push(at % 2 == 1);
                    } else {
                        x[to..to + n_x].copy_from_slice(row);
                    }
                }
                *n_seen = cell.n_seen;
            }
        }
        let rows = Rows::new(layout.clone(), &x, &groups, &positive)?;
        Ok(Self { rows, cell_counts })
    }

    /// The sampled rows. The order means nothing.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Number of rows of the client in each cell `[group][y]`, sampled or not.
    pub fn cell_counts(&self) -> &[[usize; 2]] {
        &self.cell_counts
    }
}

/// Which clients of a round are sampled, and how many rows of each cell they keep.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplePlan {
    layout: Layout,
    n_clients: usize,
    cell_rows: usize,
}

impl SamplePlan {
    /// The plan for a round of so many clients.
    pub fn new(layout: Layout, n_clients: usize) -> Self {
        let n_sampled = n_clients.clamp(1, MAX_SAMPLED_CLIENTS);
        let affordable = MAX_BYTES / (n_sampled * row_bytes(&layout));
        let n_cells = 2 * layout.groups.len();
        let cell_rows = (affordable.min(MAX_ROWS) / n_cells).max(MIN_CELL_ROWS);
        Self { layout, n_clients, cell_rows }
    }

    /// Whether this client is sampled. Clients are chosen at equal distances in the order of their ids.
    pub fn includes(&self, client: usize) -> bool {
        let n_sampled = self.n_clients.min(MAX_SAMPLED_CLIENTS);
        // The first client at or after each multiple of n_clients / n_sampled.
        client == 0
            || client * n_sampled / self.n_clients != (client - 1) * n_sampled / self.n_clients
    }

    /// A sampler for this client, if it is sampled.
    pub fn sampler(&self, client: usize) -> Option<RowSampler> {
        self.includes(client).then(|| RowSampler::new(&self.layout, self.cell_rows))
    }
}

fn row_bytes(layout: &Layout) -> usize {
    (layout.n() + 1) * size_of::<f64>() + 1
}

/// Samples the rows of one client, chunk by chunk. The result depends on the order of the rows, not on the chunks.
#[derive(Debug)]
pub struct RowSampler {
    n_x: usize,
    cell_rows: usize,
    /// In the order of groups, each with negatives first.
    cells: Vec<SampledCell>,
    /// For each cell, where the row at each place of the sample is.
    kept: Vec<Vec<Option<usize>>>,
}

impl RowSampler {
    fn new(layout: &Layout, cell_rows: usize) -> Self {
        let n_cells = 2 * layout.groups.len();
        Self {
            n_x: layout.n_x,
            cell_rows,
            cells: vec![SampledCell::default(); n_cells],
            kept: vec![vec![None; cell_rows]; n_cells],
        }
    }

    /// Starts after other rows of the same client, given their number in each cell.
    pub fn after(mut self, cell_counts: &[[usize; 2]]) -> Self {
        let cells = self.cells.iter_mut().zip(cell_counts.as_flattened());
        cells.for_each(|(cell, before)| cell.n_seen = *before);
        self
    }

    /// Adds rows, by reservoir sampling: every row of a cell is equally likely to be kept.
    pub(crate) fn add(&mut self, rows: &Rows) {
        let n_x = self.n_x;
        for i in 0..rows.len() {
            let at = 2 * rows.group(i) + usize::from(rows.is_positive(i));
            let cell = &mut self.cells[at];
            let place = match cell.n_seen {
                n if n < self.cell_rows => n,
                n => (scramble(n as u64) % (n as u64 + 1)) as usize,
            };
            cell.n_seen += 1;
            let Some(kept) = self.kept[at].get_mut(place) else { continue };
            match *kept {
                Some(row) => cell.x[row * n_x..(row + 1) * n_x].copy_from_slice(rows.x(i)),
                None => {
                    *kept = Some(cell.places.len());
                    cell.places.push(place as u32);
                    cell.x.extend_from_slice(rows.x(i));
                }
            }
        }
    }

    /// The sample, once all rows have been added.
    pub(crate) fn finish(self) -> PartialSample {
        PartialSample { cells: self.cells }
    }
}

/// The output function of SplitMix64: a fixed sequence that looks random.
fn scramble(index: u64) -> u64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests;
