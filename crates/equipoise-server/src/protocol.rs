//! The messages between client and server, and what they sign. Pure: no files, no network, no clock.
//!
//! Everything signed has one canonical byte form ([`canonical`]): a first line with kind and version, then
//! `name value` lines in a fixed order. JSON only carries the values. A verifier rebuilds the lines and checks
//! the signature over them. Each kind has its own signature prefix, so a signature over one kind cannot pass
//! for a signature over another.

mod audience;
pub mod canonical;
mod client_status;
mod event;
mod event_text;
mod key;
mod log;
mod manifest;
mod name;
mod published_files;
mod refusal;
mod round_info;
mod saved_receipt;
mod server_log;
mod signed_documents;
mod spec;
mod submission_list;
mod validated;

pub use audience::{AudienceError, check_audience};
pub use client_status::{ClientStatus, RefusedAttempt};
pub use equipoise_data::{Digest, DigestProblem};
pub use event::{ChainError, CloseReason, Event, EventKind, verify_chain};
pub use key::{KeyError, PrivateKey, PublicKey, Signature};
pub use log::{LogError, LogProblem, LogState, replay};
pub use manifest::{Manifest, ManifestError, SignedManifest};
pub use name::{ClientId, NameError, RoundId};
pub use published_files::{LOG_FILES, PUBLISHED_FILES, STATEMENT_FILE};
pub use refusal::{Refusal, RefusalBody};
pub use round_info::{RoundInfo, RoundLimits, RoundState, SolveProgress, UploadState};
pub use saved_receipt::SavedReceipt;
pub use server_log::{
    RoundHead, SERVER_LOG_PAGE, ServerHead, ServerLogEntry, ServerLogFile, SignedServerHead,
    verify_server_log,
};
pub use signed_documents::{
    LogHead, Receipt, SignedLogHead, SignedReceipt, SignedStatement, Statement, Subject,
};
pub use spec::{RootFile, RoundSpec, SubmissionLimits};
pub use submission_list::{ListedSubmission, SubmissionList};
pub use validated::Validated;

/// Name and version of this program, as a [`Statement`] contains it.
pub const PROGRAM: &str = concat!("equipoise ", env!("CARGO_PKG_VERSION"));

/// Header with the manifest's canonical bytes in base64.
pub const MANIFEST_HEADER: &str = "equipoise-manifest";
/// Header with the client's signature over the manifest, in base64.
pub const SIGNATURE_HEADER: &str = "equipoise-signature";
/// Header with the number of bytes that the server already has when an upload resumes.
pub const OFFSET_HEADER: &str = "upload-offset";
