//! The worst gap: the largest difference between two groups under any condition of a criterion, with an interval.
//!
//! Two groups and one condition have the interval of their difference. With more pairs, two effects matter. The
//! largest of several estimates tends to be too large, so the lower limit must allow for the choice. And how much it
//! must allow depends on the rates: nothing if one pair is far ahead, a lot if many are close.
//!
//! The upper limit is the largest of the pairs' upper limits. It needs no adjustment: the pair with the truly
//! worst gap is among them. The lower limit `g` is the largest of the pairs' lower limits at a critical value `c(g)`.
//! For each `g`, take the rates closest to those found whose worst gap is `g`, and the distribution of
//! `T = max (difference − g) / error` over all ordered pairs under independent normal errors; `c(g)` is the quantile
//! of `T` that leaves 5 % to both ends together, `P(T > c) + P(T < −1.96) = 5 %`. With equal rates no interval can
//! miss at the upper end, and the lower end may use all 5 %.
//!
//! `T` is simulated with a fixed seed, so the same cells always give the same limits.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use super::mean::{PooledDispersion, mean_difference_limits};
use super::rate::newcombe_limits;
use super::{Count, Estimate, Moments, Z, rows_per_group};

/// Simulated samples. The probability of 5 % is met to about 0.25 points.
const DRAWS: usize = 8000;

/// Standard errors by which rates inside the window move towards its nearer end. The rates found are noisy: two that
/// are equal look further apart, and a pair that ties with the worst would count for too little. Chosen between 0.5
/// and 1 on the coverage test's own populations; both keep SP and EO above 91 % on all of them.
const TOWARDS_TIES: f64 = 0.5;

/// The lower limit is exact to this, which is far below the simulation's error.
const TOLERANCE: f64 = 1e-4;

/// Steps towards the lower limit; four to six are usual.
const MAX_STEPS: usize = 30;

/// A group's figure under one condition: a [`Count`] of hard decisions or the [`Moments`] of soft scores.
pub trait GapCell: Copy {
    /// What the cells of one condition have in common.
    type Pool;
    /// Finds it.
    fn pool(cells: &[Self]) -> Self::Pool;
    /// The cell, if it has rows.
    fn checked(&self) -> Option<Self>;
    /// Rows.
    fn n(&self) -> usize;
    /// The rate or the mean.
    fn value(&self) -> f64;
    /// The squared standard error, if the rate were `value`. Never 0.
    fn error_squared(&self, value: f64) -> f64;
    /// The limits of `a − b` at a critical value of the normal distribution.
    fn difference_limits(a: Self, b: Self, pool: &Self::Pool, critical: f64) -> (f64, f64);
}

impl GapCell for Count {
    type Pool = ();

    fn pool(_: &[Self]) {}

    fn checked(&self) -> Option<Self> {
        Count::checked(self)
    }

    fn n(&self) -> usize {
        self.n
    }

    fn value(&self) -> f64 {
        self.share()
    }

    fn error_squared(&self, value: f64) -> f64 {
        // Two successes and two failures more, as the centre of Wilson's interval has, or no success would mean
        // no error.
        let n = self.n as f64;
        let smoothed = (n * value + 2.0) / (n + 4.0);
        smoothed * (1.0 - smoothed) / n
    }

    fn difference_limits(a: Self, b: Self, (): &(), critical: f64) -> (f64, f64) {
        newcombe_limits(a, b, critical)
    }
}

impl GapCell for Moments {
    type Pool = PooledDispersion;

    fn pool(cells: &[Self]) -> PooledDispersion {
        PooledDispersion::of(cells)
    }

    fn checked(&self) -> Option<Self> {
        Moments::checked(self)
    }

    fn n(&self) -> usize {
        self.n
    }

    fn value(&self) -> f64 {
        self.mean
    }

    fn error_squared(&self, _: f64) -> f64 {
        Moments::error_squared(self)
    }

    fn difference_limits(a: Self, b: Self, pool: &PooledDispersion, critical: f64) -> (f64, f64) {
        mean_difference_limits(a, b, pool, critical)
    }
}

/// Where a gap was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// The condition.
    pub condition: usize,
    /// The group whose rate is taken.
    pub group: usize,
    /// The group whose rate is subtracted.
    pub other: usize,
}

