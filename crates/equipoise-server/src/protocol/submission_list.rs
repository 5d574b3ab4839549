//! `submissions.json`: the manifest of a closed round, sorted by client. Together with settings and schema
//! it is all that a solve depends on.

use serde::{Deserialize, Serialize};

use super::Digest;
use super::key::Signature;
use super::manifest::Manifest;
use super::name::Name;
use super::receipt::SignedReceipt;

/// The submissions of a closed round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmissionList {
    /// The round.
    pub round: Name,
    /// Accepted submissions, sorted by client.
    pub submissions: Vec<ListedSubmission>,
    /// Clients of the roster that sent nothing, sorted. Neither their proxy nor their root is in the solve.
    pub absent: Vec<Name>,
}

/// One accepted submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedSubmission {
    /// The client.
    pub client: Name,
    /// Digest of what it sent.
    pub sha256: Digest,
    /// Digest of the checked table that the solver read.
    pub canonical_sha256: Digest,
    /// Rows.
    pub rows: u64,
    /// Different rows among them.
    pub distinct_rows: u64,
    /// Earlier client of this list whose table has the same rows in the same order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_table_as: Option<Name>,
    /// The client's manifest, in its canonical form.
    pub manifest: String,
    /// The client's signature over it.
    pub signature: Signature,
    /// What the server gave the client.
    pub receipt: SignedReceipt,
}

impl SubmissionList {
    /// The list as a file.
    pub fn to_json(&self) -> String {
        // Expect safety: strings and numbers.
        serde_json::to_string_pretty(self).expect("a list is plain data") + "\n"
    }

    /// Digest of the file.
    pub fn digest(&self) -> Digest {
        Digest::of(self.to_json().as_bytes())
    }
}

impl ListedSubmission {
    /// Whether manifest, receipt and the entry itself say the same.
    pub fn agrees(&self) -> bool {
        let receipt = &self.receipt.receipt;
        Manifest::from_bytes(self.manifest.as_bytes()).is_ok_and(|manifest| {
            manifest.client == self.client
                && manifest.round == receipt.round
                && manifest.sha256 == self.sha256
                && receipt.client == self.client
                && receipt.sha256 == self.sha256
                && (receipt.rows, receipt.distinct_rows) == (self.rows, self.distinct_rows)
        })
    }
}
