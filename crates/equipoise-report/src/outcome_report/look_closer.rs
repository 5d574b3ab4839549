//! What a verdict does not show: other criteria, single groups, and requirements that any constant meets.

use equipoise_core::{Condition, Estimate, GroupMetrics, Outcome, Verdict};

use super::gaps::{quoted, size};
use crate::format::Format;

const SHARE: Format = Format::Percent(1);
/// Smaller differences are not pointed out. Larger ones are if their interval excludes 0.
const STRONG: f64 = 0.1;

/// The groups and figures that a reader of the verdict should also look at. `None` if there are none, or if the model is
/// rejected anyway.
pub(super) fn look_closer(outcome: &Outcome) -> Option<String> {
    if outcome.verdict == Verdict::Fail {
        return None;
    }
    let other_rates =
        Condition::ALL.into_iter().filter_map(|condition| other_rate(outcome, condition));
    let remarks: Vec<String> = other_rates.chain(least_accurate(outcome)).collect();
    (!remarks.is_empty()).then(|| format!("Also look at {}.", remarks.join("; and at ")))
}

/// A rate that the criterion does not compare, if it differs strongly.
fn other_rate(outcome: &Outcome, condition: Condition) -> Option<String> {
    if outcome.settings.fairness.weight(condition) > 0.0 {
        return None;
    }
    let metrics = &outcome.root_metrics;
    let gap = metrics.gaps.of(condition)?;
    if gap.size() < STRONG || size(gap).low <= 0.0 {
        return None;
    }
    let [first, second] = gap.groups.each_ref().map(|name| rate(&metrics.groups, name, condition));
    let (high, low) = if gap.value < 0.0 { (second?, first?) } else { (first?, second?) };
    Some(format!(
        "the {}, which was not required to be equal: {} for {} but {} for {}",
        condition.rate_name(),
        SHARE.write(Some(high.1)),
        quoted(high.0),
        SHARE.write(Some(low.1)),
        quoted(low.0)
    ))
}

/// A group's name and its rate.
fn rate<'a>(
    groups: &'a [GroupMetrics],
    name: &str,
    condition: Condition,
) -> Option<(&'a str, f64)> {
    let group = groups.iter().find(|group| group.name == name)?;
    let rate = match condition {
        Condition::All => group.selection_rate,
        Condition::Positives => group.true_positive_rate,
        Condition::Negatives => group.false_positive_rate,
    };
    Some((&group.name, rate?.value))
}

/// The group with the least accuracy, if the model is much better for all together.
fn least_accurate(outcome: &Outcome) -> Option<String> {
    let metrics = &outcome.root_metrics;
    let all = metrics.accuracy?.value;
    let groups = metrics.groups.iter().filter_map(|group| Some((group, group.accuracy?)));
    let (group, accuracy): (&GroupMetrics, Estimate) =
        groups.min_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    (all - accuracy.value >= STRONG && accuracy.high < all).then(|| {
        format!(
            "the accuracy for {}: only {} of the decisions are correct, against {} for all",
            quoted(&group.name),
            SHARE.write(Some(accuracy.value)),
            SHARE.write(Some(all))
        )
    })
}

/// A remark on a required accuracy that a constant decision would reach on these rows.
pub(super) fn weak_requirement(outcome: &Outcome, bound: f64) -> Option<String> {
    let groups = &outcome.root_metrics.groups;
    let sum = |count: fn(&GroupMetrics) -> usize| groups.iter().map(count).sum::<usize>() as f64;
    let positive = sum(|group| group.positives) / sum(|group| group.rows);
    let (decision, share) =
        if positive > 0.5 { ("everyone", positive) } else { ("no one", 1.0 - positive) };
    (share > bound)
        .then(|| format!("selecting {decision} would be correct for {}", SHARE.write(Some(share))))
}
