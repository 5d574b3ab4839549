//! Which of the three models a client should use.
//!
//! Fairness first, then accuracy, then the order global, adapted, own, which changes least:
//!
//! 1. A model whose gap is larger than the smallest of the three, by [`GAP_MARGIN`] or more and beyond chance, is out.
//! 2. Of the others, the first counts as the best until a later one decides more rows correctly, beyond chance.
//!
//! Beyond chance: the 95 % interval of the paired difference excludes 0. So where clients are alike, thresholds are noise and
//! seldom recommended: to 3 of 66 clients of `bench/adapt --splits iid`.

use super::HomeModel;
use crate::choice::Choice;
use crate::comparison::worst_gap_difference;
use crate::fairness::Fairness;
use crate::interval::{Estimate, paired_rates};
use crate::metrics::is_selected;
use crate::rows::Rows;

/// A gap that is larger by less than this does not matter: two in a hundred people.
const GAP_MARGIN: f64 = 0.02;

/// A group with fewer rows of a condition is left out of gaps that are compared: its decisions may all be alike by chance.
const MIN_ROWS: usize = 10;

/// The recommended model, and why. `scores` are those of each model on the same rows.
pub(super) fn recommend(
    scores: &[Vec<f64>; 3],
    rows: &Rows,
    fairness: Fairness,
) -> (HomeModel, String) {
    let models = [HomeModel::Global, HomeModel::Adapted, HomeModel::Own];
    let excess = excess_gaps(scores, rows, fairness);
    let is_out = |model: HomeModel| excess[model as usize].is_some();
    let more_correct = |a: HomeModel, b: HomeModel| {
        accuracy_difference(&scores[a as usize], &scores[b as usize], rows)
            .filter(|difference| difference.low > 0.0)
    };
    let mut left = models.into_iter().filter(|&model| !is_out(model));
    // The fairest model is never out.
    let first = left.next().unwrap_or(HomeModel::Global);
    let best = left.fold(first, |best, model| more_correct(model, best).map_or(best, |_| model));
    let why = |other: HomeModel| match (excess[other as usize], more_correct(best, other)) {
        (Some(excess), _) => {
            format!("the gap of {} is larger by {}", other.name(), interval(excess))
        }
        (None, Some(difference)) => {
            format!("{} is less accurate by {}", other.name(), interval(difference))
        }
        (None, None) => format!("{} is not better beyond chance", other.name()),
    };
    let reasons: Vec<String> = models.into_iter().filter(|m| *m != best).map(why).collect();
    (best, reasons.join(", and "))
}

/// By how much each model's gap exceeds the smallest, for those that are out.
fn excess_gaps(scores: &[Vec<f64>; 3], rows: &Rows, fairness: Fairness) -> [Option<Estimate>; 3] {
    let kept = rows_of_large_groups(rows, fairness);
    let rows = rows.select(&kept);
    if rows.only_group().is_some() || rows.is_empty() {
        return [None; 3];
    }
    let scores: Vec<Vec<f64>> =
        scores.iter().map(|scores| kept.iter().map(|&i| scores[i]).collect()).collect();
    let excess =
        |of: usize, than: usize| worst_gap_difference(&scores[than], &scores[of], &rows, fairness);
    let is_fairer = |a: usize, b: usize| excess(a, b).is_some_and(|excess| excess.value < 0.0);
    let fairest = (1..3).fold(0, |best, model| if is_fairer(model, best) { model } else { best });
    let is_out = |excess: &Estimate| excess.low > 0.0 && excess.value >= GAP_MARGIN;
    [0, 1, 2].map(|model| excess(model, fairest).filter(is_out))
}

/// The rows of the groups with enough rows of every condition.
fn rows_of_large_groups(rows: &Rows, fairness: Fairness) -> Vec<usize> {
    let is_large = |cells: [usize; 2]| {
        fairness.conditions().all(|(condition, _)| condition.count(cells) >= MIN_ROWS)
    };
    let large: Vec<bool> = rows.cell_counts().into_iter().map(is_large).collect();
    (0..rows.len()).filter(|&i| large[rows.group(i)]).collect()
}

/// The accuracy of `a` minus that of `b`.
fn accuracy_difference(a: &[f64], b: &[f64], rows: &Rows) -> Option<Estimate> {
    let correct = |scores: &[f64], i: usize| is_selected(scores[i]) == rows.is_positive(i);
    let only = |first: &[f64], second: &[f64]| {
        (0..rows.len()).filter(|&i| correct(first, i) && !correct(second, i)).count()
    };
    paired_rates(only(a, b), only(b, a), rows.len())
}

fn interval(difference: Estimate) -> String {
    let Estimate { value, low, high } = difference;
    format!("{value:.3} [{low:.3}, {high:.3}]")
}
