//! Counts, sums and products of clipped rows, released with noise.
//!
//! Every number is a sum of integers over rows, so it is exact, and so is its sensitivity. Each raw column contributes a
//! vector of length at most 1 (in units of [`UNIT`]): a number divided by its bound, or the indicator of a level. So
//! with `m` columns, one row changes the count and sums of its cell by at most `√(1 + m)`, and the products of two
//! columns, each pair once, by at most `√(m (m − 1) / 2)`. The products of two levels of the same column need no release:
//! a row has at most one of them. Squares of numbers add 1 each under the root.

use std::ops::Range;

use super::super::blocks::map_blocks;
use super::super::columns::{ClientData, EncodedColumn, EncodedColumns};
use super::{Budget, CLIP, Release, UNIT};
use crate::error::Error;
use crate::rows::Rows;

/// Noisy sums over the rows of each cell, in units in which a column has length at most 1.
#[derive(Debug, Clone)]
pub(in crate::proxy) struct NoisyMoments {
    /// Rows in each cell, by group and label.
    pub(super) counts: Vec<f64>,
    /// Sums of features in each cell.
    pub(super) sums: Vec<Vec<f64>>,
    /// The standard deviation of the noise in each of these.
    pub(super) sum_noise: f64,
    /// Sums of products of features over all rows, as a lower triangle. Those within a column of levels are computed
    /// from the sums.
    pub(super) products: Vec<f64>,
    /// The standard deviation of the noise in those released.
    pub(super) product_noise: f64,
}

impl NoisyMoments {
    /// Two releases of the budget.
    pub(in crate::proxy) fn release(
        data: &ClientData<'_>,
        budget: &mut Budget,
    ) -> Result<Self, Error> {
        let Totals { mut cells, mut products } = Totals::of(data.rows, &data.columns);
        let (n_x, columns) = (data.columns.n_x(), &data.columns);
        let m = columns.columns().len() as u64;
        let unit = UNIT as u64;
        let sum_noise =
            budget.release(Release::CountsAndSums, unit * unit * (1 + m), &mut cells)?;
        let numbers =
            columns.columns().iter().filter(|c| **c == EncodedColumn::Number).count() as u64;
        let pairs = m * m.saturating_sub(1) / 2 + numbers;
        let product_noise =
            budget.release(Release::Products, unit.pow(4) * pairs.max(1), &mut products)?;
        let unit = UNIT as f64;
        let cells: Vec<Vec<f64>> = cells
            .chunks_exact(1 + n_x)
            .map(|cell| cell.iter().map(|&sum| sum as f64 / unit).collect())
            .collect();
        let counts = cells.iter().map(|cell| cell[0]).collect();
        let sums: Vec<Vec<f64>> = cells.iter().map(|cell| cell[1..].to_vec()).collect();
        let triangle = fill_triangle(&products, &sums, columns);
        Ok(Self {
            counts,
            sums,
            sum_noise: sum_noise / unit,
            products: triangle,
            product_noise: product_noise / (unit * unit),
        })
    }
}

/// What the unit of each feature is worth in encoded units.
pub(super) fn feature_units(columns: &EncodedColumns) -> Vec<f64> {
    let unit = |column| match column {
        EncodedColumn::Number => CLIP,
        EncodedColumn::Levels { .. } => 1.0,
    };
    columns.iter().flat_map(|(column, place)| vec![unit(column); place.len()]).collect()
}

/// The exact sums.
struct Totals {
    /// For each cell: count and sums, in units of 1/[`UNIT`].
    cells: Vec<i64>,
    /// The products that are released, in units of 1/[`UNIT`]².
    products: Vec<i64>,
}

impl Totals {
    fn of(rows: &Rows, columns: &EncodedColumns) -> Self {
        let released = released_products(columns);
        // Integers add up to the same in any order.
        let blocks =
            map_blocks(rows.len(), |range| Self::of_range(rows, range, columns, &released));
        blocks
            .into_iter()
            .reduce(Self::plus)
            .unwrap_or_else(|| Self::of_range(rows, 0..0, columns, &released))
    }

    fn of_range(
        rows: &Rows,
        range: Range<usize>,
        columns: &EncodedColumns,
        released: &[(usize, usize)],
    ) -> Self {
        let n_x = columns.n_x();
        let mut cells = vec![0; 2 * rows.layout().groups.len() * (1 + n_x)];
        let mut products = vec![0; released.len()];
        let mut features = vec![0; n_x];
        for i in range {
            clip(rows.x(i), columns, &mut features);
            let cell = 2 * rows.group(i) + usize::from(rows.is_positive(i));
            let cell = &mut cells[cell * (1 + n_x)..(cell + 1) * (1 + n_x)];
            cell[0] += UNIT;
            cell[1..].iter_mut().zip(&features).for_each(|(sum, v)| *sum += v);
            for (sum, &(a, b)) in products.iter_mut().zip(released) {
                *sum += features[a] * features[b];
            }
        }
        Self { cells, products }
    }

    fn plus(mut self, other: Self) -> Self {
        self.cells.iter_mut().zip(other.cells).for_each(|(sum, v)| *sum += v);
        self.products.iter_mut().zip(other.products).for_each(|(sum, v)| *sum += v);
        self
    }
}

/// A row as integers between −[`UNIT`] and [`UNIT`], whatever it contains.
fn clip(x: &[f64], columns: &EncodedColumns, features: &mut [i64]) {
    for (column, place) in columns.iter() {
        let own = &mut features[place.clone()];
        match column {
            EncodedColumn::Number => {
                let share = (x[place.start] / CLIP).clamp(-1.0, 1.0);
                own[0] = (share * UNIT as f64).round() as i64;
            }
            EncodedColumn::Levels { .. } => {
                own.fill(0);
                if let Some(level) = x[place].iter().position(|&v| v > 0.5) {
                    own[level] = UNIT;
                }
            }
        }
    }
}

/// The pairs of features whose products are released: the first in a later column than the second, or the same number.
fn released_products(columns: &EncodedColumns) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (column, place) in columns.iter() {
        for a in place.clone() {
            pairs.extend((0..place.start).map(|b| (a, b)));
            if column == EncodedColumn::Number {
                pairs.push((a, a));
            }
        }
    }
    pairs
}

/// All products as a lower triangle.
fn fill_triangle(released: &[i64], sums: &[Vec<f64>], columns: &EncodedColumns) -> Vec<f64> {
    let n_x = columns.n_x();
    let mut triangle = vec![0.0; n_x * (n_x + 1) / 2];
    let at = |a: usize, b: usize| a * (a + 1) / 2 + b;
    let unit = (UNIT * UNIT) as f64;
    for (&(a, b), &sum) in released_products(columns).iter().zip(released) {
        triangle[at(a, b)] = sum as f64 / unit;
    }
    for (column, place) in columns.iter() {
        if column != EncodedColumn::Number {
            for a in place {
                triangle[at(a, a)] = sums.iter().map(|cell| cell[a]).sum();
            }
        }
    }
    triangle
}

#[cfg(test)]
mod tests;
