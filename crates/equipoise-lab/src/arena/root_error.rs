//! What the root can tell: standard errors of a model's gap on its rows.
//!
//! The root is a sample, so a gap measured on it has an error, whatever a defense does with it. A gap, or a difference
//! between the gaps of two models, below two standard errors cannot be distinguished from 0. Two ways to measure are
//! considered: by decisions, and by soft decisions `σ(3 a·θ)`, whose error is smaller.
//!
//! A few rows that are all selected vary little, which does not make their rate certain. So the variance of soft decisions
//! in a group is at least that within both groups together.

use equipoise_core::{Condition, Moments, Rows};
use serde::{Deserialize, Serialize};

/// Slope of the soft decisions: as the defense `trust` has it.
const SLOPE: f64 = 3.0;

/// A difference of this many standard errors can be detected.
pub(super) const DETECTABLE: f64 = 2.0;

/// Standard errors of a gap, or of a difference between two models' gaps, on the root.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RootErrors {
    /// Rows of each group that count, fewest first.
    pub rows: [usize; 2],
    /// Of the gap in soft decisions.
    pub soft: f64,
    /// Of the gap in decisions.
    pub hard: f64,
}

/// The two groups of a gap, and the rows that count.
pub(super) struct GapPlace {
    pub(super) condition: Condition,
    pub(super) groups: [usize; 2],
}

impl RootErrors {
    /// The errors of a model's gap. `None` if a group has no rows that count.
    pub(super) fn of_gap(theta: &[f64], root: &Rows, place: &GapPlace) -> Option<Self> {
        let cells = place.groups.map(|group| {
            let scores = scores(theta, root, place.condition, group);
            let selected = scores.iter().filter(|score| **score > 0.0).count();
            // One more row of either kind, so that a group that is selected as a whole still has an error.
            let n = scores.len() as f64 + 2.0;
            let rate = (selected as f64 + 1.0) / n;
            let soft = Moments::of(scores.iter().map(|&score| soft_decision(score)));
            (scores.len(), soft.variance, rate * (1.0 - rate) / n)
        });
        Self::from_cells(cells)
    }

    /// The errors of the difference between the gaps of two models, measured on the same rows. `None` as above.
    pub(super) fn of_difference(
        a: &[f64],
        b: &[f64],
        root: &Rows,
        place: &GapPlace,
    ) -> Option<Self> {
        let cells = place.groups.map(|group| {
            let scores_of = |theta| scores(theta, root, place.condition, group);
            let pairs: Vec<(f64, f64)> = scores_of(a).into_iter().zip(scores_of(b)).collect();
            let soft =
                Moments::of(pairs.iter().map(|(a, b)| soft_decision(*a) - soft_decision(*b)));
            let only = |first: fn(&(f64, f64)) -> f64, second: fn(&(f64, f64)) -> f64| {
                let only = pairs.iter().filter(|pair| first(pair) > 0.0 && second(pair) <= 0.0);
                // One more row of either kind, as above.
                (only.count() as f64 + 1.0) / (pairs.len() as f64 + 2.0)
            };
            let (first, second) = (only(|p| p.0, |p| p.1), only(|p| p.1, |p| p.0));
            let variance = first + second - (first - second) * (first - second);
            let n = pairs.len() as f64;
            (pairs.len(), soft.variance, variance / (n + 2.0))
        });
        Self::from_cells(cells)
    }

    /// Rows, variance of the soft decisions and squared error of the rate, of both groups.
    fn from_cells(cells: [(usize, f64, f64); 2]) -> Option<Self> {
        let mut rows = cells.map(|(rows, _, _)| rows);
        rows.sort_unstable();
        if rows[0] == 0 {
            return None;
        }
        let freedom: usize = cells.iter().map(|cell| cell.0 - 1).sum();
        let squares: f64 = cells.iter().map(|cell| (cell.0 - 1) as f64 * cell.1).sum();
        let within = squares / freedom.max(1) as f64;
        let error = |squares: [f64; 2]| (squares[0] + squares[1]).sqrt();
        Some(Self {
            rows,
            soft: error(cells.map(|(n, variance, _)| variance.max(within) / n as f64)),
            hard: error(cells.map(|cell| cell.2)),
        })
    }
}

fn soft_decision(score: f64) -> f64 {
    1.0 / (1.0 + (-SLOPE * score).exp())
}

/// The scores of a group's rows.
fn scores(theta: &[f64], rows: &Rows, condition: Condition, group: usize) -> Vec<f64> {
    let counted = (0..rows.len())
        .filter(|&i| rows.group(i) == group && condition.includes(rows.is_positive(i)));
    counted.map(|i| rows.a(i).iter().zip(theta).map(|(a, t)| a * t).sum()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use equipoise_core::Layout;

    /// Group 1 has the scores 1, 1, −1, −1 and group 0 has 2, −2, −2, −2 for the model (1, 0, 0).
    fn rows() -> Rows {
        let x = [1.0, 1.0, -1.0, -1.0, 2.0, -2.0, -2.0, -2.0];
        let groups = [true, true, true, true, false, false, false, false];
        let positive = [true, false, true, false, true, true, true, false];
        Rows::new(Layout::two_groups(1, true), &x, &groups, &positive).unwrap()
    }

    const PLACE: GapPlace = GapPlace { condition: Condition::All, groups: [1, 0] };

    #[test]
    fn errors_of_a_gap_by_hand() {
        let errors = RootErrors::of_gap(&[1.0, 0.0, 0.0], &rows(), &PLACE).unwrap();
        assert_eq!(errors.rows, [4, 4]);
        // Rates (2 + 1)/6 and (1 + 1)/6: √(1/4/6 + 2/9/6).
        assert!((errors.hard - (0.25 / 6.0 + 2.0 / 54.0_f64).sqrt()).abs() < 1e-12);
        // σ(±3) = ½ ± u, with variance u²·4/3 of two and two; σ(±6) = ½ ± v, with v² of one and three.
        let (u, v) = (soft_decision(1.0) - 0.5, soft_decision(2.0) - 0.5);
        // The second is below the variance within both, which takes its place.
        let within = (u * u * 4.0 / 3.0 + v * v) / 2.0;
        let expected = (u * u * 4.0 / 3.0 / 4.0 + within / 4.0).sqrt();
        assert!((errors.soft - expected).abs() < 1e-12, "{} and {expected}", errors.soft);
        let positives = GapPlace { condition: Condition::Positives, groups: [1, 0] };
        assert_eq!(RootErrors::of_gap(&[1.0, 0.0, 0.0], &rows(), &positives).unwrap().rows, [2, 3]);
    }

    #[test]
    fn errors_of_a_difference_by_hand() {
        let (a, b) = ([1.0, 0.0, 0.0], [1.0, 0.0, 1.5]);
        // The intercept of 1.5 selects two more rows of group 1 and none of group 0.
        let errors = RootErrors::of_difference(&a, &b, &rows(), &PLACE).unwrap();
        // Group 1: 0 + 1 and 2 + 1 of 6, so (4/6 − (2/6)²)/6. Group 0: 1/6 and 1/6, so (2/6)/6.
        let expected = ((4.0 / 6.0 - 1.0 / 9.0) / 6.0 + 2.0 / 36.0_f64).sqrt();
        assert!((errors.hard - expected).abs() < 1e-12, "{} and {expected}", errors.hard);
        let same = RootErrors::of_difference(&a, &a, &rows(), &PLACE).unwrap();
        assert_eq!(same.soft, 0.0);
        assert!(errors.soft > 0.0 && same.hard < errors.hard);
    }
}
