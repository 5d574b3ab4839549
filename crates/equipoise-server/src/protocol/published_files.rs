//! The files of a published round.

/// The published files that the statement lists. `statement.json` itself and [`LOG_FILES`] are also published.
pub const PUBLISHED_FILES: [&str; 8] = [
    "model.json",
    "outcome.json",
    "report.html",
    "schema.toml",
    "settings.json",
    "spec.json",
    "submissions.json",
    "weights.csv",
];

/// The signed statement about [`PUBLISHED_FILES`].
pub const STATEMENT_FILE: &str = "statement.json";

/// The audit log and the server's signature over its end. They are generated on request, because the log still grows.
pub const LOG_FILES: [&str; 2] = ["audit.jsonl", "audit-head.json"];
