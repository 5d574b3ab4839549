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

use crate::fairness::{Condition, Fairness};
use crate::interval::{Estimate, student_t};
use crate::metrics::is_selected;
use crate::rows::Rows;

/// The size of the other model's worst gap minus that of the own model. `None` if no gap can be measured.
pub(crate) fn worst_gap_difference(
    own: &[f64],
    other: &[f64],
    rows: &Rows,
    fairness: Fairness,
) -> Option<Estimate> {
    let rates = Rates::of([own, other], rows, fairness);
    let pairs = rates.pairs();
    let [own_worst, other_worst] = [OWN, OTHER].map(|model| {
        let by_size =
            |a: &&Pair, b: &&Pair| rates.gap(model, **a).total_cmp(&rates.gap(model, **b));
        pairs.iter().max_by(by_size).copied()
    });
    let (own_worst, other_worst) = (own_worst?, other_worst?);
    let high = rates.upper_end(OWN, OTHER, &pairs, own_worst);
    let low = -rates.upper_end(OTHER, OWN, &pairs, other_worst);
    // Sizes of gaps lie between 0 and 1.
    Some(Estimate {
        value: rates.gap(OTHER, other_worst) - rates.gap(OWN, own_worst),
        low: low.max(-1.0),
        high: high.min(1.0),
    })
}

/// Indices of the models.
const OWN: usize = 0;
const OTHER: usize = 1;

/// Two groups and the index of the condition under which their rates are compared.
#[derive(Clone, Copy)]
struct Pair {
    condition: usize,
    groups: [usize; 2],
}

/// The rates of both models, and what the rows of each group contribute to their errors.
struct Rates {
    n_rows: usize,
    /// The quantile of Student's t for these rows.
    t: f64,
    /// By group.
    cells: Vec<Cells>,
    n_conditions: usize,
}

/// The rates of one group. A figure is a model and a condition, and has the index `model · n_conditions + condition`.
struct Cells {
    /// Number of rows, by condition.
    n: Vec<usize>,
    /// By figure.
    rates: Vec<f64>,
    /// Sums of products of the rows' contributions `(decision − rate)/n` to two figures.
    products: Vec<Vec<f64>>,
}

impl Rates {
    fn of(scores: [&[f64]; 2], rows: &Rows, fairness: Fairness) -> Self {
        let conditions: Vec<Condition> = fairness.conditions().map(|(c, _)| c).collect();
        let n_conditions = conditions.len();
        let mut members = vec![Vec::new(); rows.layout().groups.len()];
        (0..rows.len()).for_each(|i| members[rows.group(i)].push(i));
        let decision = |model: usize, i: usize| f64::from(u8::from(is_selected(scores[model][i])));
        let cells = members.iter().map(|members| {
            let counts =
                |condition: usize, i: usize| conditions[condition].includes(rows.is_positive(i));
            let n_of = |c: usize| members.iter().filter(|&&i| counts(c, i)).count();
            let n: Vec<usize> = (0..n_conditions).map(n_of).collect();
            let figures: Vec<(usize, usize)> = [OWN, OTHER]
                .into_iter()
                .flat_map(|m| (0..n_conditions).map(move |c| (m, c)))
                .collect();
            let rate = |&(model, c): &(usize, usize)| {
                let selected: f64 =
                    members.iter().filter(|&&i| counts(c, i)).map(|&i| decision(model, i)).sum();
                selected / n[c] as f64
            };
            let rates: Vec<f64> = figures.iter().map(rate).collect();
            let mut products = vec![vec![0.0; figures.len()]; figures.len()];
            for &i in members {
                let contribution =
                    |(figure, &(model, c)): (usize, &(usize, usize))| match counts(c, i) {
                        true => (decision(model, i) - rates[figure]) / n[c] as f64,
                        false => 0.0,
                    };
                let own: Vec<f64> = figures.iter().enumerate().map(contribution).collect();
                for (row, a) in products.iter_mut().zip(&own) {
                    row.iter_mut().zip(&own).for_each(|(sum, b)| *sum += a * b);
                }
            }
            Cells { n, rates, products }
        });
        let (n_rows, t) = (rows.len(), student_t(rows.len() - 1));
        Self { n_rows, t, cells: cells.collect(), n_conditions }
    }

    /// All ordered pairs of groups with rows.
    fn pairs(&self) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for condition in 0..self.n_conditions {
            let has_rows = |&group: &usize| self.cells[group].n[condition] > 0;
            let groups: Vec<usize> = (0..self.cells.len()).filter(has_rows).collect();
            for &first in &groups {
                let others = groups.iter().filter(|&&second| second != first);
                pairs.extend(others.map(|&second| Pair { condition, groups: [first, second] }));
            }
        }
        pairs
    }

    fn gap(&self, model: usize, pair: Pair) -> f64 {
        let figure = model * self.n_conditions + pair.condition;
        let [first, second] = pair.groups.map(|group| self.cells[group].rates[figure]);
        first - second
    }

    /// The upper end of the interval of `max b − max a`, if `worst` is the worst pair of model `a`.
    fn upper_end(&self, a: usize, b: usize, pairs: &[Pair], worst: Pair) -> f64 {
        let largest = |upper: &dyn Fn(Pair) -> f64| {
            pairs.iter().map(|&pair| upper(pair)).fold(f64::NEG_INFINITY, f64::max)
        };
        let from_worst = largest(&|pair| self.upper_difference(a, worst, b, pair));
        let same_pair = largest(&|pair| self.upper_difference(a, pair, b, pair));
        from_worst.min(same_pair)
    }

    /// The upper end of the 95 % interval of `b_Q − a_P`, by the delta method: the variance is the sum of the squares of
    /// the rows' contributions.
    fn upper_difference(&self, a: usize, p: Pair, b: usize, q: Pair) -> f64 {
        let figures = [b * self.n_conditions + q.condition, a * self.n_conditions + p.condition];
        let sign = |pair: Pair, group: usize| match pair.groups {
            [first, _] if first == group => 1.0,
            [_, second] if second == group => -1.0,
            _ => 0.0,
        };
        let of_group = |group: usize| {
            let (of_b, of_a) = (sign(q, group), -sign(p, group));
            let products = |i: usize, j: usize| self.cells[group].products[figures[i]][figures[j]];
            of_b * of_b * products(0, 0)
                + of_a * of_a * products(1, 1)
                + 2.0 * of_b * of_a * products(0, 1)
        };
        let of_p = p.groups.into_iter().filter(|group| !q.groups.contains(group));
        let squares: f64 = q.groups.into_iter().chain(of_p).map(of_group).sum();
        // Rounding may leave a difference without error slightly below 0.
        let variance = squares.max(0.0) * self.n_rows as f64 / (self.n_rows - 1) as f64;
        self.gap(b, q) - self.gap(a, p) + self.t * variance.sqrt()
    }
}
