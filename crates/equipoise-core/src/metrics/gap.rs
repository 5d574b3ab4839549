//! Gaps between the rates of groups.

use serde::{Deserialize, Serialize};

use super::GroupMetrics;
use crate::fairness::Condition;
use crate::interval::{Count, Estimate, WorstGap, rate_difference, worst_ratio};

/// A difference of rates between two groups, with its 95 % interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// Rate of the first group minus that of the second.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// The two groups. The second may be all others.
    pub groups: [String; 2],
    /// The rows among which the rates are taken.
    pub condition: Condition,
}

/// A gap for each condition. `None` if a rate cannot be measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Gaps {
    /// In the selection rate: statistical parity.
    pub sp: Option<Gap>,
    /// In the true positive rate: equal opportunity.
    pub eo: Option<Gap>,
    /// In the false positive rate: predictive equality.
    pub fpr: Option<Gap>,
}

/// What [`Gap::groups`] calls all other groups together.
const ALL_OTHERS: &str = "all others";

impl Gap {
    /// Its size, regardless of which group is ahead.
    pub fn size(&self) -> f64 {
        self.value.abs()
    }

    /// The figure and its interval.
    pub fn estimate(&self) -> Estimate {
        Estimate { value: self.value, low: self.low, high: self.high }
    }

    /// The worst gap over several conditions and all pairs of groups: the largest difference. It is the reference
    /// group's rate minus the other's if the pair has the reference group, otherwise the higher minus the lower. With
    /// more than two groups, or several conditions, the interval is that of the gap's size: it allows for the choice of
    /// the worst pair.
    pub(super) fn worst(
        groups: &[GroupMetrics],
        reference: usize,
        conditions: &[Condition],
    ) -> Option<Self> {
        let counts = |&condition: &Condition| -> Vec<Count> {
            groups.iter().map(|group| group.counts(condition)).collect()
        };
        let counts: Vec<Vec<Count>> = conditions.iter().map(counts).collect();
        let WorstGap { gap, location, .. } = WorstGap::of(&counts, reference)?;
        let names = [location.group, location.other].map(|group| groups[group].name.clone());
        Some(Self::new(gap, names, conditions[location.condition]))
    }

    fn new(
        Estimate { value, low, high }: Estimate,
        groups: [String; 2],
        condition: Condition,
    ) -> Self {
        Self { value, low, high, groups, condition }
    }
}

impl Gaps {
    /// The worst gap of each condition.
    pub(super) fn worst(groups: &[GroupMetrics], reference: usize) -> Self {
        Self::each(|condition| Gap::worst(groups, reference, &[condition]))
    }

    /// The rates of one group minus those of all others together.
    pub(super) fn to_rest(groups: &[GroupMetrics], group: usize) -> Self {
        Self::each(|condition| {
            let rest = groups.iter().enumerate().filter(|(g, _)| *g != group);
            let rest = rest.map(|(_, other)| other.counts(condition)).fold(
                Count { successes: 0, n: 0 },
                |sum, next| Count { successes: sum.successes + next.successes, n: sum.n + next.n },
            );
            let gap = rate_difference(groups[group].counts(condition), rest)?;
            Some(Gap::new(gap, [groups[group].name.clone(), ALL_OTHERS.to_owned()], condition))
        })
    }

    /// The gap of a condition.
    pub fn of(&self, condition: Condition) -> Option<&Gap> {
        match condition {
            Condition::All => self.sp.as_ref(),
            Condition::Positives => self.eo.as_ref(),
            Condition::Negatives => self.fpr.as_ref(),
        }
    }

    fn each(gap: impl Fn(Condition) -> Option<Gap>) -> Self {
        let [sp, eo, fpr] = Condition::ALL.map(gap);
        Self { sp, eo, fpr }
    }
}

/// The lowest selection rate as a share of the highest. `None` if nobody is selected, or only one group has rows.
pub(super) fn selection_ratio(groups: &[GroupMetrics]) -> Option<Estimate> {
    let counts: Vec<Count> = groups.iter().map(|group| group.counts(Condition::All)).collect();
    worst_ratio(&counts)
}
