//! Encoded rows: what a proxy, a root or a client's data is once a schema has turned it into numbers.
//!
//! Row `i` is `a_i = (x_i, s_i)`, with a constant 1 behind it where the schema has an intercept, and a
//! label `y_i` in {−1, +1}. All sizes and values are checked here, once; nothing later checks again.

use crate::error::Error;

/// Largest size of an encoded feature. Squares of it, summed over any table, stay far from overflow; an
/// encoded value is about 1 as a rule, so nothing of use is larger.
pub const MAX_ABS_VALUE: f64 = 1e12;

/// Which entries a row `a` has, and where: the features first, then the sensitive attribute, then the
/// constant 1 of the intercept, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Number of encoded features `x`, the sensitive attribute and the constant not counted.
    pub n_x: usize,
    /// Whether a row ends with a constant 1.
    pub intercept: bool,
}

impl Layout {
    /// `n`, the length of a row `a` and of a model `θ`.
    pub fn n(&self) -> usize {
        self.n_x + 1 + usize::from(self.intercept)
    }

    /// Where the sensitive attribute stands in a row.
    pub fn sensitive_index(&self) -> usize {
        self.n_x
    }
}

/// A checked table of encoded rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    layout: Layout,
    /// `a`, row after row, each of length `layout.n()`.
    values: Vec<f64>,
    /// `y`, −1 or +1.
    labels: Vec<f64>,
}

impl Rows {
    /// Joins features (row after row, `n_x` each), sensitive attribute (`true` is the privileged group)
    /// and label (`true` is the positive one) into rows.
    pub fn new(
        layout: Layout,
        x: &[f64],
        sensitive: &[bool],
        positive: &[bool],
    ) -> Result<Self, Error> {
        let n_rows = positive.len();
        if sensitive.len() != n_rows || x.len() != n_rows * layout.n_x {
            return Err(Error::RowShape {
                n_x: layout.n_x,
                values: x.len(),
                sensitive: sensitive.len(),
                labels: n_rows,
            });
        }
        if let Some(at) = x.iter().position(|v| !v.is_finite()) {
            return Err(Error::NotFinite { row: at / layout.n_x, feature: at % layout.n_x });
        }
        if let Some(at) = x.iter().position(|v| v.abs() > MAX_ABS_VALUE) {
            let (row, feature) = (at / layout.n_x, at % layout.n_x);
            return Err(Error::TooLarge { row, feature, found: x[at] });
        }
        let mut values = Vec::with_capacity(n_rows * layout.n());
        for (row, &s) in sensitive.iter().enumerate() {
            values.extend_from_slice(&x[row * layout.n_x..(row + 1) * layout.n_x]);
            values.push(f64::from(s));
            if layout.intercept {
                values.push(1.0);
            }
        }
        let labels = positive.iter().map(|&p| if p { 1.0 } else { -1.0 }).collect();
        Ok(Self { layout, values, labels })
    }

    /// Which entries a row has.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is no row at all.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Row `i`: `(x_i, s_i)` and the constant 1 where there is an intercept.
    pub fn a(&self, i: usize) -> &[f64] {
        let n = self.layout.n();
        &self.values[i * n..(i + 1) * n]
    }

    /// The features `x_i` alone.
    pub fn x(&self, i: usize) -> &[f64] {
        &self.a(i)[..self.layout.n_x]
    }

    /// Whether row `i` is of the privileged group, `s_i = 1`.
    pub fn is_privileged(&self, i: usize) -> bool {
        self.a(i)[self.layout.sensitive_index()] == 1.0
    }

    /// Whether row `i` has the positive label, `y_i = +1`.
    pub fn is_positive(&self, i: usize) -> bool {
        self.labels[i] > 0.0
    }

    /// All rows behind one another, each of length `layout().n()`.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All labels, −1 or +1.
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// The rows with these numbers, in this order; a number may come more than once.
    pub fn select(&self, rows: &[usize]) -> Self {
        let mut values = Vec::with_capacity(rows.len() * self.layout.n());
        rows.iter().for_each(|&i| values.extend_from_slice(self.a(i)));
        let labels = rows.iter().map(|&i| self.labels[i]).collect();
        Self { layout: self.layout, values, labels }
    }

    /// The rows of several tables of one layout, one table after the other.
    pub fn concat(parts: &[&Self]) -> Result<Self, Error> {
        let layout = parts.first().ok_or(Error::NoClients)?.layout;
        for part in parts {
            if part.layout != layout {
                return Err(Error::Features { expected: layout.n(), found: part.layout.n() });
            }
        }
        Ok(Self {
            layout,
            values: parts.iter().flat_map(|p| p.values.iter().copied()).collect(),
            labels: parts.iter().flat_map(|p| p.labels.iter().copied()).collect(),
        })
    }

    /// How many rows each cell has: `[s][y]`, `s` 1 for privileged, `y` 1 for positive.
    pub fn cell_counts(&self) -> [[usize; 2]; 2] {
        let mut counts = [[0; 2]; 2];
        for i in 0..self.len() {
            counts[usize::from(self.is_privileged(i))][usize::from(self.is_positive(i))] += 1;
        }
        counts
    }

    /// The same rows with column `k` divided by `scales[k]`, for fits that must not depend on units.
    pub(crate) fn with_columns_divided(&self, scales: &[f64]) -> Self {
        let values = self.values.chunks_exact(scales.len());
        let values = values.flat_map(|a| a.iter().zip(scales).map(|(v, s)| v / s)).collect();
        Self { layout: self.layout, values, labels: self.labels.clone() }
    }

    /// The features of row `i`, for the proxy generator, which moves them.
    pub(crate) fn x_mut(&mut self, i: usize) -> &mut [f64] {
        let start = i * self.layout.n();
        &mut self.values[start..start + self.layout.n_x]
    }
}
