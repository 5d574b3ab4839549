//! Gaps between the rates of groups.

use serde::{Deserialize, Serialize};

use super::estimate::wald;
use super::{Condition, Estimate, GroupMetrics};

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

    fn new(condition: Condition, groups: [&str; 2], counts: [(usize, usize); 2]) -> Option<Self> {
        let [a, b] = counts;
        if a.1 == 0 || b.1 == 0 {
            return None;
        }
        let rate = |(k, n): (usize, usize)| k as f64 / n as f64;
        let (p, q) = (rate(a), rate(b));
        let variance = p * (1.0 - p) / a.1 as f64 + q * (1.0 - q) / b.1 as f64;
        let Estimate { value, low, high } = wald(p - q, variance);
        Some(Self { value, low, high, groups: groups.map(str::to_owned), condition })
    }
}

impl Gaps {
    /// The worst gap of each condition: over all pairs of groups, the largest difference. It is the reference group's
    /// rate minus the other's if the pair has the reference group, otherwise the higher minus the lower.
    pub(super) fn worst(groups: &[GroupMetrics], reference: usize) -> Self {
        Self::each(|condition| {
            let pairs = (0..groups.len()).flat_map(|a| (a + 1..groups.len()).map(move |b| (a, b)));
            let gaps = pairs.filter_map(|(a, b)| {
                let (a, b) = if b == reference { (b, a) } else { (a, b) };
                let gap = between(condition, &groups[a], &groups[b])?;
                let is_ordered = a == reference || gap.value >= 0.0;
                if is_ordered { Some(gap) } else { between(condition, &groups[b], &groups[a]) }
            });
            gaps.reduce(|worst, gap| if gap.size() > worst.size() { gap } else { worst })
        })
    }

    /// The rates of one group minus those of all others together.
    pub(super) fn to_rest(groups: &[GroupMetrics], group: usize) -> Self {
        Self::each(|condition| {
            let rest = groups.iter().enumerate().filter(|(g, _)| *g != group);
            let rest = rest.map(|(_, other)| other.counts(condition));
            let rest = rest.fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1));
            let own = groups[group].counts(condition);
            Gap::new(condition, [&groups[group].name, ALL_OTHERS], [own, rest])
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

fn between(condition: Condition, a: &GroupMetrics, b: &GroupMetrics) -> Option<Gap> {
    Gap::new(condition, [&a.name, &b.name], [a.counts(condition), b.counts(condition)])
}

/// The lowest selection rate as a share of the highest. `None` if nobody is selected, or only one group has rows.
pub(super) fn selection_ratio(groups: &[GroupMetrics]) -> Option<Estimate> {
    let rates = groups.iter().filter_map(|group| group.selection_rate).map(|rate| rate.value);
    let (low, high) = rates
        .clone()
        .fold((f64::INFINITY, 0.0f64), |(low, high), rate| (low.min(rate), high.max(rate)));
    (rates.count() >= 2 && high > 0.0).then(|| wald(low / high, 0.0))
}
