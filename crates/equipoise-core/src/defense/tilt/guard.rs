//! The last guard: is a model of the trusted rows alone provably better than the published one?
//!
//! The root-only model is judged on held-out rows, in two forms: with one threshold per group, and as
//! fitted. The second is as unfair as the labels, so the first is what makes this a guard. It can be
//! published only if the schema has an intercept and the group is a feature, because thresholds become
//! coefficients.

use super::level::Figure;
use super::measure::{Contrast, mean, variance};
use crate::comparison::scores;
use crate::error::Error;
use crate::fairness::{Condition, Fairness};
use crate::inner_fit::{FitPoint, InnerProblem, InnerSettings};
use crate::metrics::is_selected;
use crate::packed_rows::PackedRows;
use crate::rows::Rows;

const FOLDS: usize = 5;
/// Trusted rows that a comparison needs.
const MIN_ROWS: usize = 40;
/// The ridge of root-only models.
const RIDGE: f64 = 1e-3;
/// Rows that a threshold of a group's own needs.
const MIN_CUT_ROWS: usize = 5;
/// Overall rates that are tried, from 2 to 98 %.
const RATES: usize = 41;
/// Standard errors that prove one side better, and by which the other may not be worse.
const BETTER: f64 = 3.0;
const NOT_WORSE: f64 = 2.0;

/// A root-only model, and by how much it is better than the published one.
#[derive(Debug)]
pub(super) struct RootOnly {
    pub(super) theta: Vec<f64>,
    /// Whether it has a threshold for each group.
    pub(super) by_group: bool,
    /// Accuracy gained and gap removed.
    pub(super) accuracy: Figure,
    pub(super) gap: Figure,
}

/// The root-only model, if it is provably better than `published`.
pub(super) fn better_root_only(
    rows: &Rows,
    published: &[f64],
    contrasts: &[Contrast],
    fairness: Fairness,
) -> Result<Option<RootOnly>, Error> {
    if rows.len() < MIN_ROWS || contrasts.is_empty() {
        return Ok(None);
    }
    let decisions = selected(&scores(published, rows), |_| 0.0);
    let [by_group, raw] = held_out(rows, fairness)?;
    for (is_by_group, held_out) in [(true, by_group), (false, raw)] {
        let Some(held_out) = held_out else { continue };
        let (accuracy, gap) = compare(rows, &decisions, &held_out, contrasts);
        let wins =
            |a: Figure, b: Figure| a.value > BETTER * a.error && b.value > -NOT_WORSE * b.error;
        if wins(accuracy, gap) || wins(gap, accuracy) {
            let theta = if is_by_group { fit_with_cuts(rows, fairness)? } else { Some(fit(rows)?) };
            return Ok(theta.map(|theta| RootOnly { theta, by_group: is_by_group, accuracy, gap }));
        }
    }
    Ok(None)
}

/// The root-only model without comparison: with thresholds by group if the schema allows it.
pub(super) fn root_only(rows: &Rows, fairness: Fairness) -> Result<(Vec<f64>, bool), Error> {
    match fit_with_cuts(rows, fairness)? {
        Some(theta) => Ok((theta, true)),
        None => Ok((fit(rows)?, false)),
    }
}

/// Decisions on rows of each fold by the model of the others: with thresholds by group, if possible, and as
/// fitted.
fn held_out(rows: &Rows, fairness: Fairness) -> Result<[Option<Vec<f64>>; 2], Error> {
    let (mut by_group, mut raw) = (Some(vec![0.0; rows.len()]), vec![0.0; rows.len()]);
    for fold in 0..FOLDS {
        let (test, train): (Vec<_>, Vec<_>) = (0..rows.len()).partition(|i| i % FOLDS == fold);
        let (test_rows, train) = (rows.select(&test), rows.select(&train));
        let theta = fit(&train)?;
        let of_test = scores(&theta, &test_rows);
        let cuts = cuts(&train, &scores(&theta, &train), fairness);
        by_group = by_group.zip(cuts).map(|(mut all, cuts)| {
            let own = selected(&of_test, |i| cuts[test_rows.group(i)]);
            test.iter().zip(own).for_each(|(i, decision)| all[*i] = decision);
            all
        });
        test.iter().zip(selected(&of_test, |_| 0.0)).for_each(|(i, decision)| raw[*i] = decision);
    }
    Ok([by_group, Some(raw)])
}

fn fit(rows: &Rows) -> Result<Vec<f64>, Error> {
    let packed = PackedRows::of(std::slice::from_ref(rows))?;
    let problem = InnerProblem { rows: &packed, weights: &[1.0], ridge: RIDGE };
    Ok(problem.fit(FitPoint::origin(&packed)?, &InnerSettings::default())?.point.theta)
}

