//! What travels between client and server, and what is signed. Pure: no files, no network, no clock.
//!
//! Everything signed has one canonical byte form ([`canonical`]): a first line that names the kind and the
//! version, then `name value` lines in a fixed order. JSON only carries the values; a verifier builds the
//! lines again and checks the signature over them. A prefix of its own for each kind keeps a signature over
//! one thing from being taken for a signature over another.

pub mod canonical;
mod event;
mod key;
mod log_head;
mod manifest;
mod name;
mod receipt;
mod refusal;
mod round_info;
mod statement;
mod submission_list;

pub use equipoise_data::{Digest, DigestProblem};
pub use event::{ChainProblem, Event, EventKind, verify_chain};
pub use key::{KeyProblem, PrivateKey, PublicKey, Signature};
pub use log_head::{LogHead, SignedLogHead};
pub use manifest::{Manifest, ManifestProblem};
pub use name::{Name, NameProblem};
pub use receipt::{Receipt, SignedReceipt};
pub use refusal::{Refusal, RefusalBody};
pub use round_info::{RoundInfo, RoundLimits, RoundState, SolveProgress, UploadState};
pub use statement::{SignedStatement, Statement, Subject};
pub use submission_list::{ListedSubmission, SubmissionList};

/// Header with the manifest's canonical bytes in base64.
pub const MANIFEST_HEADER: &str = "equipoise-manifest";
/// Header with the client's signature over the manifest, in base64.
pub const SIGNATURE_HEADER: &str = "equipoise-signature";
/// Header with the number of bytes that the server already has, where an upload goes on.
pub const OFFSET_HEADER: &str = "upload-offset";
