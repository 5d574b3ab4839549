//! Warnings: one type for everything that a reader must know about a table, a round or a solve.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Something unusual that did not stop the program. To add one, add a [`WarningCode`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Warning {
    /// What kind of warning it is.
    pub code: WarningCode,
    /// The client concerned, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Which of the client's tables is concerned, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<TableRole>,
    /// The file concerned. Not stored: paths mean nothing elsewhere.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// The warning as a sentence, without the client, table or file.
    pub message: String,
}

/// The kinds of warnings, for programs that handle them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WarningCode {
    /// Inner fits did not converge to their tolerance.
    InnerNotConverged,
    /// The linear system of a hypergradient was solved inaccurately.
    InaccurateHypergradient,
    /// Hessians were singular to rounding.
    DiagonalRaised,
    /// The root-only model was clearly better than the clients' model and replaced it.
    FellBack,
    /// The root cannot tell which clients are fair.
    CannotTell,
    /// Clients differ more than honest clients of one population do.
    ClientsDiffer,
    /// The clients' rows and the root disagree about the gap.
    RowsDisagree,
    /// The model rests on few of the clients.
    FewClientsUsed,
    /// Clients whose models know little are counted, because the others are unfair together.
    FairButWeak,
    /// The outer solver ran out of steps.
    NotStationary,
    /// The label column has more than two values.
    ManyLabelValues,
    /// The sensitive column has more than two values.
    ManySensitiveValues,
    /// All rows have the same label.
    OneClass,
    /// All rows belong to the same group.
    OneGroup,
    /// Rows have values that are not levels of their feature; the schema counts them as other.
    UnknownLevels,
    /// A client on the roster submitted nothing.
    NoSubmission,
    /// Two clients submitted the same table.
    SameTable,
    /// Clients have rows in common.
    SharedRows,
    /// Fewer than half of a client's rows are distinct.
    RepeatedRows,
    /// The root is too small to tell whether the model is fair.
    RootTooSmall,
    /// The gap on the root is provably larger than requested.
    FairnessNotReached,
    /// A group has no root rows, or none with the label that the criterion needs.
    GroupMissing,
    /// A client has no root rows.
    ClientWithoutRoot,
    /// The root does not show that the model is better than a constant.
    NoBetterThanConstant,
    /// The pooled model is provably no worse on the root, and better in loss or gap.
    PooledNoWorse,
    /// A model of the root alone is provably no worse, and better in loss or gap, on root rows it was not fitted to.
    RootOnlyNoWorse,
    /// One client has nearly all the weight, although the root does not show that others are worse.
    OneClientDominates,
    /// A proxy was made for another fairness criterion.
    OtherCriterion,
    /// A proxy was made by another client than the one whose file it is.
    OtherClient,
    /// The client's data has so few rows that its proxy says much about each of them.
    FewDataRows,
    /// The noise of a differentially private proxy is known, so it protects nobody.
    NotPrivate,
    /// A proxy declares so much noise that nobody can tell whether its model is fair.
    LargeNoise,
    /// δ is so large that the promise of differential privacy means little.
    LargeDelta,
    /// The proxy consists of the client's own rows.
    RawRows,
    /// The proxy starts from the client's own rows.
    StartsFromData,
    /// Rows of the proxy are exact copies of rows of the data.
    CopiedRows,
    /// The proxy's labels can be separated, so that its model without regularisation does not exist.
    SeparableProxy,
    /// The proxy's rows are far from those of the data.
    UnlikeData,
    /// The proxy's model has a larger gap than people usually accept.
    GapRemains,
    /// The proxy's generator ran out of steps.
    GeneratorNotConverged,
    /// Groups of a model that was adapted at home share a threshold, so their rates may differ.
    SharedThreshold,
    /// A code from a newer version of this program.
    #[serde(other)]
    Unknown,
}

/// The tables of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableRole {
    /// What the client sent.
    Proxy,
    /// What the server trusts.
    Root,
}

impl WarningCode {
    /// Its place in a list, the most important first: whether the model can be used, what the root cannot tell, the
    /// quality of the solve, the round, and single tables.
    fn rank(self) -> u8 {
        match self {
            Self::NotStationary
            | Self::FellBack
            | Self::FairButWeak
            | Self::FairnessNotReached
            | Self::NoBetterThanConstant
            | Self::PooledNoWorse
            | Self::RootOnlyNoWorse => 0,
            Self::CannotTell
            | Self::ClientsDiffer
            | Self::RowsDisagree
            | Self::FewClientsUsed
            | Self::LargeNoise
            | Self::RootTooSmall
            | Self::GroupMissing
            | Self::ClientWithoutRoot
            | Self::OneClientDominates => 1,
            Self::InnerNotConverged | Self::InaccurateHypergradient | Self::DiagonalRaised => 2,
            Self::NoSubmission | Self::SameTable | Self::SharedRows => 3,
            Self::ManyLabelValues
            | Self::ManySensitiveValues
            | Self::OneClass
            | Self::OneGroup
            | Self::UnknownLevels
            | Self::RepeatedRows
            | Self::OtherCriterion
            | Self::OtherClient
            | Self::FewDataRows
            | Self::NotPrivate
            | Self::LargeDelta
            | Self::RawRows
            | Self::StartsFromData
            | Self::CopiedRows
            | Self::SeparableProxy
            | Self::UnlikeData
            | Self::GapRemains
            | Self::GeneratorNotConverged
            | Self::SharedThreshold
            | Self::Unknown => 4,
        }
    }
}

/// Sorts warnings, the most important first. Those of equal importance keep their order.
pub fn sort_by_importance(warnings: &mut [Warning]) {
    warnings.sort_by_key(|warning| warning.code.rank());
}

impl Warning {
    /// A warning about the whole round.
    pub fn new(code: WarningCode, message: impl Into<String>) -> Self {
        Self { code, client: None, table: None, file: None, message: message.into() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.client, &self.file, self.table) {
            (Some(client), Some(file), _) => write!(f, "client `{client}` ({}): ", file.display())?,
            (None, Some(file), _) => write!(f, "{}: ", file.display())?,
            (Some(client), None, Some(TableRole::Proxy)) => {
                write!(f, "proxy of client `{client}`: ")?
            }
            (Some(client), None, Some(TableRole::Root)) => {
                write!(f, "root of client `{client}`: ")?
            }
            (None, None, Some(TableRole::Root)) => f.write_str("trusted rows: ")?,
            _ => {}
        }
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_whether_the_model_can_be_used_comes_first() {
        let codes = [
            WarningCode::OneClass,
            WarningCode::SharedRows,
            WarningCode::RootTooSmall,
            WarningCode::OneGroup,
            WarningCode::FairnessNotReached,
        ];
        let mut warnings: Vec<Warning> = codes.map(|code| Warning::new(code, "")).to_vec();
        sort_by_importance(&mut warnings);
        let sorted: Vec<WarningCode> = warnings.iter().map(|warning| warning.code).collect();
        assert_eq!(sorted, [codes[4], codes[2], codes[1], codes[0], codes[3]]);
    }
}
