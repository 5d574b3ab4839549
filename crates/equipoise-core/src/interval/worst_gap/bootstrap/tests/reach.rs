//! Which coverage small cells can have, by enumeration of all their outcomes.
//!
//! The count of a cell of a few rows has a few values, so the coverage at given rates jumps. A test could be less cautious at
//! those rates, by rejecting at another level than 5 %. But the same outcomes are more likely at other rates with the same gap,
//! and there the interval would then miss too often. This finds out whether some level avoids both.

use super::*;
use crate::interval::{Count, WorstGap};

/// The least and the most that coverage shall be.
const BAND: std::ops::RangeInclusive<f64> = 0.93..=0.97;

struct Reach {
    /// The coverage of the interval.
    coverage: f64,
    /// Whether a level of the lower limit's test has a coverage within the band here, and of at least 93 % at all rates.
    is_possible: bool,
}

/// One outcome: its counts, the level at which the true gap is rejected as too small, and whether it is rejected as too large.
struct Outcome {
    counts: [usize; 3],
    level: f64,
    too_large: bool,
    covers: bool,
}

fn reach(sizes: [usize; 3], rates: [f64; 3]) -> Reach {
    let (low, high) = extremes(rates.iter().copied());
    let gap = high - low;
    let outcomes = outcomes(sizes, gap);
    let coverage_at = |rates: &[f64; 3], is_covered: &dyn Fn(&Outcome) -> bool| -> f64 {
        let weight = |outcome: &&Outcome| -> f64 {
            (0..3).map(|c| probability(outcome.counts[c], sizes[c], rates[c])).product()
        };
        outcomes.iter().filter(|outcome| is_covered(outcome)).map(|o| weight(&o)).sum()
    };
    let others = rates_with_gap(gap);
    let is_possible = (1..=40).map(|level| f64::from(level) / 100.0).any(|level| {
        let is_covered = |outcome: &Outcome| outcome.level > level && !outcome.too_large;
        BAND.contains(&coverage_at(&rates, &is_covered))
            && others.iter().all(|other| coverage_at(other, &is_covered) >= *BAND.start())
    });
    Reach { coverage: coverage_at(&rates, &|outcome| outcome.covers), is_possible }
}

fn outcomes(sizes: [usize; 3], gap: f64) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for i in 0..=sizes[0] {
        for j in 0..=sizes[1] {
            for k in 0..=sizes[2] {
                let counts = [i, j, k];
                let cells: Vec<Count> =
                    (0..3).map(|c| Count { successes: counts[c], n: sizes[c] }).collect();
                let bootstrap_cells = cells.iter().map(|&cell| Cell::of(cell)).collect();
                let mut bootstrap = Bootstrap::new(vec![bootstrap_cells]);
                let worst = bootstrap.worst_pair();
                let tails = bootstrap.tails(gap, worst, TOWARDS_TIES);
                let interval = WorstGap::of(&[cells], 0).unwrap().gap.abs();
                outcomes.push(Outcome {
                    counts,
                    level: tails.above + tails.too_large,
                    too_large: interval.high < gap,
                    covers: interval.contains(gap),
                });
            }
        }
    }
    outcomes
}

/// Rates of three groups with this worst gap.
fn rates_with_gap(gap: f64) -> Vec<[f64; 3]> {
    let mut all = Vec::new();
    for start in (0..=20).map(|step| f64::from(step) / 20.0 * (1.0 - gap)) {
        for middle in [0.0, 0.25, 0.5, 0.75, 1.0].map(|part| start + part * gap) {
            let (low, high) = (start, start + gap);
            all.extend([
                [low, middle, high],
                [low, high, middle],
                [middle, low, high],
                [middle, high, low],
                [high, low, middle],
                [high, middle, low],
            ]);
        }
    }
    all
}

#[test]
fn cells_with_few_failures_cannot_have_a_coverage_within_the_band() {
    for (sizes, rates) in [([8, 8, 8], [0.95; 3]), ([6, 7, 5], [0.93, 0.93, 0.93])] {
        let reach = reach(sizes, rates);
        println!("{rates:?}, {sizes:?} rows: {:.1} %", 100.0 * reach.coverage);
        assert!(reach.coverage > *BAND.end() && !reach.is_possible, "{}", reach.coverage);
    }
}

#[test]
fn cells_with_enough_of_both_have_it() {
    for (sizes, rates) in [([12, 12, 12], [0.5, 0.5, 0.5]), ([11, 12, 13], [0.7, 0.45, 0.3])] {
        let reach = reach(sizes, rates);
        println!("{rates:?}, {sizes:?} rows: {:.1} %", 100.0 * reach.coverage);
        assert!(BAND.contains(&reach.coverage) && reach.is_possible, "{}", reach.coverage);
    }
}
