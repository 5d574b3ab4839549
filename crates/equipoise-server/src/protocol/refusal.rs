//! Every way to be told "no": a stable code, a status, words, and what to do about it.

mod examples;

use serde::{Deserialize, Serialize};

use super::Digest;
use super::round_info::RoundState;

/// Why the server did not do what it was asked for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// No key, a wrong one, an unknown client or a signature over something else: all answered alike.
    #[error("the request is not signed by a client of this round")]
    NotAuthenticated,
    /// The coordinator's token is missing or wrong.
    #[error("this needs the coordinator's token")]
    NotCoordinator,
    /// The client's key was revoked.
    #[error("the key of client `{client}` was revoked")]
    KeyRevoked {
        /// The client.
        client: String,
    },
    /// Too many failed authentications from this address.
    #[error("too many failed authentications from this address")]
    TooManyFailures {
        /// When to try again.
        retry_after_seconds: u64,
    },
    /// Nothing at this address.
    #[error("there is no {what} here")]
    NotFound {
        /// What was looked for.
        what: &'static str,
    },
    /// Something is there, but it cannot be done with it.
    #[error("this cannot be done here")]
    MethodNotAllowed,
    /// The client has not submitted.
    #[error("nothing has been accepted from client `{client}`")]
    NotSubmitted {
        /// The client.
        client: String,
    },
    /// The results are not there yet.
    #[error("the round is {state}, not published")]
    NotPublished {
        /// Where it stands.
        state: RoundState,
    },
    /// Another body than the one accepted.
    #[error("another file was already accepted from client `{client}`")]
    AlreadySubmitted {
        /// The client.
        client: String,
        /// Digest of the accepted one.
        accepted_sha256: Digest,
    },
    /// The round does not accept submissions, or cannot make this move.
    #[error("the round is {state}, not open")]
    NotOpen {
        /// Where it stands.
        state: RoundState,
    },
    /// The deadline is over.
    #[error("the deadline of the round is over")]
    TooLate,
    /// Too few to close.
    #[error("{found} submissions were accepted, and the round needs {minimum}")]
    TooFewSubmissions {
        /// Accepted so far.
        found: u64,
        /// Needed.
        minimum: u64,
    },
    /// The part of the file that the server has ends elsewhere.
    #[error("the upload goes on at byte {offset}, not at {found}")]
    OffsetMismatch {
        /// Where the server is.
        offset: u64,
        /// Where the client wanted to go on.
        found: u64,
    },
    /// The address and the signed manifest name different things.
    #[error("the request and its signed manifest disagree about {what}")]
    ManifestMismatch {
        /// About what.
        what: &'static str,
    },
    /// The body ended early.
    #[error("the body ended after {found} of {expected} bytes")]
    BodyTruncated {
        /// Bytes that the manifest names.
        expected: u64,
        /// Bytes that came.
        found: u64,
    },
    /// The body is not the one that was signed.
    #[error("the body is not the file that the manifest names: its SHA-256 is {found}")]
    DigestMismatch {
        /// Digest of what came.
        found: Digest,
    },
    /// The body came too slowly.
    #[error("the body came at less than {minimum} bytes a second")]
    TooSlow {
        /// The least rate.
        minimum: u64,
    },
    /// No `Content-Length`.
    #[error("the request has no Content-Length")]
    LengthRequired,
    /// More bytes than allowed.
    #[error("the file has {found} bytes; at most {limit} are accepted")]
    TooLarge {
        /// Most bytes.
        limit: u64,
        /// Bytes announced.
        found: u64,
    },
    /// A media type or a content encoding that is not accepted.
    #[error("{what} is not accepted")]
    Unsupported {
        /// What was sent.
        what: String,
    },
    /// The request itself is not sound.
    #[error("{what}")]
    BadRequest {
        /// What is wrong.
        what: String,
    },
    /// Rows are encoded by another schema.
    #[error("the file is encoded by schema {found}, but the round's is {expected}")]
    SchemaMismatch {
        /// The round's.
        expected: Digest,
        /// The file's.
        found: Digest,
    },
    /// The file holds something that no proxy may hold.
    #[error("{message}")]
    ValueRejected {
        /// What and where.
        message: String,
        /// Row, from 1, where it is about one.
        row: Option<u64>,
        /// Column, where it is about one.
        column: Option<String>,
    },
    /// The file could not be read as a table within the limits.
    #[error("{message}")]
    FileRejected {
        /// Why.
        message: String,
    },
    /// All places are taken.
    #[error("the server is busy")]
    Busy {
        /// When to try again.
        retry_after_seconds: u64,
    },
    /// Too many requests of this client, or connections of this address, at once.
    #[error("too many requests at once from this {whom}")]
    TooMany {
        /// `client` or `address`.
        whom: &'static str,
        /// When to try again.
        retry_after_seconds: u64,
    },
    /// Too little space on the disk.
    #[error("the server's disk is too full for this file")]
    DiskFull,
    /// The server failed; its log knows why.
    #[error("the server failed; its log says why")]
    Internal,
}

