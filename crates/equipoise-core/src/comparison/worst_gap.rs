//! The difference between the worst gaps of two models, with an interval that allows for the choice of the worst pair.
//!
//! Let `a_P` be the own model's gap of a pair of groups `P`, first minus second, and `b_P` the other model's. Both orders of
//! two groups are pairs, so the worst gaps are `max a_P` and `max b_P`. The own worst gap is at least that of the pair `P̂`
//! in which it was found, so the difference of the worst gaps is at most
//!
//! - `max_Q (b_Q − a_P̂)`, and
//! - `max_P (b_P − a_P)`, because a maximum changes by no more than its terms.
//!
//! The upper end of the interval is the smaller of these bounds with every difference at the upper end of its own interval.
//! The lower end follows by swapping the models. For two groups, the first bound says when a gap is provably smaller: both
//! the difference and the sum of the two signed gaps must be provably positive. The difference alone proves nothing if a
//! gap of +0.03 and one of −0.03 are compared on rows that shift both by 0.06.

use super::student_t;
use crate::fairness::{Condition, Fairness};
use crate::interval::Estimate;
use crate::metrics::is_selected;
use crate::rows::Rows;

/// The size of the other model's worst gap minus that of the own model. `None` if no gap can be measured.
pub(super) fn worst_gap_difference(
    own: &[f64],
    other: &[f64],
    rows: &Rows,
    fairness: Fairness,
) -> Option<Estimate> {
    let (own, other) = (Rates::of(own, rows, fairness), Rates::of(other, rows, fairness));
    let pairs = own.pairs();
    let by_size = |rates: &Rates<'_>, a: &Pair, b: &Pair| rates.gap(*a).total_cmp(&rates.gap(*b));
    let own_worst = pairs.iter().copied().max_by(|a, b| by_size(&own, a, b))?;
    let other_worst = pairs.iter().copied().max_by(|a, b| by_size(&other, a, b))?;
    let high = upper_end(&own, &other, &pairs, own_worst);
    let low = -upper_end(&other, &own, &pairs, other_worst);
    // Sizes of gaps lie between 0 and 1.
    Some(Estimate {
        value: other.gap(other_worst) - own.gap(own_worst),
        low: low.max(-1.0),
        high: high.min(1.0),
    })
}

/// The upper end of the interval of `max b − max a`, if `worst` is the worst pair of `a`.
fn upper_end(a: &Rates<'_>, b: &Rates<'_>, pairs: &[Pair], worst: Pair) -> f64 {
    let largest = |upper: &dyn Fn(Pair) -> f64| {
        pairs.iter().map(|&pair| upper(pair)).fold(f64::NEG_INFINITY, f64::max)
    };
    let from_worst = largest(&|pair| upper_difference(a, worst, b, pair));
    let same_pair = largest(&|pair| upper_difference(a, pair, b, pair));
    from_worst.min(same_pair)
}

/// The upper end of the 95 % interval of `b_Q − a_P`, by the delta method: the variance is the sum of the squares of the
/// rows' contributions.
fn upper_difference(a: &Rates<'_>, p: Pair, b: &Rates<'_>, q: Pair) -> f64 {
    let n = a.rows.len();
    let contribution = |i: usize| b.contribution(q, i) - a.contribution(p, i);
    let squares: f64 = (0..n).map(|i| contribution(i).powi(2)).sum();
    let variance = squares * n as f64 / (n - 1) as f64;
    b.gap(q) - a.gap(p) + student_t(n) * variance.sqrt()
}

/// Two groups and the index of the condition under which their rates are compared.
#[derive(Clone, Copy)]
struct Pair {
    condition: usize,
    groups: [usize; 2],
}

/// A model's decisions and its rates by condition and group.
struct Rates<'a> {
    rows: &'a Rows,
    selected: Vec<bool>,
    conditions: Vec<Condition>,
    /// Rate and number of rows.
    cells: Vec<Vec<(f64, usize)>>,
}

impl<'a> Rates<'a> {
    fn of(scores: &[f64], rows: &'a Rows, fairness: Fairness) -> Self {
        let conditions: Vec<Condition> = fairness.conditions().map(|(c, _)| c).collect();
        let selected: Vec<bool> = scores.iter().map(|&score| is_selected(score)).collect();
        let cells = conditions.iter().map(|condition| {
            let mut counts = vec![(0_usize, 0_usize); rows.layout().groups.len()];
            for (i, &is_selected) in selected.iter().enumerate() {
                if condition.includes(rows.is_positive(i)) {
                    let (successes, n) = &mut counts[rows.group(i)];
                    *successes += usize::from(is_selected);
                    *n += 1;
                }
            }
            counts.into_iter().map(|(successes, n)| (successes as f64 / n as f64, n)).collect()
        });
        Self { rows, cells: cells.collect(), selected, conditions }
    }

    /// All ordered pairs of groups with rows.
    fn pairs(&self) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for (condition, cells) in self.cells.iter().enumerate() {
            let groups: Vec<usize> = (0..cells.len()).filter(|&g| cells[g].1 > 0).collect();
            for &first in &groups {
                let others = groups.iter().filter(|&&second| second != first);
                pairs.extend(others.map(|&second| Pair { condition, groups: [first, second] }));
            }
        }
        pairs
    }

    fn gap(&self, pair: Pair) -> f64 {
        let [first, second] = pair.groups.map(|group| self.cells[pair.condition][group].0);
        first - second
    }

    /// What row `i` contributes to the error of a gap.
    fn contribution(&self, pair: Pair, i: usize) -> f64 {
        let group = self.rows.group(i);
        let sign = match pair.groups {
            [first, _] if first == group => 1.0,
            [_, second] if second == group => -1.0,
            _ => return 0.0,
        };
        if !self.conditions[pair.condition].includes(self.rows.is_positive(i)) {
            return 0.0;
        }
        let (rate, n) = self.cells[pair.condition][group];
        sign * (f64::from(u8::from(self.selected[i])) - rate) / n as f64
    }
}
