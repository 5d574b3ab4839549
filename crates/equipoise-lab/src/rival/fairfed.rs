//! FairFed-style fairness-aware weights: clients whose gap is far from the global model's count less.
//!
//! In the style of Y. H. Ezzeldin, S. Yan, C. He, E. Ferrara, A. S. Avestimehr, "FairFed: enabling group fairness in
//! federated learning", AAAI 2023. Weights start at each client's share of the rows. Then
//! `w_c ← w_c − β (Δ_c − mean Δ)`, where `Δ_c = |F_c − F|` compares the local gap with the global one, or accuracies if
//! the local gap cannot be measured.
//!
//! One round, and so one update, with β = 1. In the publication, each client measures the global model on its own
//! private rows. Here the server measures on the root, because clients could lie: F is the gap of the
//! average model and `F_c` that of the client's model. Negative weights become 0. With several groups or conditions, a
//! gap is measured for each group against the rest and each condition, and Δ is the largest difference over the groups,
//! averaged over the conditions by their weights. For two groups and one condition, that is the difference of the gaps.

use equipoise_core::{Fairness, Metrics, Rows};

use super::vectors::{average, normalised, weighted_sum};
use super::{RivalInput, RivalModel};
use crate::error::Error;

const BETA: f64 = 1.0;

pub(super) fn run(input: &RivalInput<'_>) -> Result<RivalModel, Error> {
    let root = input.root()?;
    let sizes: Vec<f64> = input.proxies.iter().map(|rows| rows.len() as f64).collect();
    let start = normalised(&sizes);
    let global = LocalFigures::of(&weighted_sum(&input.models, &start), &root, input.fairness)?;
    let own = |theta: &Vec<f64>| LocalFigures::of(theta, &root, input.fairness);
    let own = input.models.iter().map(own).collect::<Result<Vec<_>, _>>()?;
    let deltas: Vec<f64> = own.iter().map(|own| own.difference(&global)).collect();
    Ok(average(&input.models, &update(&start, &deltas)))
}

/// The weights after one update, before they are divided by their sum.
fn update(start: &[f64], deltas: &[f64]) -> Vec<f64> {
    let mean = deltas.iter().sum::<f64>() / deltas.len() as f64;
    start.iter().zip(deltas).map(|(w, delta)| (w - BETA * (delta - mean)).max(0.0)).collect()
}

/// What is compared between a client's model and the global one.
struct LocalFigures {
    /// For each condition, its weight and the gap of each group to the rest. Gaps that cannot be measured are left out.
    gaps: Vec<(f64, Vec<f64>)>,
    accuracy: f64,
}

impl LocalFigures {
    fn of(theta: &[f64], root: &Rows, fairness: Fairness) -> Result<Self, Error> {
        let metrics = Metrics::of(theta, root)?;
        let gaps = |condition| -> Vec<f64> {
            let to_rest = metrics.groups.iter().filter_map(|g| g.gaps_to_rest.of(condition));
            to_rest.map(|gap| gap.value).collect()
        };
        let gaps = fairness.conditions().map(|(condition, weight)| (weight, gaps(condition)));
        Ok(Self {
            gaps: gaps.filter(|(_, gaps)| !gaps.is_empty()).collect(),
            accuracy: metrics.accuracy.map_or(0.0, |accuracy| accuracy.value),
        })
    }

    /// Δ. Both are measured on the same rows, so the same gaps are known.
    fn difference(&self, global: &Self) -> f64 {
        let total: f64 = self.gaps.iter().map(|(weight, _)| weight).sum();
        if total == 0.0 {
            return (self.accuracy - global.accuracy).abs();
        }
        let largest = |own: &[f64], global: &[f64]| {
            own.iter().zip(global).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let pairs = self.gaps.iter().zip(&global.gaps);
        pairs.map(|((weight, own), (_, global))| weight * largest(own, global)).sum::<f64>() / total
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use equipoise_core::Layout;

    fn assert_close(found: &[f64], expected: &[f64]) {
        let close = found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-12);
        assert!(found.len() == expected.len() && close, "{found:?} and {expected:?}");
    }

    #[test]
    fn clients_far_from_the_global_gap_lose_weight() {
        // Mean Δ is 0.1.
        assert_close(&update(&[0.25, 0.25, 0.5], &[0.2, 0.0, 0.1]), &[0.15, 0.35, 0.5]);
        // A weight below 0 becomes 0.
        assert_close(&update(&[0.5, 0.5], &[2.0, 0.0]), &[0.0, 1.5]);
        assert_close(&update(&[1.0], &[0.4]), &[1.0]);
    }

    /// Rows with one feature and an intercept; (feature, group 1, positive).
    fn rows(rows: &[(f64, bool, bool)]) -> Rows {
        let x: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let groups: Vec<bool> = rows.iter().map(|row| row.1).collect();
        let positive: Vec<bool> = rows.iter().map(|row| row.2).collect();
        Rows::new(Layout::two_groups(1, true), &x, &groups, &positive).unwrap()
    }

    #[test]
    fn a_difference_is_that_of_the_gaps_or_else_of_the_accuracies() {
        let root =
            rows(&[(1.0, false, true), (-1.0, false, true), (1.0, true, true), (1.0, true, false)]);
        // Selects x > 0: rates 1/2 and 1. Selects everyone: rates 1 and 1.
        let (by_x, all) = ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
        let difference = |root: &Rows, fairness| {
            let of = |theta: &[f64]| LocalFigures::of(theta, root, fairness).unwrap();
            of(&by_x).difference(&of(&all))
        };
        assert_close(&[difference(&root, Fairness::SP)], &[0.5]);
        let both = "sp:0.5,eo:0.5".parse().unwrap();
        assert_close(&[difference(&root, both)], &[0.5]);
        // One group only, so there is no gap: accuracies 1/2 and 1.
        let one_group = rows(&[(1.0, false, true), (-1.0, false, true)]);
        assert_close(&[difference(&one_group, Fairness::SP)], &[0.5]);
    }
}
