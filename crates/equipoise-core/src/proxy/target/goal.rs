//! The rates that a fair model should have on the client's data.

use rayon::prelude::*;

use super::super::ProxySettings;
use crate::fairness::Condition;
use crate::metrics::is_selected;
use crate::rows::Rows;

/// The rates to reach. A rate over no rows is `None`.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::proxy) struct Goal {
    /// The share of all rows to select.
    pub(super) overall: f64,
    /// The rate of all groups together, by condition.
    pub(super) together: [Option<f64>; 3],
    /// The rate of each group, by condition.
    pub(in crate::proxy) by_group: Vec<[Option<f64>; 3]>,
}

impl Goal {
    /// The goal for a model with these scores on `data`: the rates of each group move to those of all groups together,
    /// but for the share of the difference that remains.
    pub(in crate::proxy) fn new(data: &Rows, scores: &[f64], settings: &ProxySettings) -> Self {
        let raw = Rates::of(data, scores, 0.0);
        let cut = overall_cut(data, scores, settings.towards_label_rate);
        let moved = if cut == 0.0 { raw.clone() } else { Rates::of(data, scores, cut) };
        let (before, together) = (raw.together(), moved.together());
        let by_group = raw.by_group.iter().map(|cells| {
            Condition::ALL.map(|condition| {
                let (own, before) = (rate(cells, condition)?, before[condition as usize]?);
                let goal = together[condition as usize]? + settings.remaining_gap * (own - before);
                Some(goal.clamp(0.0, 1.0))
            })
        });
        let by_group = by_group.collect();
        let overall = together[Condition::All as usize].unwrap_or(0.0);
        Self { overall, together, by_group }
    }
}

/// Selected rows and all rows of each group, by label.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::proxy) struct Rates {
    by_group: Vec<[(f64, f64); 2]>,
}

impl Rates {
    /// The rates if rows with scores above `cut` are selected.
    pub(in crate::proxy) fn of(data: &Rows, scores: &[f64], cut: f64) -> Self {
        let mut by_group = vec![[(0.0, 0.0); 2]; data.layout().groups.len()];
        for (i, score) in scores.iter().enumerate() {
            let (selected, rows) = &mut by_group[data.group(i)][usize::from(data.is_positive(i))];
            *selected += f64::from(is_selected(score - cut));
            *rows += 1.0;
        }
        Self { by_group }
    }

    /// The rate of a group.
    pub(in crate::proxy) fn of_group(&self, group: usize, condition: Condition) -> Option<f64> {
        rate(&self.by_group[group], condition)
    }

    /// The rates of all groups together, by condition.
    pub(super) fn together(&self) -> [Option<f64>; 3] {
        let mut all = [(0.0, 0.0); 2];
        for cells in &self.by_group {
            for (sum, cell) in all.iter_mut().zip(cells) {
                *sum = (sum.0 + cell.0, sum.1 + cell.1);
            }
        }
        Condition::ALL.map(|condition| rate(&all, condition))
    }
}

fn rate(cells: &[(f64, f64); 2], condition: Condition) -> Option<f64> {
    let counted =
        [false, true].into_iter().zip(cells).filter(|(label, _)| condition.includes(*label));
    let (selected, rows) =
        counted.fold((0.0, 0.0), |sum, (_, cell)| (sum.0 + cell.0, sum.1 + cell.1));
    (rows > 0.0).then(|| selected / rows)
}

/// The score above which the model selects the share of rows that the goal asks for: 0 if that is the model's own share,
/// and the label rate's quantile of the scores if the goal is the share of positive labels.
fn overall_cut(data: &Rows, scores: &[f64], towards_label_rate: f64) -> f64 {
    if towards_label_rate == 0.0 || scores.is_empty() {
        return 0.0;
    }
    let n = scores.len() as f64;
    let selected = scores.iter().filter(|score| is_selected(**score)).count() as f64;
    let positive = data.labels().iter().filter(|label| **label > 0.0).count() as f64;
    let goal = selected + towards_label_rate * (positive - selected);
    let mut sorted = scores.to_vec();
    sorted.par_sort_unstable_by(|a, b| b.total_cmp(a));
    let goal = (goal.clamp(0.0, n).round() as usize).min(sorted.len());
    match (goal.checked_sub(1).map(|last| sorted[last]), sorted.get(goal)) {
        (Some(last), Some(next)) => 0.5 * (last + next),
        (Some(last), None) => last.min(0.0) - 1.0,
        (None, _) => sorted[0],
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::fairness::Fairness;
    use crate::rows::Layout;

    /// Six rows: scores, groups and labels chosen so that every rate can be counted by hand.
    fn example() -> (Rows, Vec<f64>) {
        let groups = [false, false, false, true, true, true];
        let positive = [true, false, false, true, true, false];
        let rows = Rows::new(Layout::two_groups(1, true), &[0.0; 6], &groups, &positive).unwrap();
        (rows, vec![0.5, -1.0, -2.0, 3.0, 1.0, 2.0])
    }

    #[test]
    fn groups_move_to_the_common_rate_but_for_the_remaining_share() {
        let (rows, scores) = example();
        let mut settings = ProxySettings { remaining_gap: 0.0, ..ProxySettings::new(Fairness::SP) };
        let fair = Goal::new(&rows, &scores, &settings);
        // Group 0 selects 1 of 3 rows, group 1 all 3: together 4 of 6.
        assert_eq!(fair.overall, 4.0 / 6.0);
        assert_eq!(fair.by_group[0][0], Some(4.0 / 6.0));
        // All 3 positive rows are selected, and 1 of 3 negative ones.
        assert_eq!(fair.by_group[1], [Some(4.0 / 6.0), Some(1.0), Some(1.0 / 3.0)]);
        settings.remaining_gap = 0.5;
        let half = Goal::new(&rows, &scores, &settings);
        let is = |group: usize, condition: usize, rate: f64| {
            assert!((half.by_group[group][condition].unwrap() - rate).abs() < 1e-15);
        };
        is(0, 0, 0.5);
        // Among negatives: 0 of 2 and 1 of 1.
        is(0, 2, 1.0 / 6.0);
        is(1, 2, 2.0 / 3.0);
    }

    #[test]
    fn the_overall_rate_moves_to_the_label_rate() {
        let (rows, scores) = example();
        let settings =
            ProxySettings { towards_label_rate: 1.0, ..ProxySettings::new(Fairness::SP) };
        let goal = Goal::new(&rows, &scores, &settings);
        // Three positive labels: the three highest scores are selected, two positive and one negative.
        assert_eq!(goal.overall, 0.5);
        assert_eq!(goal.together, [Some(0.5), Some(2.0 / 3.0), Some(1.0 / 3.0)]);
    }

    #[test]
    fn a_rate_over_no_rows_is_none() {
        let rows = Rows::new(Layout::two_groups(1, true), &[0.0; 2], &[true, true], &[true, true])
            .unwrap();
        let goal = Goal::new(&rows, &[1.0, -1.0], &ProxySettings::new(Fairness::EO));
        assert_eq!(goal.by_group[0], [None; 3]);
        assert_eq!(goal.by_group[1], [Some(0.5), Some(0.5), None]);
    }
}
