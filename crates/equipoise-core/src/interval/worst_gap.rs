//! The worst gap: the largest difference between two groups under any condition of a criterion, with an interval.
//!
//! Two groups and one condition have the interval of their difference. With more pairs, the largest of several estimates
//! tends to be too large, and by how much depends on the rates: not at all if one pair is far ahead, a lot if many are
//! close. There the interval is found by a bootstrap ([`bootstrap`]).

mod bootstrap;
mod null_rates;

use serde::{Deserialize, Serialize};

pub(super) use bootstrap::ordered_pairs;

use super::rows_needed::rows_for_worst_gap;
use super::{Count, Estimate, rate_difference};
use bootstrap::{Bootstrap, Cell};

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
    pub fn of(conditions: &[Vec<Count>], reference: usize) -> Option<Self> {
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
        let value = first.share() - second.share();
        let one_pair = cells.len() == 1 && cells[0].1.len() == 2;
        let gap = if one_pair {
            rate_difference(first, second)?
        } else {
            let size = size_interval(&cells, value.abs());
            match size.low > 0.0 {
                true if value < 0.0 => -size,
                true => size,
                // The groups may be equal, so the gap may also have the other sign.
                false => Estimate { value, low: -size.high, high: size.high },
            }
        };
        Some(Self { gap, location, empty })
    }

    /// About how many rows each group would need under every condition for the interval of the worst gap to exclude
    /// `bound`, in four of five samples, if the rates are those found. `None` if no condition has two groups with rows, or
    /// if a billion rows would not do.
    pub fn rows_per_group(conditions: &[Vec<Count>], bound: f64) -> Option<usize> {
        let of_cell = |cell: Count| (cell.share(), variance_of_one_row(cell));
        let of_condition = |groups: &Vec<Count>| -> Vec<(f64, f64)> {
            groups.iter().filter_map(|cell| cell.checked()).map(of_cell).collect()
        };
        let rates: Vec<Vec<(f64, f64)>> = conditions.iter().map(of_condition).collect();
        rows_for_worst_gap(&rates, bound)
    }
}

/// The variance of one row. Two successes and two failures more, as the centre of Wilson's interval has, or no success
/// would mean no variance.
fn variance_of_one_row(cell: Count) -> f64 {
    let n = cell.n as f64;
    let smoothed = (n * cell.share() + 2.0) / (n + 4.0);
    n * (smoothed * (1.0 - smoothed) / n)
}

/// A condition, and its groups with rows.
type Members = (usize, Vec<(usize, Count)>);

/// The pair with the widest gap, in the order in which its difference is reported.
fn widest(cells: &[Members], reference: usize) -> Option<(Location, Count, Count)> {
    let mut best: Option<(f64, Location, Count, Count)> = None;
    for (condition, members) in cells {
        for (at, &a) in members.iter().enumerate() {
            for &b in &members[at + 1..] {
                let difference = a.1.share() - b.1.share();
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

/// The interval of the size of the worst gap, which is `value`.
fn size_interval(cells: &[Members], value: f64) -> Estimate {
    let of_condition =
        |(_, members): &Members| members.iter().map(|(_, cell)| Cell::of(*cell)).collect();
    Bootstrap::new(cells.iter().map(of_condition).collect()).interval(value)
}
