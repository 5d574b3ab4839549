//! The interval of the size of a worst gap, by a seeded parametric bootstrap of every cell.
//!
//! A gap `g` belongs to the interval unless a test at 5 % rejects it (Chuang and Lai's hybrid resampling). The test takes
//! the most likely rates whose worst gap is `g` ([`null_rates`]), draws every cell at its rate, and compares the
//! `T = max (difference − g) / error` found with those drawn, over all ordered pairs of groups. The errors are those at
//! the rates under test, as in a score test. Draws are binomial; those that equal `T` count half (mid-p).
//!
//! The two ends share the 5 %. `g` is too large if `T` is below −1.96 and among the lowest 2.5 % of the draws. The
//! first keeps the interval from vanishing when all groups happen to agree, and it makes misses rare at small gaps:
//! there the groups cannot look much more equal than they are. What the upper end does not use, the lower end does:
//! `g` is too small if `T` is among the highest of the draws, 5 % less the share of draws for which `g` would be too large.
//!
//! Each cell's draws are one from each of [`DRAWS`] equally likely strata, in an order fixed by the seed, so the same
//! cells always have the same limits.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::null_rates::{Ends, null_rates, variance};
use crate::interval::{Count, Estimate, Z};

/// Draws of each cell.
pub(super) const DRAWS: usize = 2048;

/// The share of samples whose interval may miss.
const MISSES: f64 = 0.05;

/// Standard errors by which rates inside the window move towards its nearer end. The rates found are noisy: two that
/// are equal look further apart, and a pair that ties with the worst would count for too little. Coverage hardly depends on it.
const TOWARDS_TIES: f64 = 0.5;

/// Halvings of the range of the lower limit.
const LOWER_STEPS: usize = 11;

/// Halvings of the range of the upper limit of a pair, which needs no draws.
const SCORE_STEPS: usize = 25;

/// Halvings of the range beyond the pairs' upper limits.
const UPPER_STEPS: usize = 9;

/// Draws closer than this to what was found are equal to it.
const ROUNDING: f64 = 1e-9;

/// Successes, and failures, that are added to a cell before rates are drawn from it: more make the intervals of rates near 0
/// and 1 cautious, fewer make those of small cells miss more often than they should.
const ADDED: f64 = 0.125;

/// A group's rate under one condition.
pub(super) struct Cell {
    /// Rows.
    pub(super) n: usize,
    pub(super) value: f64,
    /// The same, moved slightly away from 0 and 1: no success among a few rows does not mean a rate of 0.
    pub(super) smoothed: f64,
}

impl Cell {
    pub(super) fn of(count: Count) -> Self {
        let (n, value) = (count.n as f64, count.share());
        Self { n: count.n, value, smoothed: (n * value + ADDED) / (n + 2.0 * ADDED) }
    }

    fn error_squared(&self, rate: f64) -> f64 {
        variance(rate) / self.n as f64
    }
}

/// The cells of all conditions, ready for tests.
pub(super) struct Bootstrap {
    conditions: Vec<Vec<Cell>>,
    /// The order of each cell's draws.
    orders: Vec<Vec<u32>>,
    draws: Vec<Vec<f64>>,
    largest: Vec<f64>,
}

/// How `T` compares with its draws under the rates of a test.
struct Tails {
    /// The share of draws above `T`, equal ones counting half.
    above: f64,
    /// The share below.
    below: f64,
    /// The share of draws for which the gap would be too large.
    too_large: f64,
}

/// A condition, and the two cells that lie at the ends of its window.
type Pair = (usize, Ends);

impl Bootstrap {
    pub(super) fn new(conditions: Vec<Vec<Cell>>) -> Self {
        let n_cells = conditions.iter().map(Vec::len).sum();
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let orders = (0..n_cells).map(|_| shuffled(&mut rng)).collect();
        let draws = vec![vec![0.0; DRAWS]; n_cells];
        Self { conditions, orders, draws, largest: vec![0.0; DRAWS] }
    }

    /// The interval of the size of the worst gap, which is `value`.
    pub(super) fn interval(&mut self, value: f64) -> Estimate {
        Estimate { value, low: self.lower_limit(value), high: self.upper_limit(value) }
    }