/// The worst gap over all conditions and pairs of groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorstGap {
    /// The gap: the reference group minus the other if the reference group is one of the two, otherwise the larger
    /// minus the smaller. The interval is that of the size of the worst gap, with this sign, or with both signs if
    /// the size may be 0: which pair is the worst may itself be uncertain. With two groups and one condition it is the interval of the signed difference.
    pub gap: Estimate,
    /// Where it was found; the first of equals.
    pub location: Location,
    /// Conditions and groups without rows, which the gap leaves out.
    pub empty: Vec<(usize, usize)>,
}

impl WorstGap {
    /// The worst gap among `conditions`, each with one cell per group. Groups without rows under a condition are left
    /// out of it. `None` if no condition has two groups with rows.
    pub fn of<C: GapCell>(conditions: &[Vec<C>], reference: usize) -> Option<Self> {
        let mut empty = Vec::new();
        let mut cells = Vec::new();
        for (condition, groups) in conditions.iter().enumerate() {
            let mut members = Vec::new();
            for (group, cell) in groups.iter().enumerate() {
                match cell.checked() {
                    Some(cell) => members.push((group, cell)),
                    None => empty.push((condition, group)),
                }
            }
            if members.len() > 1 {
                cells.push((condition, members));
            }
        }
        let (location, first, second) = widest(&cells, reference)?;
        let value = first.value() - second.value();
        let one_pair = cells.len() == 1 && cells[0].1.len() == 2;
        let gap = if one_pair {
            let pool = C::pool(&[first, second]);
            let (low, high) = C::difference_limits(first, second, &pool, Z);
            Estimate { value, low, high }
        } else {
            let groups: Vec<Vec<C>> =
                cells.iter().map(|(_, members)| members.iter().map(|m| m.1).collect()).collect();
            let size = size_interval(&groups, value.abs());
            match size.low > 0.0 {
                true if value < 0.0 => -size,
                true => size,
                // The groups may be equal, so the gap may also have the other sign.
                false => Estimate { value, low: -size.high, high: size.high },
            }
        };
        Some(Self { gap, location, empty })
    }

    /// About how many rows each group would need under the condition of the worst gap for its interval to exclude
    /// `bound`, if the rates are those found; see [`rows_per_group`]. `conditions` are those of [`WorstGap::of`].
    pub fn rows_per_group<C: GapCell>(&self, conditions: &[Vec<C>], bound: f64) -> Option<usize> {
        let groups = conditions.get(self.location.condition)?;
        let variance = |group: usize| {
            let cell = groups.get(group)?.checked()?;
            Some(cell.n() as f64 * cell.error_squared(cell.value()))
        };
        let variances = (variance(self.location.group)?, variance(self.location.other)?);
        rows_per_group(self.gap.value, variances, bound)
    }
}

type Members<C> = (usize, Vec<(usize, C)>);

/// The pair with the widest gap, in the order in which its difference is reported.
fn widest<C: GapCell>(cells: &[Members<C>], reference: usize) -> Option<(Location, C, C)> {
    let mut best: Option<(f64, Location, C, C)> = None;
    for (condition, members) in cells {
        for (at, &a) in members.iter().enumerate() {
            for &b in &members[at + 1..] {
                let difference = a.1.value() - b.1.value();
                let swap = match reference {
                    r if r == a.0 => false,
                    r if r == b.0 => true,
                    _ => difference < 0.0,
                };
                let (first, second) = if swap { (b, a) } else { (a, b) };
                let location = Location { condition: *condition, group: first.0, other: second.0 };
                if best.as_ref().is_none_or(|best| difference.abs() > best.0) {
                    best = Some((difference.abs(), location, first.1, second.1));
                }
            }
        }
    }
    best.map(|(_, location, first, second)| (location, first, second))
}

/// The interval of the size of the worst gap.
fn size_interval<C: GapCell>(conditions: &[Vec<C>], value: f64) -> Estimate {
    let pools: Vec<C::Pool> = conditions.iter().map(|groups| C::pool(groups)).collect();
    let limits = |critical: f64| {
        let (mut low, mut high) = (0.0f64, value);
        for (groups, pool) in conditions.iter().zip(&pools) {
            for (a, b) in ordered_pairs(groups.len()) {
                let (l, h) = C::difference_limits(groups[a], groups[b], pool, critical);
                (low, high) = (low.max(l), high.max(h));
            }
        }
        (low, high)
    };
    let high = limits(Z).1.min(1.0);
    let noise = Noise::new(conditions.iter().map(Vec::len).sum());
    let excess = |g: f64| limits(noise.critical_value(conditions, g)).0 - g;
    Estimate { value, low: root(excess, value).min(value), high }
}

