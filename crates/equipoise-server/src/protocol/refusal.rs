//! Every refusal: a stable code, an HTTP status, a message, and a hint on what to do.

mod examples;

use serde::{Deserialize, Serialize};

use super::Digest;
use super::round_info::RoundState;

/// Why the server refused a request.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A missing or wrong key, an unknown client, or a signature over something else. All get the same answer.
    #[error("the request is not signed by a client of this round")]
    NotAuthenticated,
    /// The coordinator's token is missing or wrong.
    #[error("the request is not authorised by the coordinator's token")]
    NotCoordinator,
    /// This client's key was revoked.
    #[error("the key of client `{0}` has been revoked")]
    KeyRevoked(String),
    /// Too many failed authentications from one address.
    #[error("too many failed authentications from this address")]
    TooManyFailures,
    /// Nothing of this kind exists here.
    #[error("no such {0}")]
    NotFound(&'static str),
    /// The resource does not support the request's method.
    #[error("this method is not allowed here")]
    MethodNotAllowed,
    /// This client has not submitted.
    #[error("no submission from client `{0}` has been accepted")]
    NotSubmitted(String),
    /// The results are not available: the round is in this state.
    #[error("the round is {0}, not published")]
    NotPublished(RoundState),
    /// A different file was already accepted.
    #[error("a different file was already accepted from client `{client}`")]
    AlreadySubmitted {
        /// The client.
        client: String,
        /// Digest of the accepted file.
        accepted_sha256: Digest,
    },
    /// The round, in this state, does not accept submissions.
    #[error("the round is {0} and does not accept submissions")]
    NotOpen(RoundState),
    /// The coordinator cannot do this in the round's current state.
    #[error("this is not possible while the round is {0}")]
    NotPossible(RoundState),
    /// The deadline has passed.
    #[error("the deadline of the round has passed")]
    TooLate,
    /// Too few submissions to close the round.
    #[error("the round needs at least {minimum} submissions, but has {found}")]
    TooFewSubmissions {
        /// Accepted so far.
        found: u64,
        /// Required.
        minimum: u64,
    },
    /// The upload cannot resume at the requested offset.
    #[error("the upload resumes at byte {offset}, not at {found}")]
    OffsetMismatch {
        /// Bytes that the server has.
        offset: u64,
        /// The requested offset.
        found: u64,
    },
    /// The length of the body differs from the signed manifest.
    #[error("the length of the body does not match the signed manifest")]
    ManifestMismatch,
    /// The body ended early.
    #[error("the body ended after {found} of {expected} bytes")]
    BodyTruncated {
        /// Length in the manifest.
        expected: u64,
        /// Bytes received.
        found: u64,
    },
    /// The body, with this digest, is not the file that was signed.
    #[error("the body is not the file in the manifest: its SHA-256 is {0}")]
    DigestMismatch(Digest),
    /// The body arrived at less than this rate, in bytes per second.
    #[error("the body arrived at less than {0} bytes per second")]
    TooSlow(u64),
    /// No `Content-Length`.
    #[error("the request has no Content-Length")]
    LengthRequired,
    /// The file is larger than the limit.
    #[error("the file has {found} bytes, but the limit is {limit}")]
    TooLarge {
        /// Maximum size in bytes.
        limit: u64,
        /// Announced size in bytes.
        found: u64,
    },
    /// An unsupported media type or content encoding.
    #[error("{0}")]
    Unsupported(String),
    /// The request is malformed.
    #[error("{0}")]
    BadRequest(String),
    /// The rows are encoded with a different schema.
    #[error("the file is encoded with schema {found}, but the round uses {expected}")]
    SchemaMismatch {
        /// The round's schema.
        expected: Digest,
        /// The file's schema.
        found: Digest,
    },
    /// The file contains an invalid value or column.
    #[error("{message}")]
    ValueRejected {
        /// What is wrong, and where.
        message: String,
        /// Row, from 1.
        row: Option<u64>,
        /// Column.
        column: Option<String>,
    },
    /// The file could not be read as a table within the limits.
    #[error("{0}")]
    FileRejected(String),
    /// The server is at capacity.
    #[error("the server is busy")]
    Busy {
        /// When to retry.
        retry_after_seconds: u64,
    },
    /// Too many concurrent requests from one client.
    #[error("too many concurrent requests from this client")]
    TooManyRequests,
    /// The client's last files were rejected, and it must wait before it sends another.
    #[error("the last files of this client were rejected, so the next one has to wait")]
    TooManyRejectedFiles {
        /// When to retry.
        retry_after_seconds: u64,
    },
    /// Not enough free disk space.
    #[error("the server does not have enough disk space for this file")]
    DiskFull,
    /// An internal error. Details are in the server's log.
    #[error("internal server error. Give the operator the request id in the response's headers")]
    Internal,
}

/// A refusal as JSON.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RefusalBody {
    /// Stable error code.
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
    /// Where an upload resumes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Digest of the accepted file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_sha256: Option<Digest>,
    /// Seconds to wait before a retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u64>,
}

