//! What the defense says: why each client counts as it does, the level of every contrast, and warnings.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fairness::Condition;

/// How much a client counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// As much as what is known about it allows.
    Full,
    /// Less, for the reason given.
    Less,
    /// Less than a tenth of an equal share, or not at all.
    Not,
}

/// How one client was judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientTilt {
    /// How much it counts.
    pub counted: Counted,
    /// Why.
    pub reason: TiltReason,
    /// The probability that its decisions say more than half of what the best client's say. 0 if its model
    /// is not read.
    pub useful: f64,
    /// Its gap along each contrast, in the order of the summary. Empty for a client that was out before gaps
    /// were measured.
    pub gaps: Vec<ClientGap>,
    /// How far the threshold of its model was moved, in logits.
    pub shift: f64,
    /// Coefficients, counted from 0, that were limited because the trusted rows cannot check them.
    pub limited: Vec<usize>,
}

/// A client's gap along one contrast.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientGap {
    /// The rate of the contrast's group minus that of the others.
    pub gap: f64,
    /// The client's own standard error, from its number of rows and its declared noise.
    pub error: f64,
    /// The probability that the client is fair.
    pub fair: f64,
}

/// Why a client counts as it does. `Display` writes a sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TiltReason {
    /// Its scores are not finite, or all 0.
    NotRead,
    /// Like the models of all clients, its model is no better than a constant.
    NoBetter {
        /// The mean loss of its model on the trusted rows.
        loss: f64,
        /// That of a constant.
        constant_loss: f64,
    },
    /// It knows less than half of what the best client knows.
    Useless {
        /// The best client.
        best: String,
        /// The mean loss of its model on the trusted rows.
        loss: f64,
        /// That of the best client.
        best_loss: f64,
        /// That of a constant.
        constant_loss: f64,
    },
    /// It knows little, but the clients that know more are unfair together.
    CameBack {
        /// The expected gap of the model without such clients.
        gap: f64,
        /// Its standard error.
        error: f64,
    },
    /// It is probably not fair.
    Unfair {
        /// The groups it favours.
        favours: String,
        /// Its gap.
        gap: f64,
        /// Its own standard error.
        error: f64,
        /// Most fair clients are within this.
        spread: f64,
    },
    /// Its proxy has no rows on one side of a contrast, so nobody knows its gap.
    NoRows {
        /// The contrast's group.
        group: String,
    },
    /// Its weight was lowered for the sake of the average.
    Tilted {
        /// The groups that the average would favour.
        favours: String,
    },
    /// The root cannot tell whether it knows enough.
    Doubtful,
    /// Its gap is known less precisely than those of others.
    Imprecise {
        /// Its own standard error.
        error: f64,
    },
    /// Nothing against it.
    Full,
}

impl fmt::Display for TiltReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRead => {
                f.write_str("not read: the scores of its model are all 0, or not finite numbers")
            }
            Self::NoBetter { loss, constant_loss } => write!(
                f,
                "not counted: on the root, no client's model is better than a constant (loss {loss:.3}, constant \
                 {constant_loss:.3})"
            ),
            Self::Useless { best, loss, best_loss, constant_loss } => write!(
                f,
                "not counted: its decisions say less about the root than half of what `{best}` knows \
                 (loss {loss:.3} against {best_loss:.3}, constant {constant_loss:.3})"
            ),
            Self::CameBack { gap, error } => write!(
                f,
                "counted although it knows little, because the clients that know more are unfair together by \
                 {gap:+.3} ± {error:.3}"
            ),
            Self::Unfair { favours, gap, error, spread } => write!(
                f,
                "hardly counted: its model favours {favours} by {:.3} ± {error:.3}; most fair clients are within \
                 {spread:.3}",
                gap.abs()
            ),
            Self::NoRows { group } => write!(
                f,
                "hardly counted: its proxy has no rows of {group}, or of nobody else, so its gap is unknown"
            ),
            Self::Tilted { favours } => write!(
                f,
                "counted less: its own gap is within what is normal, but the average would favour {favours}"
            ),
            Self::Doubtful => {
                f.write_str("counted less: the root cannot tell whether it knows enough")
            }
            Self::Imprecise { error } => {
                write!(f, "counted less: its gap is known only to ± {error:.3}")
            }
            Self::Full => f.write_str("counted in full"),
        }
    }
}