    fn lower_limit(&mut self, value: f64) -> f64 {
        let worst = self.worst_pair();
        let mut is_possible = |gap: f64| {
            let tails = self.tails(gap, worst, TOWARDS_TIES);
            tails.above > MISSES - tails.too_large
        };
        if value <= 0.0 || is_possible(0.0) {
            return 0.0;
        }
        bisect(value, 0.0, LOWER_STEPS, is_possible)
    }

    fn upper_limit(&mut self, value: f64) -> f64 {
        let (high, pair) = self.highest_score_limit(value);
        let mut is_possible = |gap: f64| self.tails(gap, pair, 0.0).below > MISSES / 2.0;
        if high >= 1.0 || !is_possible((high + ROUNDING).min(1.0)) {
            return high;
        }
        bisect(high, 1.0, UPPER_STEPS, is_possible)
    }

    fn worst_pair(&self) -> Pair {
        let mut worst = (f64::NEG_INFINITY, (0, (0, 1)));
        for (condition, cells) in self.conditions.iter().enumerate() {
            for (a, b) in ordered_pairs(cells.len()) {
                let gap = cells[a].value - cells[b].value;
                if gap > worst.0 {
                    worst = (gap, (condition, (a, b)));
                }
            }
        }
        worst.1
    }

    /// The largest gap of any pair that its score test at 2.5 % accepts, and that pair.
    fn highest_score_limit(&self, value: f64) -> (f64, Pair) {
        let mut highest = (value, (0, (0, 1)));
        for (condition, cells) in self.conditions.iter().enumerate() {
            for (a, b) in ordered_pairs(cells.len()) {
                let is_possible = |gap: f64| {
                    let start = two_rates_start(&cells[a], &cells[b], gap);
                    let error = cells[a].error_squared(start + gap) + cells[b].error_squared(start);
                    cells[a].value - cells[b].value - gap >= -Z * error.sqrt()
                };
                if is_possible(highest.0) {
                    let limit = if is_possible(1.0) {
                        1.0
                    } else {
                        bisect(highest.0, 1.0, SCORE_STEPS, is_possible)
                    };
                    highest = (limit, (condition, (a, b)));
                }
            }
        }
        highest
    }

    /// The test of a worst gap of `gap`. If all rates are closer together, those of `pair` move apart.
    fn tails(&mut self, gap: f64, pair: Pair, towards_ties: f64) -> Tails {
        let Self { conditions, orders, draws, largest } = self;
        let is_reached = conditions.iter().any(|cells| range(cells) >= gap);
        largest.fill(f64::NEG_INFINITY);
        let mut found = f64::NEG_INFINITY;
        let mut first = 0;
        for (index, cells) in conditions.iter().enumerate() {
            let ends = (!is_reached && pair.0 == index).then_some(pair.1);
            let mut rates = if ends.is_some() || range(cells) >= gap {
                null_rates(cells, gap, ends)
            } else {
                cells.iter().map(|cell| cell.smoothed).collect()
            };
            if ends.is_none() {
                move_towards_ends(cells, &mut rates, towards_ties);
            }
            for ((cell, &rate), draws) in cells.iter().zip(&rates).zip(&mut draws[first..]) {
                binomial_quantiles(cell.n, rate, draws);
            }
            for (a, b) in ordered_pairs(cells.len()) {
                let error = cells[a].error_squared(rates[a]) + cells[b].error_squared(rates[b]);
                let scale = 1.0 / error.sqrt();
                found = found.max((cells[a].value - cells[b].value - gap) * scale);
                let of_a = orders[first + a].iter().map(|&at| draws[first + a][at as usize]);
                let of_b = orders[first + b].iter().map(|&at| draws[first + b][at as usize]);
                for ((largest, a), b) in largest.iter_mut().zip(of_a).zip(of_b) {
                    let drawn = (a - b - gap) * scale;
                    if drawn > *largest {
                        *largest = drawn;
                    }
                }
            }
            first += cells.len();
        }
        let share = |is_counted: &dyn Fn(f64) -> bool| {
            largest.iter().filter(|&&drawn| is_counted(drawn)).count() as f64 / DRAWS as f64
        };
        let above = share(&|drawn| drawn > found + ROUNDING);
        let below = share(&|drawn| drawn < found - ROUNDING);
        let half_equal = (1.0 - above - below) / 2.0;
        Tails {
            above: above + half_equal,
            below: below + half_equal,
            too_large: share(&|drawn| drawn < -Z).min(MISSES / 2.0),
        }
    }
}