/// The root of a decreasing function between 0 and `end`, by the Illinois variant of regula falsi; 0 if it is not
/// positive there.
fn root(function: impl Fn(f64) -> f64, end: f64) -> f64 {
    let (mut low, mut high) = (0.0, end);
    let (mut at_low, mut at_high) = (function(low), function(high));
    if at_low <= 0.0 {
        return 0.0;
    }
    let mut last_moved_low = None;
    for _ in 0..MAX_STEPS {
        if high - low < TOLERANCE || at_low <= at_high {
            break;
        }
        let middle = low + (high - low) * at_low / (at_low - at_high);
        let at_middle = function(middle);
        if at_middle.abs() < TOLERANCE {
            return middle;
        }
        let moves_low = at_middle > 0.0;
        if moves_low {
            (low, at_low) = (middle, at_middle);
            if last_moved_low == Some(true) {
                at_high /= 2.0;
            }
        } else {
            (high, at_high) = (middle, at_middle);
            if last_moved_low == Some(false) {
                at_low /= 2.0;
            }
        }
        last_moved_low = Some(moves_low);
    }
    low
}

fn ordered_pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |a| (0..n).map(move |b| (a, b))).filter(|(a, b)| a != b)
}

/// Standard normal numbers, one per draw and cell.
struct Noise {
    draws: Vec<f64>,
    cells: usize,
}

impl Noise {
    fn new(cells: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let draws = (0..DRAWS * cells).map(|_| StandardNormal.sample(&mut rng)).collect();
        Self { draws, cells }
    }

    /// `c(g)` of the module's description.
    fn critical_value<C: GapCell>(&self, conditions: &[Vec<C>], g: f64) -> f64 {
        // For each ordered pair: both cells, both errors and the distance of its difference from g, in units of the
        // difference's error.
        let mut pairs = Vec::new();
        let mut first = 0;
        for groups in conditions {
            let rates = closest_rates(groups, g);
            let errors: Vec<f64> =
                groups.iter().zip(&rates).map(|(c, &r)| c.error_squared(r)).collect();
            for (a, b) in ordered_pairs(groups.len()) {
                let error = (errors[a] + errors[b]).sqrt();
                let shares = (errors[a].sqrt() / error, errors[b].sqrt() / error);
                let distance = (rates[a] - rates[b] - g) / error;
                pairs.push((first + a, first + b, shares, distance));
            }
            first += groups.len();
        }
        let mut largest: Vec<f64> = self
            .draws
            .chunks_exact(self.cells)
            .map(|draw| {
                pairs.iter().fold(f64::NEG_INFINITY, |most, &(a, b, shares, distance)| {
                    most.max(distance + shares.0 * draw[a] - shares.1 * draw[b])
                })
            })
            .collect();
        let total = largest.len() as f64;
        let upper_misses = largest.iter().filter(|&&t| t < -Z).count() as f64 / total;
        let tail = (0.05 - upper_misses).clamp(0.025, 0.05);
        let rank = ((1.0 - tail) * total).ceil() as usize - 1;
        *largest.select_nth_unstable_by(rank, f64::total_cmp).1
    }
}

/// The values closest to those of `groups`, in squared errors, with no two further apart than `g`: those outside a
/// window of width `g` move to its ends, and those inside a little towards them.
fn closest_rates<C: GapCell>(groups: &[C], g: f64) -> Vec<f64> {
    let values: Vec<(f64, f64)> =
        groups.iter().map(|c| (c.value(), 1.0 / c.error_squared(c.value()))).collect();
    let (mut low, mut high) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v.0), h.max(v.0)));
    if high - low > g {
        // The squared distance is convex in the window's start; its slope changes sign between low and high − g.
        high -= g;
        for _ in 0..50 {
            let start = (low + high) / 2.0;
            let slope: f64 = values.iter().map(|&(v, w)| w * (v.clamp(start, start + g) - v)).sum();
            if slope > 0.0 {
                high = start;
            } else {
                low = start;
            }
        }
    }
    let end = low + g;
    let to_nearer_end = |v: f64, error: f64| {
        if v - low < end - v { (v - error).max(low) } else { (v + error).min(end) }
    };
    values.iter().map(|&(v, w)| to_nearer_end(v.clamp(low, end), TOWARDS_TIES / w.sqrt())).collect()
}

#[cfg(test)]
pub(super) fn critical_value<C: GapCell>(conditions: &[Vec<C>], g: f64) -> f64 {
    Noise::new(conditions.iter().map(Vec::len).sum()).critical_value(conditions, g)
}
