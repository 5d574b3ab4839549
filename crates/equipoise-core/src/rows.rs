//! Encoded rows: a proxy, a root or a client's data after a schema has turned it into numbers.
//!
//! Row `i` is `a_i = (x_i, s_i)`, followed by a constant 1 if the schema has an intercept, with a label `y_i` in {−1, +1}.
//! All sizes and values are checked here, and nowhere else.

use std::borrow::Borrow;

use crate::error::Error;

/// Maximum absolute value of an encoded feature. Sums of its squares over any table stay far from overflow, and encoded
/// values are normally about 1.
pub const MAX_ABS_VALUE: f64 = 1e12;

/// The entries of a row `a`: the features, then the sensitive attribute, then the constant 1 of the intercept, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Number of encoded features `x`, without the sensitive attribute and the constant.
    pub n_x: usize,
    /// Whether a row ends with a constant 1.
    pub intercept: bool,
}

impl Layout {
    /// `n`, the length of a row `a` and of a model `θ`.
    pub fn n(&self) -> usize {
        self.n_x + 1 + usize::from(self.intercept)
    }

    /// Index of the sensitive attribute in a row.
    pub fn sensitive_index(&self) -> usize {
        self.n_x
    }
}

/// A checked table of encoded rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    layout: Layout,
    /// `a`, row by row, each of length `layout.n()`.
    values: Vec<f64>,
    /// `y`, −1 or +1.
    labels: Vec<f64>,
}

impl Rows {
    /// Rows of features (`n_x` per row), sensitive attribute (`true`: privileged) and label (`true`: positive).
    pub fn new(
        layout: Layout,
        x: &[f64],
        sensitive: &[bool],
        positive: &[bool],
    ) -> Result<Self, Error> {
        let n_rows = positive.len();
        if sensitive.len() != n_rows || x.len() != n_rows * layout.n_x {
            return Err(Error::Input(format!(
                "a table of {n_rows} labels needs {n_rows} sensitive values and {n_rows} × {} features; found {} and {}",
                layout.n_x,
                sensitive.len(),
                x.len()
            )));
        }
        let invalid = |at: usize, problem: &str| {
            let (row, feature) = (at / layout.n_x, at % layout.n_x);
            let text = format!("row {row}, feature {feature} (both counted from 0) is {problem}");
            Err(Error::Input(text))
        };
        if let Some(at) = x.iter().position(|v| !v.is_finite()) {
            return invalid(at, "not a finite number");
        }
        if let Some(at) = x.iter().position(|v| v.abs() > MAX_ABS_VALUE) {
            return invalid(at, &format!("{:e}: beyond ±1e12", x[at]));
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

    /// The layout of each row.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Row `i`: `(x_i, s_i)`, and the constant 1 if there is an intercept.
    pub fn a(&self, i: usize) -> &[f64] {
        let n = self.layout.n();
        &self.values[i * n..(i + 1) * n]
    }

    /// The features `x_i`.
    pub fn x(&self, i: usize) -> &[f64] {
        &self.a(i)[..self.layout.n_x]
    }

    /// Whether row `i` is in the privileged group, `s_i = 1`.
    pub fn is_privileged(&self, i: usize) -> bool {
        self.a(i)[self.layout.sensitive_index()] == 1.0
    }

    /// Whether row `i` has the positive label, `y_i = +1`.
    pub fn is_positive(&self, i: usize) -> bool {
        self.labels[i] > 0.0
    }

    /// All rows, one after another, each of length `layout().n()`.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All labels, −1 or +1.
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// The rows with these indices, in this order. An index may occur more than once.
    pub fn select(&self, rows: &[usize]) -> Self {
        let mut values = Vec::with_capacity(rows.len() * self.layout.n());
        rows.iter().for_each(|&i| values.extend_from_slice(self.a(i)));
        let labels = rows.iter().map(|&i| self.labels[i]).collect();
        Self { layout: self.layout, values, labels }
    }

    /// The rows of several tables of the same layout, one table after the other.
    pub fn concat(parts: &[impl Borrow<Self>]) -> Result<Self, Error> {
        let parts: Vec<&Self> = parts.iter().map(Borrow::borrow).collect();
        let layout = parts.first().ok_or_else(Error::no_clients)?.layout;
        if let Some(other) = parts.iter().find(|part| part.layout != layout) {
            return Err(Error::Features { expected: layout.n(), found: other.layout.n() });
        }
        Ok(Self {
            layout,
            values: parts.iter().flat_map(|p| p.values.iter().copied()).collect(),
            labels: parts.iter().flat_map(|p| p.labels.iter().copied()).collect(),
        })
    }

    /// Number of rows in each cell `[s][y]`: `s` is 1 for privileged, `y` is 1 for positive.
    pub fn cell_counts(&self) -> [[usize; 2]; 2] {
        let mut counts = [[0; 2]; 2];
        for i in 0..self.len() {
            counts[usize::from(self.is_privileged(i))][usize::from(self.is_positive(i))] += 1;
        }
        counts
    }

    /// The rows with column `k` divided by `scales[k]`, for fits that must not depend on units.
    pub(crate) fn with_columns_divided(&self, scales: &[f64]) -> Self {
        let values = self.values.chunks_exact(scales.len());
        let values = values.flat_map(|a| a.iter().zip(scales).map(|(v, s)| v / s)).collect();
        Self { layout: self.layout, values, labels: self.labels.clone() }
    }

    /// The features of row `i`, which the proxy generator moves.
    pub(crate) fn x_mut(&mut self, i: usize) -> &mut [f64] {
        let start = i * self.layout.n();
        &mut self.values[start..start + self.layout.n_x]
    }
}
