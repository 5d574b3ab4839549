//! Encoded rows: a proxy, a root or a client's data after a schema has turned it into numbers.
//!
//! Row `i` is `a_i = (x_i, s_i)`, followed by a constant 1 if the schema has an intercept, with a group and a label `y_i`
//! in {−1, +1}. `s_i` has an indicator of each group but the first, or nothing if the model is blind to the group.
//! All sizes and values are checked here, and nowhere else.

use rayon::prelude::*;
use std::borrow::Borrow;
use std::ops::Range;
use std::sync::Arc;

use crate::error::Error;
use crate::groups::Groups;
use crate::logistic::dot;

/// Maximum absolute value of an encoded feature. Sums of its squares over any table stay far from overflow, and encoded
/// values are normally about 1.
pub const MAX_ABS_VALUE: f64 = 1e12;

/// The entries of a row `a`: the features, then the indicators of the groups, then the constant 1 of the intercept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Number of encoded features `x`, without the indicators and the constant.
    pub n_x: usize,
    /// The groups.
    pub groups: Arc<Groups>,
    /// Whether a row has the indicators of its group. If not, the model is blind: it cannot use the group.
    pub as_feature: bool,
    /// Whether a row ends with a constant 1.
    pub intercept: bool,
}

impl Layout {
    /// A layout with the paper's two groups, the group being a feature.
    pub fn two_groups(n_x: usize, intercept: bool) -> Self {
        Self { n_x, groups: Groups::two(), as_feature: true, intercept }
    }

    /// `n`, the length of a row `a` and of a model `θ`.
    pub fn n(&self) -> usize {
        self.indicators().end + usize::from(self.intercept)
    }

    /// Where a row has the indicators of groups 1, 2, …: an empty range if the model is blind.
    pub fn indicators(&self) -> Range<usize> {
        let n = if self.as_feature { self.groups.len() - 1 } else { 0 };
        self.n_x..self.n_x + n
    }
}

/// A checked table of encoded rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    layout: Layout,
    /// `a`, row by row, each of length `layout.n()`.
    values: Vec<f64>,
    /// The index of each row's group.
    groups: Vec<u8>,
    /// `y`, −1 or +1.
    labels: Vec<f64>,
}

