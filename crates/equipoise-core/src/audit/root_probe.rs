//! The loss and the gap of any model on the root.

use crate::fairness::{Condition, Fairness};
use crate::logistic::{dot, loss, loss_terms, sigmoid};
use crate::rows::Rows;

/// All root rows, and the fairness requested.
pub(super) struct RootProbe<'a> {
    pub(super) rows: &'a Rows,
    pub(super) fairness: Fairness,
}

/// Loss and gaps of a model on the root. Gaps are sizes: the largest difference between two groups, over the conditions
/// that count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Probed {
    pub(super) loss: f64,
    /// By decisions. `None` if fewer than two groups have rows.
    pub(super) gap: Option<f64>,
    /// By mean predicted probability.
    pub(super) soft_gap: Option<f64>,
}

/// The gradients of loss and soft gap in `θ`.
pub(super) struct ProbedGradients {
    pub(super) loss: Vec<f64>,
    pub(super) soft_gap: Option<Vec<f64>>,
}

/// The pair of groups, and the condition, with the largest difference: the first group has the higher rate.
struct WorstPair {
    condition: Condition,
    groups: [usize; 2],
    size: f64,
}

impl<'a> RootProbe<'a> {
    pub(super) fn new(rows: &'a Rows, fairness: Fairness) -> Self {
        Self { rows, fairness }
    }

    /// The score `a·θ` of each row.
    pub(super) fn scores(&self, theta: &[f64]) -> Vec<f64> {
        (0..self.rows.len()).map(|i| dot(self.rows.a(i), theta)).collect()
    }

    /// The loss of each row, given its score.
    pub(super) fn losses(&self, scores: &[f64]) -> Vec<f64> {
        scores.iter().zip(self.rows.labels()).map(|(score, y)| loss(y * score)).collect()
    }

    pub(super) fn measure(&self, theta: &[f64]) -> Probed {
        let scores = self.scores(theta);
        let losses = self.losses(&scores);
        let gap = |rate: &dyn Fn(f64) -> f64| Some(self.worst_pair(&scores, rate)?.size);
        Probed {
            loss: losses.iter().sum::<f64>() / losses.len() as f64,
            gap: gap(&|score| f64::from(score > 0.0)),
            soft_gap: gap(&sigmoid),
        }
    }

    pub(super) fn gradients(&self, theta: &[f64]) -> ProbedGradients {
        let (rows, n) = (self.rows, theta.len());
        let mut loss = vec![0.0; n];
        for i in 0..rows.len() {
            let label = rows.labels()[i];
            let terms = loss_terms(label * dot(rows.a(i), theta));
            let factor = -label * terms.residual / rows.len() as f64;
            loss.iter_mut().zip(rows.a(i)).for_each(|(g, a)| *g += factor * a);
        }
        let soft_gap = self.worst_pair(&self.scores(theta), &sigmoid).map(|pair| {
            let mut gradient = vec![0.0; n];
            for (group, sign) in pair.groups.into_iter().zip([1.0, -1.0]) {
                let members = self.members(pair.condition, group);
                for &i in &members {
                    let curvature = loss_terms(dot(rows.a(i), theta)).curvature;
                    let factor = sign * curvature / members.len() as f64;
                    gradient.iter_mut().zip(rows.a(i)).for_each(|(g, a)| *g += factor * a);
                }
            }
            gradient
        });
        ProbedGradients { loss, soft_gap }
    }

    fn members(&self, condition: Condition, group: usize) -> Vec<usize> {
        let rows = self.rows;
        let counts =
            |i: &usize| condition.includes(rows.is_positive(*i)) && rows.group(*i) == group;
        (0..rows.len()).filter(counts).collect()
    }

    fn worst_pair(&self, scores: &[f64], rate: &dyn Fn(f64) -> f64) -> Option<WorstPair> {
        let rows = self.rows;
        let rates: Vec<f64> = scores.iter().map(|&score| rate(score)).collect();
        let n_groups = rows.layout().groups.len();
        let pair = |condition: Condition| {
            let mut sums = vec![(0.0, 0.0); n_groups];
            for i in (0..rows.len()).filter(|&i| condition.includes(rows.is_positive(i))) {
                let (sum, count) = &mut sums[rows.group(i)];
                *sum += rates[i];
                *count += 1.0;
            }
            let means = sums.iter().enumerate().filter(|(_, (_, count))| *count > 0.0);
            let means: Vec<(usize, f64)> =
                means.map(|(g, (sum, count))| (g, sum / count)).collect();
            let highest = means.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a })?;
            let lowest = means.iter().copied().reduce(|a, b| if b.1 < a.1 { b } else { a })?;
            let groups = [highest.0, lowest.0];
            (means.len() > 1).then_some(WorstPair { condition, groups, size: highest.1 - lowest.1 })
        };
        let pairs = self.fairness.conditions().filter_map(|(condition, _)| pair(condition));
        pairs.reduce(|worst, pair| if pair.size > worst.size { pair } else { worst })
    }
}
