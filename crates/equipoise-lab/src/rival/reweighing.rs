//! Reweighing: a fit to all proxies in which every group has the same share of positive labels, by weight.
//!
//! Source: F. Kamiran, T. Calders, "Data preprocessing techniques for classification without discrimination", Knowledge
//! and Information Systems 33, 2012. A row of group g with label y has weight `P(g) P(y) / P(g, y)`, as if group and
//! label were independent.
//!
//! One round: the server pools all proxy rows, weighs them, and fits one model. The weights aim at statistical parity;
//! they are the same for every criterion. Any number of groups works, and blind models too.

use equipoise_core::{InnerSettings, Rows, fit_weighted_logistic};

use super::{RivalInput, RivalModel};
use crate::error::Error;

pub(super) fn run(input: &RivalInput<'_>) -> Result<RivalModel, Error> {
    let pooled = Rows::concat(&input.proxies)?;
    let (cells, weights): (Vec<Rows>, Vec<f64>) = weighted_cells(&pooled).into_iter().unzip();
    let theta = fit_weighted_logistic(&cells, &weights, input.lambda, &InnerSettings::default())?;
    Ok(RivalModel { theta, weights: None })
}

/// The rows of each group and label, with the weight of each of them.
fn weighted_cells(rows: &Rows) -> Vec<(Rows, f64)> {
    let counts = rows.cell_counts();
    let with_label = [0, 1].map(|y| counts.iter().map(|cell| cell[y]).sum::<usize>() as f64);
    let mut members = vec![[Vec::new(), Vec::new()]; counts.len()];
    (0..rows.len()).for_each(|i| members[rows.group(i)][usize::from(rows.is_positive(i))].push(i));
    let mut cells = Vec::new();
    for (in_cells, count) in members.iter().zip(&counts) {
        let in_group = (count[0] + count[1]) as f64;
        for y in [0, 1] {
            if count[y] > 0 {
                let weight = in_group * with_label[y] / (rows.len() * count[y]) as f64;
                cells.push((rows.select(&in_cells[y]), weight));
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use equipoise_core::{Fairness, Layout, fit_logistic};

    /// One feature and an intercept, no group as a feature; (feature, group 1, positive).
    fn rows(rows: &[(f64, bool, bool)]) -> Rows {
        let x: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let groups: Vec<bool> = rows.iter().map(|row| row.1).collect();
        let positive: Vec<bool> = rows.iter().map(|row| row.2).collect();
        let layout = Layout { as_feature: false, ..Layout::two_groups(1, true) };
        Rows::new(layout, &x, &groups, &positive).unwrap()
    }

    const TABLE: [(f64, bool, bool); 8] = [
        (0.3, false, false),
        (-0.5, false, false),
        (0.1, false, false),
        (0.9, false, true),
        (1.2, true, true),
        (0.4, true, true),
        (-0.2, true, true),
        (-1.0, true, false),
    ];

    #[test]
    fn a_rare_combination_of_group_and_label_counts_more() {
        // Four rows in each group, four of each label: 4 · 4 / (8 · 3) for common cells, 4 · 4 / (8 · 1) for rare ones.
        let found: Vec<(usize, f64)> =
            weighted_cells(&rows(&TABLE)).iter().map(|(cell, w)| (cell.len(), *w)).collect();
        let (common, rare) = (16.0 / 24.0, 2.0);
        assert_eq!(found, [(3, common), (1, rare), (1, rare), (3, common)]);
    }

    #[test]
    fn the_fit_is_that_of_a_table_with_rare_rows_repeated() {
        let proxy = rows(&TABLE);
        let input = RivalInput {
            proxies: vec![&proxy],
            roots: vec![&proxy],
            models: vec![vec![0.0; 2]],
            fairness: Fairness::SP,
            lambda: 1e-4,
        };
        // Rare rows count three times as much as common ones.
        let repeated = proxy.select(&[0, 1, 2, 3, 3, 3, 4, 5, 6, 7, 7, 7]);
        let expected = fit_logistic(&repeated, 1e-4, &InnerSettings::default()).unwrap();
        for (found, expected) in run(&input).unwrap().theta.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} and {expected}");
        }
    }
}