/// The boundary between `possible` and `impossible`.
fn bisect(
    mut possible: f64,
    mut impossible: f64,
    steps: usize,
    mut is_possible: impl FnMut(f64) -> bool,
) -> f64 {
    for _ in 0..steps {
        let middle = (possible + impossible) / 2.0;
        if is_possible(middle) {
            possible = middle;
        } else {
            impossible = middle;
        }
    }
    possible
}

/// The lower of the two most likely rates that differ by `gap`.
fn two_rates_start(top: &Cell, bottom: &Cell, gap: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0 - gap);
    for _ in 0..SCORE_STEPS {
        let start = (low + high) / 2.0;
        let end = start + gap;
        let slope = top.n as f64 * (top.smoothed - end) / variance(end)
            + bottom.n as f64 * (bottom.smoothed - start) / variance(start);
        if slope < 0.0 {
            high = start;
        } else {
            low = start;
        }
    }
    (low + high) / 2.0
}

fn range(cells: &[Cell]) -> f64 {
    let (low, high) = extremes(cells.iter().map(|cell| cell.smoothed));
    high - low
}

fn extremes(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)))
}

/// Moves rates between the lowest and the highest by some standard errors towards the nearer of the two.
fn move_towards_ends(cells: &[Cell], rates: &mut [f64], errors: f64) {
    let (low, high) = extremes(rates.iter().copied());
    for (cell, rate) in cells.iter().zip(rates) {
        let step = errors * cell.error_squared(*rate).sqrt();
        *rate = if *rate - low < high - *rate {
            (*rate - step).max(low)
        } else {
            (*rate + step).min(high)
        };
    }
}

pub(in crate::interval) fn ordered_pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |a| (0..n).map(move |b| (a, b))).filter(|(a, b)| a != b)
}

fn shuffled(rng: &mut ChaCha8Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..DRAWS as u32).collect();
    for i in (1..DRAWS).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    order
}

/// The shares of successes among `n` rows at the midpoints of equally likely strata.
fn binomial_quantiles(n: usize, rate: f64, quantiles: &mut [f64]) {
    if rate <= 0.0 || rate >= 1.0 {
        quantiles.fill(rate.clamp(0.0, 1.0));
        return;
    }
    // Probabilities relative to that of the most likely count; those below NEGLIGIBLE of it are left out.
    const NEGLIGIBLE: f64 = 1e-12;
    let odds = rate / (1.0 - rate);
    let mode = (((n + 1) as f64 * rate) as usize).min(n);
    let (mut below, mut term) = (Vec::new(), 1.0);
    for k in (1..=mode).rev() {
        term *= k as f64 / ((n - k + 1) as f64 * odds);
        if term < NEGLIGIBLE {
            break;
        }
        below.push(term);
    }
    let fewest = mode - below.len();
    let mut terms: Vec<f64> = below.into_iter().rev().chain([1.0]).collect();
    term = 1.0;
    for k in mode..n {
        term *= (n - k) as f64 * odds / (k + 1) as f64;
        if term < NEGLIGIBLE {
            break;
        }
        terms.push(term);
    }
    let stratum = terms.iter().sum::<f64>() / quantiles.len() as f64;
    let (mut at, mut cumulative) = (0, terms[0]);
    for (index, quantile) in quantiles.iter_mut().enumerate() {
        while cumulative < (index as f64 + 0.5) * stratum && at + 1 < terms.len() {
            at += 1;
            cumulative += terms[at];
        }
        *quantile = (fewest + at) as f64 / n as f64;
    }
}

#[cfg(test)]
mod tests;