impl Rows {
    /// Rows of features (`n_x` per row), group and label (`true`: positive). Two groups may be given as booleans:
    /// `true` is group 1.
    pub fn new(
        layout: Layout,
        x: &[f64],
        groups: &[impl Copy + Into<u8>],
        positive: &[bool],
    ) -> Result<Self, Error> {
        let n_rows = positive.len();
        if groups.len() != n_rows || x.len() != n_rows * layout.n_x {
            return Err(Error::Input(format!(
                "a table of {n_rows} labels needs {n_rows} groups and {n_rows} × {} features; found {} and {}",
                layout.n_x,
                groups.len(),
                x.len()
            )));
        }
        let groups: Vec<u8> = groups.iter().map(|&group| group.into()).collect();
        let n_groups = layout.groups.len();
        if let Some(row) = groups.iter().position(|&group| usize::from(group) >= n_groups) {
            return Err(Error::Input(format!(
                "row {row} (counted from 0) is in group {}, but there are only {n_groups} groups",
                groups[row]
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
        let n_indicators = layout.indicators().len();
        for (row, &group) in groups.iter().enumerate() {
            values.extend_from_slice(&x[row * layout.n_x..(row + 1) * layout.n_x]);
            values.extend((1..=n_indicators).map(|g| f64::from(usize::from(group) == g)));
            if layout.intercept {
                values.push(1.0);
            }
        }
        let labels = positive.iter().map(|&p| if p { 1.0 } else { -1.0 }).collect();
        Ok(Self { layout, values, groups, labels })
    }

    /// The layout of each row.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Row `i`: the features, the indicators of the group, and the constant 1 if there is an intercept.
    pub fn a(&self, i: usize) -> &[f64] {
        let n = self.layout.n();
        &self.values[i * n..(i + 1) * n]
    }

    /// The score of row `i`. A model may have one entry more than the row: an intercept that the layout lacks.
    pub fn score(&self, i: usize, theta: &[f64]) -> f64 {
        let score = dot(self.a(i), &theta[..self.layout.n()]);
        theta.get(self.layout.n()).map_or(score, |intercept| score + intercept)
    }

    /// The features `x_i`.
    pub fn x(&self, i: usize) -> &[f64] {
        &self.a(i)[..self.layout.n_x]
    }

    /// The index of the group of row `i`.
    pub fn group(&self, i: usize) -> usize {
        usize::from(self.groups[i])
    }

    /// The index of every row's group.
    pub fn groups(&self) -> &[u8] {
        &self.groups
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
        let groups = rows.iter().map(|&i| self.groups[i]).collect();
        let labels = rows.iter().map(|&i| self.labels[i]).collect();
        Self { layout: self.layout.clone(), values, groups, labels }
    }

    /// This many rows, evenly spread: a start for computations on a large table. `None` unless the table has more than twice
    /// as many.
    pub(crate) fn thinned(&self, n_rows: usize) -> Option<Self> {
        let index = |i: usize| i * self.len() / n_rows;
        let is_large = self.len() > 2 * n_rows;
        is_large.then(|| self.select(&(0..n_rows).map(index).collect::<Vec<_>>()))
    }

    /// The rows of several tables of the same layout, one table after the other.
    pub fn concat(parts: &[impl Borrow<Self>]) -> Result<Self, Error> {
        let parts: Vec<&Self> = parts.iter().map(Borrow::borrow).collect();
        let layout = &parts.first().ok_or_else(Error::no_clients)?.layout;
        if let Some(other) = parts.iter().find(|part| part.layout != *layout) {
            return Err(Error::layouts(layout, &other.layout));
        }
        Ok(Self {
            layout: layout.clone(),
            values: parts.iter().flat_map(|p| p.values.iter().copied()).collect(),
            groups: parts.iter().flat_map(|p| p.groups.iter().copied()).collect(),
            labels: parts.iter().flat_map(|p| p.labels.iter().copied()).collect(),
        })
    }

    /// The group that all rows are in, if there is only one.
    pub fn only_group(&self) -> Option<usize> {
        let (first, rest) = self.groups.split_first()?;
        rest.iter().all(|group| group == first).then_some(usize::from(*first))
    }

    /// Number of rows in each cell `[group][y]`: `y` is 1 for positive.
    pub fn cell_counts(&self) -> Vec<[usize; 2]> {
        let mut counts = vec![[0; 2]; self.layout.groups.len()];
        for i in 0..self.len() {
            counts[self.group(i)][usize::from(self.is_positive(i))] += 1;
        }
        counts
    }

    /// The rows with column `k` divided by `scales[k]`, for fits that must not depend on units.
    pub(crate) fn with_columns_divided(&self, scales: &[f64]) -> Self {
        let mut divided = self.clone();
        divided.values.par_chunks_exact_mut(scales.len()).for_each(|a| {
            a.iter_mut().zip(scales).for_each(|(v, s)| *v /= s);
        });
        divided
    }

    /// The rows with other labels, one for each row.
    pub(crate) fn with_labels(mut self, positive: &[bool]) -> Self {
        let labels = self.labels.iter_mut().zip(positive);
        labels.for_each(|(label, &positive)| *label = if positive { 1.0 } else { -1.0 });
        self
    }

    /// The features of each row, in parallel.
    pub(crate) fn par_x_mut(&mut self) -> impl IndexedParallelIterator<Item = &mut [f64]> {
        let (n, n_x) = (self.layout.n(), self.layout.n_x);
        self.values.par_chunks_exact_mut(n).map(move |a| &mut a[..n_x])
    }

    /// The same rows with the group as a feature.
    pub(crate) fn seeing(&self) -> Result<Self, Error> {
        self.in_layout(Layout { as_feature: true, ..self.layout.clone() })
    }

    /// The same rows with a constant 1 at the end.
    pub(crate) fn with_intercept(&self) -> Result<Self, Error> {
        self.in_layout(Layout { intercept: true, ..self.layout.clone() })
    }

    fn in_layout(&self, layout: Layout) -> Result<Self, Error> {
        let x: Vec<f64> = (0..self.len()).flat_map(|i| self.x(i).iter().copied()).collect();
        let positive: Vec<bool> = (0..self.len()).map(|i| self.is_positive(i)).collect();
        Self::new(layout, &x, &self.groups, &positive)
    }

    /// The features of row `i`, which the proxy generator moves.
    pub(crate) fn x_mut(&mut self, i: usize) -> &mut [f64] {
        let start = i * self.layout.n();
        &mut self.values[start..start + self.layout.n_x]
    }
}
