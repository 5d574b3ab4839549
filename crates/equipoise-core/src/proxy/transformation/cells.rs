//! Rows as cells: a few columns in a few bins each.
//!
//! Numbers are cut at fixed multiples of the schema's scale, the quartiles of a normal distribution, so the edges say nothing about
//! the data. The combinations of all columns would be too many. Columns are added in the order of their mutual
//! information with the label, each unless the cells become too many or too small, and a small cell joins the nearest other.

use crate::proxy::{EncodedColumn, EncodedColumns};
use crate::rows::Rows;
use std::collections::BTreeMap;
use std::ops::Range;

/// Where numbers are cut, in units of the schema's scale.
const EDGES: [f64; 3] = [-0.6745, 0.0, 0.6745];

/// Maximum number of cells.
const MAX_CELLS: usize = 32;

/// Rows of the smallest cell, so that a cell reveals nothing about one person.
const MIN_CELL_ROWS: usize = 20;

/// The largest share of rows that may be in cells that are too small.
const MAX_SMALL: f64 = 0.1;

/// A table's rows as cells.
pub(super) struct Cells {
    /// The bin of each chosen column, cell by cell.
    bins: Vec<Vec<usize>>,
    /// Whether bins of the column are ordered.
    is_ordered: Vec<bool>,
    of_rows: Vec<usize>,
}

impl Cells {
    pub(super) fn of(rows: &Rows, columns: &EncodedColumns) -> Self {
        let mut binned: Vec<(f64, bool, Vec<usize>)> = columns
            .iter()
            .map(|(column, place)| {
                let bins: Vec<usize> =
                    (0..rows.len()).map(|i| bin(column, place.clone(), rows.x(i))).collect();
                (information(&bins, rows), column == EncodedColumn::Number, bins)
            })
            .collect();
        // A stable sort: columns that are equally informative stay in the order of the schema.
        binned.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut is_ordered = Vec::new();
        let mut keys: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
        for (_, ordered, bins) in binned {
            let extended: Vec<Vec<usize>> =
                keys.iter().zip(&bins).map(|(key, &bin)| [&key[..], &[bin]].concat()).collect();
            if are_useful(&extended) {
                keys = extended;
                is_ordered.push(ordered);
            }
        }
        Self::merged(keys, is_ordered)
    }

    /// The cells of these keys, of which small ones join the nearest.
    fn merged(keys: Vec<Vec<usize>>, is_ordered: Vec<bool>) -> Self {
        let counts = count(&keys);
        let large = |n: usize| n >= MIN_CELL_ROWS || counts.len() == 1;
        let bins: Vec<Vec<usize>> =
            counts.iter().filter(|(_, n)| large(**n)).map(|(key, _)| key.clone()).collect();
        let nearest = |key: &Vec<usize>| {
            let of = |cell: &usize| distance(key, &bins[*cell], &is_ordered);
            (0..bins.len()).min_by_key(of).unwrap_or(0)
        };
        let cells: BTreeMap<&Vec<usize>, usize> =
            counts.keys().map(|key| (key, nearest(key))).collect();
        let of_rows = keys.iter().map(|key| cells.get(key).copied().unwrap_or(0)).collect();
        Self { bins, is_ordered, of_rows }
    }

    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        self.bins.len()
    }

    /// The cell of every row.
    pub(super) fn of_rows(&self) -> &[usize] {
        &self.of_rows
    }

    /// How far each cell is from each other, in bins, row by row.
    pub(super) fn distances(&self) -> Vec<usize> {
        let from = |a: &Vec<usize>| {
            self.bins.iter().map(|b| distance(a, b, &self.is_ordered)).collect::<Vec<_>>()
        };
        self.bins.iter().flat_map(from).collect()
    }
}

/// Bins moved: steps between ordered bins, 1 for another level.
fn distance(a: &[usize], b: &[usize], is_ordered: &[bool]) -> usize {
    let columns = a.iter().zip(b).zip(is_ordered);
    columns
        .map(|((a, b), ordered)| if *ordered { a.abs_diff(*b) } else { usize::from(a != b) })
        .sum()
}

fn bin(column: EncodedColumn, place: Range<usize>, x: &[f64]) -> usize {
    let values = &x[place];
    match column {
        EncodedColumn::Number => EDGES.iter().filter(|edge| values[0] > **edge).count(),
        EncodedColumn::Levels { n, .. } => values.iter().position(|v| *v > 0.5).unwrap_or(n),
    }
}

/// Whether cells with these keys are few, and nearly all rows are in large ones.
fn are_useful(keys: &[Vec<usize>]) -> bool {
    let counts = count(keys);
    let large = counts.values().filter(|n| **n >= MIN_CELL_ROWS);
    let in_small: usize = counts.values().filter(|n| **n < MIN_CELL_ROWS).sum();
    (1..=MAX_CELLS).contains(&large.count()) && in_small as f64 <= MAX_SMALL * keys.len() as f64
}

fn count(keys: &[Vec<usize>]) -> BTreeMap<Vec<usize>, usize> {
    let mut counts = BTreeMap::new();
    for key in keys {
        match counts.get_mut(key) {
            Some(n) => *n += 1,
            None => drop(counts.insert(key.clone(), 1)),
        }
    }
    counts
}

/// The mutual information of bins and label, in nats.
fn information(bins: &[usize], rows: &Rows) -> f64 {
    let mut counts: BTreeMap<usize, [f64; 2]> = BTreeMap::new();
    let mut labels = [0.0; 2];
    for (i, &bin) in bins.iter().enumerate() {
        let label = usize::from(rows.is_positive(i));
        counts.entry(bin).or_default()[label] += 1.0;
        labels[label] += 1.0;
    }
    let n = bins.len() as f64;
    let term = |both: f64, bin: f64, label: f64| {
        if both > 0.0 { both / n * (both * n / (bin * label)).ln() } else { 0.0 }
    };
    counts.values().map(|c| (0..2).map(|y| term(c[y], c[0] + c[1], labels[y])).sum::<f64>()).sum()
}

#[cfg(test)]
mod tests;
