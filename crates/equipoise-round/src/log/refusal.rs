//! What the rules of a round refuse.

use equipoise_data::Digest;
use jiff::Timestamp;

use crate::text::Name;

/// A document, file or event that the rules of the round do not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A malformed document.
    #[error("{0}")]
    Malformed(String),
    /// A document of another kind.
    #[error("it is a document of kind `{1}`, not `{0}`")]
    OtherKind(&'static str, &'static str),
    /// A document for another round.
    #[error("it belongs to the round with invitation {1}, not to that with {0}")]
    OtherRound(Digest, Digest),
    /// A signature that does not verify.
    #[error("the signature of this {0} is not by the key that the invitation lists")]
    BadSignature(&'static str),
    /// The coordinator's key is another one.
    #[error(
        "it is signed by a coordinator with fingerprint {0}, which is not the one given. Compare the fingerprint by \
         phone, and send nothing until it agrees"
    )]
    OtherCoordinator(String),
    /// A client that was not invited.
    #[error("`{0}` is not on the roster of this round")]
    NotOnRoster(Name),
    /// The invitation lists another key.
    #[error("the invitation lists another key for `{0}` than this one. Ask the coordinator")]
    OtherKey(Name),
    /// A client whose key was revoked.
    #[error("the key of `{0}` was revoked")]
    Revoked(Name),
    /// A file that is not the latest.
    #[error(
        "`{0}` has already delivered a file sealed at {2}, and this one was sealed at {1}: the latest counts"
    )]
    Older(Name, Timestamp, Timestamp),
    /// Too many files of one client.
    #[error(
        "`{0}` has already delivered as many files as a round takes from one client. Ask the coordinator"
    )]
    TooMany(Name),
    /// A file over the size limit.
    #[error("the sealed content has {0} bytes, but the limit of this round is {1}")]
    TooLarge(u64, u64),
    /// A body that is not what its header says.
    #[error(
        "the file is damaged or cut off: its header announces {0} bytes with another SHA-256, but {1} bytes arrived. Send \
         it again"
    )]
    OtherBody(u64, u64),
    /// An event that cannot follow.
    #[error("{0} is not possible: the round is {1}")]
    NotPossible(&'static str, &'static str),
    /// A round that cannot be closed yet.
    #[error(
        "the round cannot close before its deadline, {0}, because these clients have not delivered: {1}. Wait, or revoke \
         them"
    )]
    TooEarly(Timestamp, String),
    /// Too few clients count.
    #[error(
        "only {0} clients count, but the round needs {1}. Accept late files, wait, or abort the round"
    )]
    TooFew(u64, u64),
    /// There is no late file to accept.
    #[error("`{0}` has delivered no late file that could be accepted")]
    NotLate(Name),
    /// A client that does not count cannot be excluded.
    #[error("`{0}` does not count, so it cannot be excluded")]
    NotCounting(Name),
    /// A decision without a reason, or with one that is too long.
    #[error("the decision needs a reason of 1 to 200 characters")]
    Reason,
    /// Someone else writes the log now.
    #[error(
        "another copy of this round is being written now: send this to the mailbox, or close the round first"
    )]
    NotWriter,
    /// An event that breaks the chain.
    #[error("{0}")]
    Chain(String),
    /// A statement that does not follow from the log.
    #[error("the statement does not agree with the log: {0}")]
    Statement(String),
    /// A log that does not continue the one held.
    #[error(
        "the log of the mailbox does not continue the one held here: they differ from event {0} on. The mailbox was restored \
         from an old copy, or shows different logs to different people. Keep both, and ask its operator"
    )]
    Fork(u64),
    /// A pull with a time that is too far away.
    #[error("the request was signed more than ten minutes ago, or the clocks differ by as much")]
    Expired,
    /// A receipt for something else.
    #[error("the receipt is not for this: {0}")]
    Receipt(String),
}

impl Refusal {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed(..) => "malformed",
            Self::OtherKind(..) => "other_kind",
            Self::OtherRound(..) => "other_round",
            Self::BadSignature(..) => "bad_signature",
            Self::OtherCoordinator(..) => "other_coordinator",
            Self::NotOnRoster(..) => "not_on_roster",
            Self::OtherKey(..) => "other_key",
            Self::Revoked(..) => "revoked",
            Self::Older(..) => "older",
            Self::TooMany(..) => "too_many",
            Self::TooLarge(..) => "too_large",
            Self::OtherBody(..) => "other_body",
            Self::NotPossible(..) => "not_possible",
            Self::TooEarly(..) => "too_early",
            Self::TooFew(..) => "too_few",
            Self::NotLate(..) => "not_late",
            Self::NotCounting(..) => "not_counting",
            Self::Reason => "reason",
            Self::NotWriter => "not_writer",
            Self::Chain(..) => "chain",
            Self::Statement(..) => "statement",
            Self::Fork(..) => "fork",
            Self::Expired => "expired",
            Self::Receipt(..) => "receipt",
        }
    }
}
