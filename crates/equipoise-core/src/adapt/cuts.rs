//! Thresholds with equal rates in all groups.
//!
//! The rate of a group above a cut is `Σ_C ω_C P(score > cut | C)` over the conditions `C` of the criterion: the selection
//! rate for statistical parity, the true positive rate for equal opportunity, the false positive rate for predictive
//! equality. Equalised odds and mixtures count the mean of their rates, because one cut cannot equalise two of them. For
//! two groups and equalised odds, equal means make the worse of both gaps as small as the scores allow: moving a cut
//! moves both rates in the same direction, and at equal means both gaps have the same size.
//!
//! For each overall rate on a grid, the cut of a group is the one whose rate is nearest. The grid's best rate is the one
//! with the most correct decisions on all rows, counted or not. A group with fewer than [`MIN_ROWS`] rows of a condition
//! is cut where all rows together have the overall rate; if fewer than two groups remain, everybody is.

use rayon::prelude::*;

use crate::fairness::{Condition, Fairness};
use crate::rows::Rows;

/// The fewest rows of each condition from which a group gets a threshold of its own.
pub(super) const MIN_ROWS: usize = 5;

/// Rates from .01 to .99, so that no group is selected or rejected as a whole unless it is small.
const GRID: usize = 100;

/// Scores that are relatively closer than this count as equal, because rounding would separate them.
const TOLERANCE: f64 = 1e-9;

/// The score above which the rows of each group are selected.
pub(super) struct Cuts {
    pub(super) by_group: Vec<f64>,
    /// The groups with rows that share a cut.
    pub(super) sharing: Vec<usize>,
}

pub(super) fn choose_cuts(scores: &[f64], rows: &Rows, fairness: Fairness) -> Cuts {
    let conditions: Vec<(Condition, f64)> = fairness.conditions().collect();
    let n_groups = rows.layout().groups.len();
    let mut members: Vec<Vec<(f64, bool)>> = vec![Vec::new(); n_groups];
    (0..rows.len()).for_each(|i| members[rows.group(i)].push((scores[i], rows.is_positive(i))));
    let everyone = Ranked::of(members.concat(), &conditions);
    let groups: Vec<Ranked> = members.into_iter().map(|own| Ranked::of(own, &conditions)).collect();
    let is_large = |ranked: &Ranked| ranked.min_counted >= MIN_ROWS;
    let n_large = groups.iter().filter(|ranked| is_large(ranked)).count();
    let is_own = |ranked: &Ranked| rows.layout().as_feature && n_large >= 2 && is_large(ranked);

    let cuts_at = |rate: f64| -> Vec<f64> {
        let common = everyone.cut_at(rate);
        let cut = |ranked: &Ranked| if is_own(ranked) { ranked.cut_at(rate) } else { common };
        groups.iter().map(cut).collect()
    };
    let mut best: Option<(usize, Vec<f64>)> = None;
    for step in 1..GRID {
        let cuts = cuts_at(step as f64 / GRID as f64);
        let correct = groups.iter().zip(&cuts).map(|(ranked, &cut)| ranked.correct(cut)).sum();
        if best.as_ref().is_none_or(|(most, _)| correct > *most) {
            best = Some((correct, cuts));
        }
    }
    let shares = |&g: &usize| !is_own(&groups[g]) && !groups[g].scores.is_empty();
    Cuts {
        by_group: best.map_or_else(|| vec![0.0; n_groups], |(_, cuts)| cuts),
        sharing: (0..n_groups).filter(shares).collect(),
    }
}

/// The rows of a group by score.
struct Ranked {
    /// Ascending.
    scores: Vec<f64>,
    /// Correct decisions if all but so many of the lowest scores are selected.
    correct: Vec<usize>,
    /// Every cut that makes a difference to the rate, ascending, and the rate above it.
    cuts: Vec<(f64, f64)>,
    /// The number of rows of the rarest condition.
    min_counted: usize,
}

impl Ranked {
    fn of(mut rows: Vec<(f64, bool)>, conditions: &[(Condition, f64)]) -> Self {
        rows.par_sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let n_of = |condition: Condition| rows.iter().filter(|r| condition.includes(r.1)).count();
        let counts: Vec<usize> = conditions.iter().map(|(c, _)| n_of(*c)).collect();
        let share = |is_positive: bool| -> f64 {
            let of = |(&(condition, weight), &n): (&(Condition, f64), &usize)| {
                if condition.includes(is_positive) { weight / n as f64 } else { 0.0 }
            };
            conditions.iter().zip(&counts).map(of).sum()
        };
        let shares = [false, true].map(share);
        let counted = rows.iter().map(|&(score, y)| (score, shares[usize::from(y)]));
        let mut selected = rows.iter().filter(|row| row.1).count();
        let mut correct = vec![selected];
        for &(_, is_positive) in &rows {
            // The lowest row that was selected is now rejected.
            if is_positive {
                selected -= 1
            } else {
                selected += 1
            }
            correct.push(selected);
        }
        Self {
            cuts: cuts_between(counted.filter(|row| row.1 > 0.0)),
            scores: rows.iter().map(|row| row.0).collect(),
            correct,
            min_counted: counts.into_iter().min().unwrap_or(0),
        }
    }

    /// The cut whose rate is nearest; the lower of two.
    fn cut_at(&self, rate: f64) -> f64 {
        let at = self.cuts.partition_point(|cut| cut.1 >= rate);
        let near = self.cuts[at.saturating_sub(1)..].iter().take(2);
        let nearest = near.min_by(|a, b| (a.1 - rate).abs().total_cmp(&(b.1 - rate).abs()));
        nearest.map_or(0.0, |cut| cut.0)
    }

    fn correct(&self, cut: f64) -> usize {
        self.correct[self.scores.partition_point(|score| *score <= cut)]
    }
}

/// Cuts halfway between unlike scores and just outside the ends, from ascending scores and what each adds to the rate.
fn cuts_between(scores: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let margin = |score: f64| TOLERANCE * (1.0 + score.abs());
    let mut cuts: Vec<(f64, f64)> = Vec::new();
    let (mut rate, mut last) = (1.0, None);
    for (score, share) in scores {
        match last {
            None => cuts.push((score - margin(score), rate)),
            Some(last) if score - last > margin(last) => {
                cuts.push((last + (score - last) / 2.0, rate));
            }
            Some(_) => {}
        }
        rate -= share;
        last = Some(score);
    }
    cuts.extend(last.map(|last| (last + margin(last), 0.0)));
    cuts
}