/// A refusal as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RefusalBody {
    /// Stable name of the refusal.
    pub code: String,
    /// What happened.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Row, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
    /// Column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Where an upload goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Digest of what was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_sha256: Option<Digest>,
    /// Seconds to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u64>,
}

impl Refusal {
    /// The HTTP status and the stable name.
    fn status_and_code(&self) -> (u16, &'static str) {
        match self {
            Self::NotAuthenticated => (401, "not_authenticated"),
            Self::NotCoordinator => (401, "not_coordinator"),
            Self::KeyRevoked { .. } => (403, "key_revoked"),
            Self::TooManyFailures { .. } => (429, "too_many_failures"),
            Self::NotFound { .. } => (404, "not_found"),
            Self::MethodNotAllowed => (405, "method_not_allowed"),
            Self::NotSubmitted { .. } => (404, "not_submitted"),
            Self::NotPublished { .. } => (404, "not_published"),
            Self::AlreadySubmitted { .. } => (409, "already_submitted"),
            Self::NotOpen { .. } => (409, "round_not_open"),
            Self::TooLate => (409, "too_late"),
            Self::TooFewSubmissions { .. } => (409, "too_few_submissions"),
            Self::OffsetMismatch { .. } => (409, "offset_mismatch"),
            Self::ManifestMismatch { .. } => (400, "manifest_mismatch"),
            Self::BodyTruncated { .. } => (400, "body_truncated"),
            Self::DigestMismatch { .. } => (400, "digest_mismatch"),
            Self::BadRequest { .. } => (400, "bad_request"),
            Self::TooSlow { .. } => (408, "too_slow"),
            Self::LengthRequired => (411, "length_required"),
            Self::TooLarge { .. } => (413, "too_large"),
            Self::Unsupported { .. } => (415, "unsupported"),
            Self::SchemaMismatch { .. } => (422, "schema_mismatch"),
            Self::ValueRejected { .. } => (422, "value_rejected"),
            Self::FileRejected { .. } => (422, "file_rejected"),
            Self::TooMany { .. } => (429, "too_many_requests"),
            Self::Busy { .. } => (503, "busy"),
            Self::DiskFull => (507, "disk_full"),
            Self::Internal => (500, "internal"),
        }
    }

    /// The stable name.
    pub fn code(&self) -> &'static str {
        self.status_and_code().1
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.status_and_code().0
    }

    /// What to do about it, where there is something to do.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NotAuthenticated => {
                "check that round and client are spelled as in the roster, and that the key is the one \
                 whose .pub file the coordinator has"
            }
            Self::NotCoordinator => "`round new` wrote the token when the round was set up",
            Self::KeyRevoked { .. } => "ask the coordinator",
            Self::AlreadySubmitted { .. } => {
                "each client submits once; if the accepted file is not yours, tell the coordinator"
            }
            Self::NotOpen { .. } | Self::TooLate => {
                "submissions are accepted while the round is open; ask the coordinator for another round"
            }
            Self::TooFewSubmissions { .. } => "wait for more clients, or abort the round",
            Self::OffsetMismatch { .. } => "ask for the state of the upload and go on from there",
            Self::BodyTruncated { .. } | Self::TooSlow { .. } => {
                "send again: the upload goes on where it stopped"
            }
            Self::DigestMismatch { .. } => {
                "the file changed on its way or since it was signed: send again"
            }
            Self::LengthRequired => "say how long the body is; chunked bodies are not accepted",
            Self::TooLarge { .. } => "make a smaller proxy: some thousand rows are plenty",
            Self::Unsupported { .. } => {
                "send text/csv, application/gzip (a .csv.gz) or application/vnd.apache.parquet, without \
                 Content-Encoding"
            }
            Self::SchemaMismatch { .. } => {
                "fetch the round's schema and make the proxy again with it"
            }
            Self::ValueRejected { .. } | Self::FileRejected { .. } => {
                "nothing was accepted: mend the file and submit it again"
            }
            Self::Busy { .. } | Self::TooMany { .. } | Self::TooManyFailures { .. } => {
                "wait and try again"
            }
            Self::DiskFull => "the coordinator must make room; then send again",
            _ => return None,
        })
    }

    /// Seconds after which it is worth trying again.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            Self::Busy { retry_after_seconds }
            | Self::TooMany { retry_after_seconds, .. }
            | Self::TooManyFailures { retry_after_seconds } => Some(*retry_after_seconds),
            _ => None,
        }
    }

    /// The refusal as JSON.
    pub fn body(&self) -> RefusalBody {
        let (row, column) = match self {
            Self::ValueRejected { row, column, .. } => (*row, column.clone()),
            _ => (None, None),
        };
        let offset = match self {
            Self::OffsetMismatch { offset, .. } => Some(*offset),
            _ => None,
        };
        let accepted_sha256 = match self {
            Self::AlreadySubmitted { accepted_sha256, .. } => Some(*accepted_sha256),
            _ => None,
        };
        RefusalBody {
            code: self.code().to_owned(),
            message: self.to_string(),
            hint: self.hint().map(str::to_owned),
            row,
            column,
            offset,
            accepted_sha256,
            retry_after_seconds: self.retry_after_seconds(),
        }
    }
}