/// The model of all rows with thresholds by group, which become coefficients.
fn fit_with_cuts(rows: &Rows, fairness: Fairness) -> Result<Option<Vec<f64>>, Error> {
    let mut theta = fit(rows)?;
    let Some(cuts) = cuts(rows, &scores(&theta, rows), fairness) else { return Ok(None) };
    let at = rows.layout().n() - 1;
    theta[at] -= cuts[0];
    let indicators = theta[rows.layout().indicators()].iter_mut();
    indicators.zip(&cuts[1..]).for_each(|(t, cut)| *t -= cut - cuts[0]);
    Ok(Some(theta))
}

/// One threshold per group: equal rates among the rows of the most important condition, at the overall rate
/// that is most accurate. Groups of fewer than five such rows share the overall threshold. `None` if the
/// schema cannot express them.
fn cuts(rows: &Rows, scores: &[f64], fairness: Fairness) -> Option<Vec<f64>> {
    let layout = rows.layout();
    let condition = main_condition(fairness);
    let of_group = |group: Option<usize>| {
        let is_kept = |&i: &usize| {
            condition.includes(rows.is_positive(i)) && group.is_none_or(|g| rows.group(i) == g)
        };
        let mut kept: Vec<f64> = (0..rows.len()).filter(is_kept).map(|i| scores[i]).collect();
        kept.sort_by(f64::total_cmp);
        kept
    };
    let all = of_group(None);
    if !layout.as_feature || !layout.intercept || all.is_empty() {
        return None;
    }
    let groups: Vec<Vec<f64>> = (0..layout.groups.len()).map(|g| of_group(Some(g))).collect();
    let occurs: Vec<bool> = rows.cell_counts().iter().map(|[no, yes]| no + yes > 0).collect();
    let mut best: Option<(usize, Vec<f64>)> = None;
    for step in 0..RATES {
        let rate = 0.02 + step as f64 * (0.96 / (RATES - 1) as f64);
        let cut = |own: &Vec<f64>| {
            quantile(if own.len() >= MIN_CUT_ROWS { own } else { &all }, 1.0 - rate)
        };
        let cuts: Vec<f64> = groups.iter().map(cut).collect();
        let is_right = |&i: &usize| (scores[i] > cuts[rows.group(i)]) == rows.is_positive(i);
        let right = (0..rows.len()).filter(is_right).count();
        if best.as_ref().is_none_or(|(most, _)| right > *most) {
            best = Some((right, cuts));
        }
    }
    best.map(|(_, cuts)| for_absent_groups(cuts, &occurs))
}

/// Groups without any rows get the median threshold of the others.
fn for_absent_groups(mut cuts: Vec<f64>, occurs: &[bool]) -> Vec<f64> {
    let known: Vec<f64> = cuts.iter().zip(occurs).filter(|(_, o)| **o).map(|(c, _)| *c).collect();
    let middle = crate::defense::median(&known);
    cuts.iter_mut().zip(occurs).filter(|(_, occurs)| !**occurs).for_each(|(cut, _)| *cut = middle);
    cuts
}

fn main_condition(fairness: Fairness) -> Condition {
    let more = |a: (Condition, f64), b: (Condition, f64)| if b.1 > a.1 { b } else { a };
    fairness.conditions().reduce(more).map_or(Condition::All, |(condition, _)| condition)
}

/// With linear interpolation between the sorted values.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len() - 1) as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (at - below as f64) * (sorted[above] - sorted[below])
}

fn selected(scores: &[f64], cut: impl Fn(usize) -> f64) -> Vec<f64> {
    let decide = |(i, z): (usize, &f64)| f64::from(u8::from(is_selected(z - cut(i))));
    scores.iter().enumerate().map(decide).collect()
}

/// By how much a second model is more accurate and fairer than the first, with paired errors.
fn compare(rows: &Rows, first: &[f64], second: &[f64], contrasts: &[Contrast]) -> (Figure, Figure) {
    let is_right =
        |i: usize, decision: f64| f64::from(u8::from((decision > 0.5) == rows.is_positive(i)));
    let gains: Vec<f64> =
        (0..rows.len()).map(|i| is_right(i, second[i]) - is_right(i, first[i])).collect();
    let error = (variance(&gains) / rows.len() as f64).sqrt() + 1e-12;
    let accuracy = Figure { value: mean(&gains), error };

    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    let size = |of: &Contrast, decisions: &[f64]| of.trusted_gap(decisions).abs();
    let published = contrasts.iter().map(|of| (size(of, first), of.trusted_error(&differences)));
    let (largest, error) = published.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 1.0));
    let other = contrasts.iter().map(|of| size(of, second)).fold(0.0, f64::max);
    (accuracy, Figure { value: largest - other, error: error + 1e-12 })
}
