//! Sums over the columns of a client's rows, collected while packing.

use super::SEGMENT_ROWS;
use crate::rows::Rows;

/// Sums over the rows of one client, column by column. Rows are added one after the other, so chunks do not matter, and
/// then the sums of segments.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSummary {
    /// Number of rows.
    pub n_rows: usize,
    /// Sum of each column.
    pub sums: Vec<f64>,
    /// Sum of the squares of each column.
    pub squares: Vec<f64>,
    /// Largest absolute value in each column.
    pub max_abs: Vec<f64>,
}

impl ColumnSummary {
    /// No rows yet, for rows of `n` entries.
    pub fn new(n: usize) -> Self {
        let zeros = vec![0.0; n];
        Self { n_rows: 0, sums: zeros.clone(), squares: zeros.clone(), max_abs: zeros }
    }

    /// The sums over all rows of a table.
    pub fn of(rows: &Rows) -> Self {
        let starts = (0..rows.len()).step_by(SEGMENT_ROWS);
        let segments: Vec<Self> =
            starts.map(|start| Self::of_range(rows, start, SEGMENT_ROWS)).collect();
        Self::total(rows.layout().n(), &segments)
    }

    /// The sums over up to `n_rows` rows of a table.
    pub(super) fn of_range(rows: &Rows, start: usize, n_rows: usize) -> Self {
        let mut summary = Self::new(rows.layout().n());
        (start..rows.len().min(start + n_rows)).for_each(|i| summary.add(rows.a(i)));
        summary
    }

    /// The sums over all segments of a client, for rows of `n` entries.
    pub fn total<'a>(n: usize, segments: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut total = Self::new(n);
        for segment in segments {
            total.n_rows += segment.n_rows;
            total.sums.iter_mut().zip(&segment.sums).for_each(|(t, s)| *t += s);
            total.squares.iter_mut().zip(&segment.squares).for_each(|(t, s)| *t += s);
            total.max_abs.iter_mut().zip(&segment.max_abs).for_each(|(t, s)| *t = t.max(*s));
        }
        total
    }

    /// Adds a row.
    pub(super) fn add(&mut self, a: &[f64]) {
        self.n_rows += 1;
        for (k, &v) in a.iter().enumerate() {
            self.sums[k] += v;
            self.squares[k] += v * v;
            self.max_abs[k] = self.max_abs[k].max(v.abs());
        }
    }

    /// The mean of a column; 0 without rows.
    pub fn mean(&self, column: usize) -> f64 {
        self.per_row(self.sums[column])
    }

    /// The root mean square of a column; 0 without rows.
    pub fn root_mean_square(&self, column: usize) -> f64 {
        self.per_row(self.squares[column]).sqrt()
    }

    /// The standard deviation of a column; 0 without rows.
    pub fn standard_deviation(&self, column: usize) -> f64 {
        let mean = self.mean(column);
        (self.per_row(self.squares[column]) - mean * mean).max(0.0).sqrt()
    }

    fn per_row(&self, sum: f64) -> f64 {
        sum / self.n_rows.max(1) as f64
    }
}