impl Refusal {
    fn status_and_code(&self) -> (u16, &'static str) {
        match self {
            Self::NotAuthenticated => (401, "not_authenticated"),
            Self::NotCoordinator => (401, "not_coordinator"),
            Self::KeyRevoked(_) => (403, "key_revoked"),
            Self::TooManyFailures => (429, "too_many_failures"),
            Self::NotFound(_) => (404, "not_found"),
            Self::MethodNotAllowed => (405, "method_not_allowed"),
            Self::NotSubmitted(_) => (404, "not_submitted"),
            Self::NotPublished(_) => (404, "not_published"),
            Self::AlreadySubmitted { .. } => (409, "already_submitted"),
            Self::NotOpen(_) => (409, "round_not_open"),
            Self::NotPossible(_) => (409, "not_possible"),
            Self::TooLate => (409, "too_late"),
            Self::TooFewSubmissions { .. } => (409, "too_few_submissions"),
            Self::OffsetMismatch { .. } => (409, "offset_mismatch"),
            Self::ManifestMismatch => (400, "manifest_mismatch"),
            Self::BodyTruncated { .. } => (400, "body_truncated"),
            Self::DigestMismatch(_) => (400, "digest_mismatch"),
            Self::BadRequest(_) => (400, "bad_request"),
            Self::TooSlow(_) => (408, "too_slow"),
            Self::LengthRequired => (411, "length_required"),
            Self::TooLarge { .. } => (413, "too_large"),
            Self::Unsupported(_) => (415, "unsupported"),
            Self::SchemaMismatch { .. } => (422, "schema_mismatch"),
            Self::ValueRejected { .. } => (422, "value_rejected"),
            Self::FileRejected(_) => (422, "file_rejected"),
            Self::TooManyRequests => (429, "too_many_requests"),
            Self::TooManyRejectedFiles { .. } => (429, "too_many_rejected_files"),
            Self::Busy { .. } => (503, "busy"),
            Self::DiskFull => (507, "disk_full"),
            Self::Internal => (500, "internal"),
        }
    }

    /// The stable error code.
    pub fn code(&self) -> &'static str {
        self.status_and_code().1
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.status_and_code().0
    }

    /// What to do about it, if anything.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NotAuthenticated => {
                "check the names of the round and the client, and that the coordinator has the .pub file of \
                 this key"
            }
            Self::NotCoordinator => {
                "use the token from the file that `round new` wrote when the round was set up"
            }
            Self::KeyRevoked(_) => "contact the coordinator",
            Self::NotPublished(_) => "wait until the round is published",
            Self::AlreadySubmitted { .. } => {
                "keep the receipt of the accepted file: each client submits once. If that file is not yours, tell \
                 the coordinator"
            }
            Self::NotOpen(_) => "ask the coordinator when the round opens, or for another round",
            Self::NotPossible(_) => {
                "look at the round's state: a draft can be opened, an open round can be closed, and a round that \
                 has not ended can be aborted"
            }
            Self::TooLate => "ask the coordinator for another round",
            Self::TooFewSubmissions { .. } => {
                "wait for more clients. If they will not come, abort the round (`equipoise close --abort`) and create one \
                 with a lower --minimum"
            }
            Self::OffsetMismatch { .. } => "request the upload's state and resume from its offset",
            Self::BodyTruncated { .. } | Self::TooSlow(_) => {
                "submit again: the upload resumes where it stopped"
            }
            Self::DigestMismatch(_) => {
                "submit the file again: it changed in transit or after it was signed"
            }
            Self::LengthRequired => "send a Content-Length header. Chunked bodies are not accepted",
            Self::TooLarge { .. } => "make a smaller proxy: a few thousand rows are plenty",
            Self::Unsupported(_) => {
                "send text/csv, application/gzip (a .csv.gz) or application/vnd.apache.parquet, without \
                 Content-Encoding"
            }
            Self::SchemaMismatch { .. } => {
                "download the round's schema and regenerate the proxy with it"
            }
            Self::ValueRejected { .. } | Self::FileRejected(_) => {
                "fix the file and submit it again. Nothing was accepted"
            }
            Self::Busy { .. } | Self::TooManyRequests | Self::TooManyFailures => {
                "wait and try again"
            }
            Self::TooManyRejectedFiles { .. } => {
                "check the file against the round's schema, which `equipoise submit` does, and submit it after the wait"
            }
            Self::DiskFull => "ask the coordinator to free disk space, then submit again",
            _ => return None,
        })
    }

    /// Seconds to wait before a retry.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            Self::Busy { retry_after_seconds }
            | Self::TooManyRejectedFiles { retry_after_seconds } => Some(*retry_after_seconds),
            Self::TooManyRequests => Some(5),
            Self::TooManyFailures => Some(60),
            _ => None,
        }
    }

    /// The refusal as JSON.
    pub fn body(&self) -> RefusalBody {
        let mut body = RefusalBody {
            code: self.code().to_owned(),
            message: self.to_string(),
            hint: self.hint().map(str::to_owned),
            retry_after_seconds: self.retry_after_seconds(),
            ..RefusalBody::default()
        };
        match self {
            Self::ValueRejected { row, column, .. } => {
                (body.row, body.column) = (*row, column.clone());
            }
            Self::OffsetMismatch { offset, .. } => body.offset = Some(*offset),
            Self::AlreadySubmitted { accepted_sha256, .. } => {
                body.accepted_sha256 = Some(*accepted_sha256);
            }
            _ => {}
        }
        body
    }
}
