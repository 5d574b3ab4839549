//! What the defense `trust` tells about its decision, for files and reports.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fairness::Condition;
use crate::interval::Estimate;

/// Half the width of a 95 % interval, in standard errors.
const NORMAL_95: f64 = 1.959_964;
/// With a wider interval to either side, a gap that fits a fair model may still be a large one.
const WIDE: f64 = 0.05;

/// How much one client is trusted, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientTrust {
    /// Probability that the client's model is fair. 0 for a useless model.
    pub reliability: f64,
    /// The gap of its model along the first axis: a difference of rates between the groups that the axis compares.
    pub gap: f64,
    /// Standard error of that gap.
    pub gap_error: f64,
    /// Why the client is trusted or not, the main reason first.
    pub reasons: Vec<TrustReason>,
}

/// One reason, with its figures. Written out by `Display` as one sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TrustReason {
    /// Its gap fits a fair model.
    Fair {
        /// The gap.
        gap: f64,
        /// Its standard error.
        error: f64,
    },
    /// Its gap does not fit a fair model.
    Unfair {
        /// The gap.
        gap: f64,
        /// Its standard error.
        error: f64,
        /// The groups that its model favours.
        favours: Vec<String>,
        /// The groups it disadvantages.
        against: Vec<String>,
    },
    /// The root cannot tell whether it is fair.
    Undecided {
        /// The gap.
        gap: f64,
        /// Its standard error.
        error: f64,
    },
    /// On the root, its loss is higher than that of a constant prediction.
    WorseThanConstant {
        /// Its mean loss minus that of the constant.
        excess_loss: f64,
        /// Its standard error.
        error: f64,
    },
    /// On the root, it ranks people within groups worse than the best client's model.
    RanksPoorly {
        /// Difference in AUC.
        deficit: f64,
        /// Its standard error.
        error: f64,
    },
    /// On the clients' rows, it ranks people within groups much worse than the best client's model, and the root does
    /// not contradict that.
    RanksPoorlyOnProxies {
        /// Difference in AUC.
        deficit: f64,
    },
}

impl fmt::Display for TrustReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fair { gap, error } if NORMAL_95 * error > WIDE => write!(
                f,
                "with this root, its model cannot be distinguished from a fair one: {}",
                judged(*gap, *error)
            ),
            Self::Fair { gap, error } => {
                write!(f, "its model looks fair: {}", judged(*gap, *error))
            }
            Self::Unfair { gap, error, favours, against } => write!(
                f,
                "its model favours {} over {}: {}",
                list(favours),
                list(against),
                judged(*gap, *error)
            ),
            Self::Undecided { gap, error } => write!(
                f,
                "the root cannot tell whether its model is fair: {}",
                judged(*gap, *error)
            ),
            Self::WorseThanConstant { excess_loss, error } => write!(
                f,
                "its model is worse than a constant prediction: on the root, its loss is \
                 {excess_loss:.3} ± {error:.3} higher"
            ),
            Self::RanksPoorly { deficit, error } => write!(
                f,
                "its model ranks people worse than the best client's: on the root, its AUC is \
                 {deficit:.3} ± {error:.3} lower"
            ),
            Self::RanksPoorlyOnProxies { deficit } => write!(
                f,
                "its model ranks people worse than the best client's: on the clients' rows, its AUC \
                 is {deficit:.3} lower"
            ),
        }
    }
}

/// The size of a gap with its 95 % interval. It differs from the gap on the root alone, so the sentence says where it
/// comes from.
fn judged(gap: f64, error: f64) -> String {
    let half = NORMAL_95 * error;
    let Estimate { value, low, high } =
        Estimate { value: gap, low: gap - half, high: gap + half }.abs();
    let [value, low, high] = [value, low, high].map(|share| format!("{:.1}", 100.0 * share));
    format!(
        "from the root and all proxies together, its gap is estimated at {value}\u{202f}pp ({low} to {high}\u{202f}pp)"
    )
}

/// Names in running text: `a`, `b` and `c`.
fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => "some groups".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// An axis on which the clients were compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustAxis {
    /// The rates it compares: the gap along the axis is their weighted sum. Rates of weight 0 are left out.
    pub terms: Vec<TrustTerm>,
    /// Gap of the mean of all models on the root.
    pub root_gap: f64,
    /// Its standard error.
    pub root_error: f64,
    /// The same gap on the clients' rows.
    pub rows_gap: f64,
    /// Its standard error, never below the tolerance.
    pub rows_error: f64,
    /// The gap after weighing both.
    pub mean_gap: f64,
    /// Probability that some clients are biased along this axis.
    pub biased_probability: f64,
    /// Size of their bias, if there is any.
    pub bias: f64,
}

/// One rate of an axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustTerm {
    /// The rows among which the rate is taken.
    pub condition: Condition,
    /// The group.
    pub group: String,
    /// Its weight: positive for groups that get more if the gap is positive.
    pub weight: f64,
}

/// How the defense `trust` came to its weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustSummary {
    /// The axes, the most important first. Empty if no client's rows cover the groups to compare.
    pub axes: Vec<TrustAxis>,
    /// Whether the root was enough to tell which clients are fair.
    pub decided: bool,
    /// If not, about how many root rows in each group would be enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_needed: Option<usize>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_reason_is_a_sentence_and_a_tagged_object() {
        let reason = TrustReason::Unfair {
            gap: 0.187,
            error: 0.031,
            favours: vec!["white".to_owned()],
            against: vec!["black".to_owned(), "asian".to_owned(), "other".to_owned()],
        };
        assert_eq!(
            reason.to_string(),
            "its model favours `white` over `black`, `asian` and `other`: from the root and all proxies together, its gap \
             is estimated at 18.7\u{202f}pp (12.6 to 24.8\u{202f}pp)"
        );
        let fair = TrustReason::Fair { gap: -0.0004, error: 0.01 };
        assert_eq!(
            fair.to_string(),
            "its model looks fair: from the root and all proxies together, its gap is estimated at 0.0\u{202f}pp (0.0 to \
             2.0\u{202f}pp)"
        );
        let vague = TrustReason::Fair { gap: -0.013, error: 0.072 };
        assert_eq!(
            vague.to_string(),
            "with this root, its model cannot be distinguished from a fair one: from the root and all proxies together, \
             its gap is estimated at 1.3\u{202f}pp (0.0 to 15.4\u{202f}pp)"
        );
        let json = serde_json::to_value(&reason).unwrap();
        assert_eq!(json["kind"], "unfair");
        assert_eq!(serde_json::from_value::<TrustReason>(json).unwrap(), reason);
    }
}