impl TiltReason {
    /// The reason in a few words, beside [`Counted`].
    pub fn short(&self) -> String {
        match self {
            Self::NotRead => "its model cannot be read".to_owned(),
            Self::NoBetter { .. } => "no better than a constant".to_owned(),
            Self::Useless { .. } => "knows too little".to_owned(),
            Self::CameBack { .. } => "knows little; those that know more are unfair".to_owned(),
            Self::Unfair { favours, gap, error, .. } => {
                format!("favours {favours} by {:.3} ± {error:.3}", gap.abs())
            }
            Self::NoRows { group } => {
                format!("its gap is unknown: no rows of {group} or of others")
            }
            Self::Tilted { favours } => format!("the average would favour {favours}"),
            Self::Doubtful => "may know too little".to_owned(),
            Self::Imprecise { error } => format!("its gap is known only to ± {error:.3}"),
            Self::Full => String::new(),
        }
    }
}

impl Counted {
    /// "in full", "less" or "not".
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "in full",
            Self::Less => "less",
            Self::Not => "not",
        }
    }
}

/// A threshold that moved by less is not worth a word.
const SMALL_SHIFT: f64 = 0.005;

impl ClientTilt {
    /// The reason, and what else was done to its model. `name` gives the names of coefficients.
    pub fn describe(&self, name: impl Fn(usize) -> String) -> String {
        let mut text = self.reason.to_string();
        if self.shift.abs() >= SMALL_SHIFT {
            text += &format!(
                "; its people have other rates than the root: threshold moved by {:+.2}",
                self.shift
            );
        }
        if !self.limited.is_empty() {
            let names: Vec<String> = self.limited.iter().map(|&column| name(column)).collect();
            text += &format!("; limited, since the root cannot check it: {}", names.join(", "));
        }
        text
    }
}

/// How the defense came to its weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TiltSummary {
    /// The contrasts that could be measured.
    pub contrasts: Vec<TiltContrast>,
    /// Groups and conditions with too few trusted rows to be measured.
    pub unmeasured: Vec<(Condition, String)>,
    /// Clients counted in full, less, and not.
    pub counted: [usize; 3],
    /// The client with the lowest loss on the trusted rows.
    pub best: Option<String>,
    /// That loss.
    pub best_loss: f64,
    /// The loss of a constant.
    pub constant_loss: f64,
    /// Whether clients that know little were used because the others are unfair.
    pub came_back: bool,
}

/// One contrast: a group against all others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TiltContrast {
    /// The rows among which rates are compared.
    pub condition: Condition,
    /// The group.
    pub group: String,
    /// `e_j`, the gap of the mean client's model, from root and rows together.
    pub level: f64,
    /// Its standard error.
    pub level_error: f64,
    /// The same gap on the trusted rows alone.
    pub root_gap: f64,
    /// Its standard error.
    pub root_error: f64,
    /// The same gap on the clients' rows alone.
    pub rows_gap: f64,
    /// Its standard error.
    pub rows_error: f64,
    /// The probability that the clients' rows are honest together.
    pub rows_honest: f64,
    /// The most probable spread of fair clients' gaps.
    pub spread: f64,
    /// The probability that fair clients differ as much as the largest spread.
    pub wide: f64,
    /// The probability that some clients are biased alike.
    pub biased: f64,
    /// `E[G_j]` of the published model.
    pub expected_gap: f64,
    /// Trusted rows of the smaller side.
    pub fewest_rows: usize,
}

impl TiltSummary {
    /// "5 of 12 clients are counted in full, 4 less, 3 not".
    pub fn headline(&self) -> String {
        let [full, less, not] = self.counted;
        let clients = full + less + not;
        format!("{full} of {clients} clients are counted in full, {less} less, {not} not")
    }
}
