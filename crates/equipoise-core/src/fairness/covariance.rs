//! The paper's surrogate: the covariance of group and score.
//!
//! For group `g` with share `s̄` of all `N` rows, `d = (1/N) Σ_i ([g_i = g] − s̄) a_i·θ` over the rows of the condition.
//! `N` and `s̄` are over all rows even if the condition is not, as in the paper. It is linear in `θ`, so one pass over the
//! rows gives the vectors that are needed.

use std::borrow::Cow;

use super::contrasts::{Unfairness, Violation, contrasted, contrasts};
use crate::logistic::dot;
use crate::rows::Rows;

/// The vectors whose products with `θ` are the contrasts.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariance {
    vectors: Vec<Vec<f64>>,
}

impl Covariance {
    /// The vectors of one table.
    pub fn of(rows: &Rows) -> Self {
        let n_rows = rows.len() as f64;
        Self::part(rows, &shares(&[rows], n_rows), n_rows)
    }

    /// The contribution of each table to the vectors of all tables together: shares and `N` are over all of them.
    pub fn parts(tables: &[&Rows]) -> Vec<Self> {
        let n_rows = tables.iter().map(|rows| rows.len()).sum::<usize>() as f64;
        let shares = shares(tables, n_rows);
        tables.iter().map(|rows| Self::part(rows, &shares, n_rows)).collect()
    }

    /// The sum of the parts' vectors, weighted by `w_c`.
    pub fn weighted_sum(parts: &[Self], weights: &[f64]) -> Self {
        let mut vectors = parts.first().map_or(Vec::new(), |part| part.vectors.clone());
        vectors.iter_mut().for_each(|vector| vector.fill(0.0));
        for (part, &w) in parts.iter().zip(weights) {
            for (sum, vector) in vectors.iter_mut().zip(&part.vectors) {
                sum.iter_mut().zip(vector).for_each(|(s, v)| *s += w * v);
            }
        }
        Self { vectors }
    }

    /// The sum of all parts.
    pub(crate) fn sum(parts: &[Self]) -> Self {
        Self::weighted_sum(parts, &vec![1.0; parts.len()])
    }

    /// The contrasts of the model `θ`.
    pub(crate) fn values(&self, theta: &[f64]) -> Vec<f64> {
        self.vectors.iter().map(|vector| dot(vector, theta)).collect()
    }

    /// The contrasts of the model `θ`, and their gradients.
    pub(crate) fn at(&self, theta: &[f64]) -> Unfairness<'_> {
        Unfairness { values: self.values(theta), slopes: Cow::Borrowed(&self.vectors) }
    }

    /// The gradients of the contrasts.
    pub(crate) fn slopes(&self) -> &[Vec<f64>] {
        &self.vectors
    }

    /// The contrasts, owned, and their gradients.
    pub(crate) fn into_unfairness(self, theta: &[f64]) -> Unfairness<'static> {
        Unfairness { values: self.values(theta), slopes: Cow::Owned(self.vectors) }
    }

    /// How far the model `θ` is from each criterion.
    pub fn violation(&self, theta: &[f64]) -> Violation {
        Violation::of(&self.values(theta))
    }

    fn part(rows: &Rows, shares: &[f64], n_rows: f64) -> Self {
        let (n, n_groups) = (rows.layout().n(), shares.len());
        let mut vectors = vec![vec![0.0; n]; contrasts(n_groups).count()];
        let per_condition = contrasted(n_groups).len();
        for i in 0..rows.len() {
            let a = rows.a(i);
            for (k, group) in contrasted(n_groups).enumerate() {
                let centred = (f64::from(rows.group(i) == group) - shares[group]) / n_rows;
                // All rows, and those with the same label.
                let condition = if rows.is_positive(i) { 1 } else { 2 };
                for vector in [k, condition * per_condition + k] {
                    vectors[vector].iter_mut().zip(a).for_each(|(sum, v)| *sum += centred * v);
                }
            }
        }
        Self { vectors }
    }
}

/// The share of each group in all tables.
fn shares(tables: &[&Rows], n_rows: f64) -> Vec<f64> {
    let n_groups = tables.first().map_or(0, |rows| rows.layout().groups.len());
    let mut counts = vec![0.0; n_groups];
    let groups = tables.iter().flat_map(|rows| rows.groups());
    groups.for_each(|&group| counts[usize::from(group)] += 1.0);
    counts.iter().map(|count| count / n_rows).collect()
}
