//! Rates of soft decisions `σ(k a·θ)`, a surrogate that is close to the rates that people measure.
//!
//! For a condition and a group, the contrast is the mean soft decision of the group's rows minus that of all other
//! groups' rows. A contrast for which either has no rows is 0. Rows may be weighted by their table.

use std::borrow::Cow;

use super::Condition;
use super::contrasts::{Unfairness, contrasts};
use crate::logistic::{dot, sigmoid};
use crate::rows::Rows;

/// Soft rates of a model on the rows of some tables.
pub(crate) struct SoftRates {
    n: usize,
    /// By condition and group, the sums over all tables.
    sums: Vec<Vec<Sums>>,
    /// The same for each table, without gradients.
    by_table: Vec<Vec<Vec<Sums>>>,
}

/// Sums over the rows of one condition and group.
#[derive(Clone, Default)]
struct Sums {
    /// Weighted number of rows.
    rows: f64,
    /// Sum of the soft decisions.
    selected: f64,
    /// Gradient of that sum.
    slope: Vec<f64>,
}

impl SoftRates {
    /// Soft rates at `theta`. The rows of table `c` have weight `weights[c]`, which must not be 0 for all of them.
    pub(crate) fn at(tables: &[Rows], weights: &[f64], slope: f64, theta: &[f64]) -> Self {
        let n_groups = tables.first().map_or(0, |rows| rows.layout().groups.len());
        let none = |n: usize| {
            vec![
                vec![Sums { slope: vec![0.0; n], ..Sums::default() }; n_groups];
                Condition::ALL.len()
            ]
        };
        let mut sums = none(theta.len());
        let mut by_table = Vec::with_capacity(tables.len());
        for (rows, &weight) in tables.iter().zip(weights) {
            let mut own = none(0);
            for i in 0..rows.len() {
                let h = sigmoid(slope * dot(rows.a(i), theta));
                let steepness = weight * slope * h * (1.0 - h);
                let condition = if rows.is_positive(i) { 1 } else { 2 };
                for c in [0, condition] {
                    let group = rows.group(i);
                    own[c][group].rows += 1.0;
                    own[c][group].selected += h;
                    let all = &mut sums[c][group];
                    all.rows += weight;
                    all.selected += weight * h;
                    all.slope.iter_mut().zip(rows.a(i)).for_each(|(s, v)| *s += steepness * v);
                }
            }
            by_table.push(own);
        }
        Self { n: theta.len(), sums, by_table }
    }

    /// The contrasts and their gradients.
    pub(crate) fn unfairness(&self) -> Unfairness<'static> {
        let (mut values, mut slopes) = (Vec::new(), Vec::new());
        for (own, rest) in self.pairs() {
            let mut slope = vec![0.0; self.n];
            let mut value = 0.0;
            if own.rows > 0.0 && rest.rows > 0.0 {
                value = own.selected / own.rows - rest.selected / rest.rows;
                for ((s, a), b) in slope.iter_mut().zip(&own.slope).zip(&rest.slope) {
                    *s = a / own.rows - b / rest.rows;
                }
            }
            values.push(value);
            slopes.push(slope);
        }
        Unfairness { values, slopes: Cow::Owned(slopes) }
    }

    /// The derivative of every contrast in the weight of each table.
    pub(crate) fn by_weight(&self) -> Vec<Vec<f64>> {
        let pairs = self.pairs();
        let n_groups = self.sums[0].len();
        let of_table = |table: &Vec<Vec<Sums>>| {
            let derivative = |((own, rest), (c, group)): (&(Sums, Sums), (Condition, usize))| {
                if own.rows == 0.0 || rest.rows == 0.0 {
                    return 0.0;
                }
                let (mine, others) = split(&table[c as usize], group, 0);
                let of = |all: &Sums, part: &Sums| {
                    (part.selected - all.selected / all.rows * part.rows) / all.rows
                };
                of(own, &mine) - of(rest, &others)
            };
            pairs.iter().zip(contrasts(n_groups)).map(derivative).collect()
        };
        self.by_table.iter().map(of_table).collect()
    }

    /// For every contrast, the sums of its group and of all other groups.
    fn pairs(&self) -> Vec<(Sums, Sums)> {
        let n_groups = self.sums[0].len();
        contrasts(n_groups).map(|(c, group)| split(&self.sums[c as usize], group, self.n)).collect()
    }
}

/// The sums of a group, and of all others together.
fn split(by_group: &[Sums], group: usize, n: usize) -> (Sums, Sums) {
    let mut rest = Sums { slope: vec![0.0; n], ..Sums::default() };
    for (_, sums) in by_group.iter().enumerate().filter(|(g, _)| *g != group) {
        rest.rows += sums.rows;
        rest.selected += sums.selected;
        rest.slope.iter_mut().zip(&sums.slope).for_each(|(r, s)| *r += s);
    }
    (by_group[group].clone(), rest)
}
