//! The words of each operation, who may do it, what it answers and how it refuses.

use crate::http::Operation;

/// Who may do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Anyone,
    Client,
    Coordinator,
}

/// What an answer holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content {
    /// A document of this schema.
    Json(&'static str),
    /// Text of one of these media types.
    Text(&'static [&'static str]),
}

/// An operation in words.
pub(super) struct Detail {
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) description: &'static str,
    pub(super) access: Access,
    pub(super) answers: &'static [(u16, &'static str, Content)],
    pub(super) refusals: &'static [&'static str],
}

impl Access {
    pub(super) fn tag(self) -> &'static str {
        match self {
            Self::Anyone => "reader",
            Self::Client => "client",
            Self::Coordinator => "coordinator",
        }
    }
}

const ROUND: &[(u16, &str, Content)] = &[(200, "The round as it stands.", Content::Json("Round"))];
const FILES: &[&str] =
    &["application/json", "application/jsonl", "application/toml", "text/csv", "text/html"];

pub(super) fn detail(operation: Operation) -> Detail {
    use Access::{Anyone, Client, Coordinator};
    use Content::{Json, Text};
    match operation {
        Operation::Describe => Detail {
            id: "describe",
            summary: "This document",
            description: "What the server can do, as OpenAPI 3.1.",
            access: Anyone,
            answers: &[(200, "The description.", Json("Document"))],
            refusals: &[],
        },
        Operation::ListRounds => Detail {
            id: "listRounds",
            summary: "All rounds",
            description: "The names of all rounds, sorted.",
            access: Anyone,
            answers: &[(200, "The rounds.", Json("Rounds"))],
            refusals: &[],
        },
        Operation::GetRound => Detail {
            id: "getRound",
            summary: "A round as it stands",
            description: "State, counts, deadline, limits and, once published, the names of its files. Who has \
                submitted is for the coordinator alone.",
            access: Anyone,
            answers: ROUND,
            refusals: &["not_found"],
        },
        Operation::GetSchema => Detail {
            id: "getSchema",
            summary: "A round's schema",
            description: "The schema as a file; its digest is the round's `schema_sha256`.",
            access: Anyone,
            answers: &[(200, "The schema.", Text(&["application/toml"]))],
            refusals: &["not_found"],
        },
        Operation::Listen => Detail {
            id: "listen",
            summary: "A round's changes as they happen",
            description: "Server-sent events named `round`, each with a document of schema Round: one at once, \
                then one for every change.",
            access: Anyone,
            answers: &[(200, "The stream.", Text(&["text/event-stream"]))],
            refusals: &["not_found", "busy"],
        },
        Operation::GetFile => Detail {
            id: "getFile",
            summary: "A published file",
            description: "One of the round's `files`. `statement.json` is signed over the digests of the others; \
                `equipoise verify` checks them all, offline.",
            access: Anyone,
            answers: &[(200, "The file.", Text(FILES))],
            refusals: &["not_found", "not_published"],
        },
        Operation::Submit => Detail {
            id: "submit",
            summary: "A client's one submission",
            description: "Manifest and signature are checked before the body is read. The same file again gives \
                the same receipt; another one is refused. An upload that broke off goes on where getUpload says.",
            access: Client,
            answers: &[
                (
                    200,
                    "It had been accepted before; the receipt is the same as then.",
                    Json("Receipt"),
                ),
                (201, "Accepted: committed and on the disk.", Json("Receipt")),
            ],
            refusals: &[
                "not_authenticated",
                "key_revoked",
                "too_many_failures",
                "already_submitted",
                "round_not_open",
                "too_late",
                "offset_mismatch",
                "manifest_mismatch",
                "body_truncated",
                "digest_mismatch",
                "too_slow",
                "length_required",
                "too_large",
                "unsupported",
                "schema_mismatch",
                "value_rejected",
                "file_rejected",
                "too_many_requests",
                "busy",
                "disk_full",
            ],
        },
        Operation::GetReceipt => Detail {
            id: "getReceipt",
            summary: "A client's receipt",
            description: "For the file of the signed manifest: whether it, and no other, was accepted.",
            access: Client,
            answers: &[(200, "The receipt.", Json("Receipt"))],
            refusals: &[
                "not_authenticated",
                "key_revoked",
                "too_many_failures",
                "not_submitted",
                "already_submitted",
            ],
        },
        Operation::GetUpload => Detail {
            id: "getUpload",
            summary: "Where an interrupted upload goes on",
            description: "Bytes that the server has of the file of the signed manifest; 0 if none.",
            access: Client,
            answers: &[(200, "How far it is.", Json("Upload"))],
            refusals: &["not_authenticated", "key_revoked", "too_many_failures"],
        },
        Operation::ListClients => Detail {
            id: "listClients",
            summary: "Who has submitted",
            description: "The roster, with what was accepted of each client.",
            access: Coordinator,
            answers: &[(200, "The clients, sorted by name.", Json("Clients"))],
            refusals: &["not_coordinator", "too_many_failures"],
        },
        Operation::Revoke => Detail {
            id: "revoke",
            summary: "Accept nothing more that is signed with a client's key",
            description: "What the client submitted before stays in the round.",
            access: Coordinator,
            answers: ROUND,
            refusals: &[
                "not_coordinator",
                "too_many_failures",
                "not_found",
                "round_not_open",
                "disk_full",
            ],
        },
        Operation::Open => Detail {
            id: "open",
            summary: "Open a draft",
            description: "Draft → open.",
            access: Coordinator,
            answers: ROUND,
            refusals: &["not_coordinator", "too_many_failures", "round_not_open", "disk_full"],
        },
        Operation::Close => Detail {
            id: "close",
            summary: "Close a round, and have it solved",
            description: "Open → closed: from then on the set of submissions is final.",
            access: Coordinator,
            answers: ROUND,
            refusals: &[
                "not_coordinator",
                "too_many_failures",
                "round_not_open",
                "too_few_submissions",
                "disk_full",
            ],
        },
        Operation::Abort => Detail {
            id: "abort",
            summary: "End a round without a model",
            description: "From any state that is not final.",
            access: Coordinator,
            answers: ROUND,
            refusals: &["not_coordinator", "too_many_failures", "round_not_open", "disk_full"],
        },
    }
}
