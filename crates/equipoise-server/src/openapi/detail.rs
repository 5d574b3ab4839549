//! Access, text, answers and refusals of each operation.

use super::Operation;

/// Who may call an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Anyone,
    Client,
    Coordinator,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Content {
    /// JSON with this schema.
    Json(&'static str),
    /// Text of one of these media types.
    Text(&'static [&'static str]),
}

impl Access {
    pub(super) fn tag(self) -> &'static str {
        match self {
            Self::Anyone => "reader",
            Self::Client => "client",
            Self::Coordinator => "coordinator",
        }
    }

    /// Codes of failed authentication.
    fn refusals(self) -> &'static [&'static str] {
        match self {
            Self::Anyone => &[],
            Self::Client => &["not_authenticated", "key_revoked", "too_many_failures"],
            Self::Coordinator => &["not_coordinator", "too_many_failures"],
        }
    }
}

impl Operation {
    /// The operation's name in lower camel case.
    pub(super) fn id(self) -> String {
        let mut id = format!("{self:?}");
        id[..1].make_ascii_lowercase();
        id
    }

    pub(super) fn access(self) -> Access {
        match self {
            Self::Describe | Self::GetHead | Self::GetLog => Access::Anyone,
            Self::ListRounds | Self::GetRound => Access::Anyone,
            Self::GetSchema | Self::Listen | Self::GetFile => Access::Anyone,
            Self::Submit | Self::GetReceipt | Self::GetUpload => Access::Client,
            Self::ListClients | Self::Revoke => Access::Coordinator,
            Self::Open | Self::Close | Self::Abort => Access::Coordinator,
        }
    }

    pub(super) fn text(self) -> (&'static str, &'static str) {
        match self {
            Self::Describe => ("Get this document", "The OpenAPI 3.1 description of the server."),
            Self::GetHead => (
                "Get the signed head of the server-wide log",
                "The end of the server-wide log and of the log of every round. Clients exchange heads to detect a server \
                 that shows them different histories; `equipoise audit --compare` compares them.",
            ),
            Self::GetLog => (
                "Get the server-wide log",
                "One line of JSON for every event of every round: its round, number and digest, and the digest of the \
                 previous line. At most 10000 lines; `after` requests the next ones.",
            ),
            Self::ListRounds => ("List all rounds", "The names of all rounds, sorted."),
            Self::GetRound => (
                "Get a round",
                "State, counts, deadline, limits and, once published, the names of the files. Only the coordinator \
                 can see who has submitted.",
            ),
            Self::GetSchema => (
                "Get a round's schema",
                "The schema as a TOML file. Its digest is the round's `schema_sha256`.",
            ),
            Self::Listen => (
                "Stream a round's changes",
                "Server-sent events named `round`, each with a document of schema Round: one immediately, then one \
                 for every change.",
            ),
            Self::GetFile => (
                "Get a published file",
                "One of the round's `files`. `statement.json` signs the digests of the other files, and `equipoise \
                 verify` checks them all offline.",
            ),
            Self::Submit => (
                "Submit a proxy",
                "The manifest and its signature are checked before the body is read. Submitting the same file again returns \
                 the same receipt; any other file is refused. An interrupted upload resumes at the offset from \
                 getUpload.",
            ),
            Self::GetReceipt => (
                "Get a client's receipt",
                "Reports whether the file in the signed manifest was accepted.",
            ),
            Self::GetUpload => (
                "Get the progress of an upload",
                "How many bytes of the file in the signed manifest the server has; 0 if none.",
            ),
            Self::ListClients => (
                "List clients and their submissions",
                "The roster, with each accepted submission and recent refused uploads.",
            ),
            Self::Revoke => ("Revoke a client's key", "An earlier submission stays in the round."),
            Self::Open => ("Open a draft", "Draft → open."),
            Self::Close => (
                "Close a round and solve it",
                "Open → closed, which makes the set of submissions final.",
            ),
            Self::Abort => ("End a round without a model", "From any state that is not final."),
        }
    }

    pub(super) fn answers(self) -> &'static [(u16, &'static str, Content)] {
        use Content::{Json, Text};
        match self {
            Self::Describe => &[(200, "The description.", Json("Document"))],
            Self::GetHead => &[(200, "The head.", Json("Head"))],
            Self::GetLog => &[(200, "The lines.", Text(&["application/jsonl"]))],
            Self::ListRounds => &[(200, "The rounds.", Json("Rounds"))],
            Self::GetRound | Self::Revoke | Self::Open | Self::Close | Self::Abort => {
                &[(200, "The current state of the round.", Json("Round"))]
            }
            Self::GetSchema => &[(200, "The schema.", Text(&["application/toml"]))],
            Self::Listen => &[(200, "The stream.", Text(&["text/event-stream"]))],
            Self::GetFile => &[(
                200,
                "The file.",
                Text(&[
                    "application/json",
                    "application/jsonl",
                    "application/toml",
                    "text/csv",
                    "text/html",
                ]),
            )],
            Self::Submit => &[
                (200, "Already accepted; the receipt is unchanged.", Json("Receipt")),
                (201, "Accepted: committed and durable.", Json("Receipt")),
            ],
            Self::GetReceipt => &[(200, "The receipt.", Json("Receipt"))],
            Self::GetUpload => &[(200, "The progress.", Json("Upload"))],
            Self::ListClients => &[(200, "The clients, sorted by name.", Json("Clients"))],
        }
    }

    pub(super) fn refusals(self) -> Vec<&'static str> {
        let specific: &[&str] = match self {
            Self::Describe | Self::GetHead | Self::GetLog | Self::ListRounds => &[],
            Self::GetUpload | Self::ListClients => &[],
            Self::GetRound | Self::GetSchema => &["not_found"],
            Self::Listen => &["not_found", "busy"],
            Self::GetFile => &["not_found", "not_published"],
            Self::Submit => &[
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
                "too_many_rejected_files",
                "busy",
                "disk_full",
            ],
            Self::GetReceipt => &["not_submitted", "already_submitted"],
            Self::Revoke => &["not_found", "not_possible", "disk_full"],
            Self::Open | Self::Abort => &["not_possible", "disk_full"],
            Self::Close => &["not_possible", "too_few_submissions", "disk_full"],
        };
        // Any operation can return the last two.
        [specific, self.access().refusals(), &["bad_request", "internal"]].concat()
    }
}
