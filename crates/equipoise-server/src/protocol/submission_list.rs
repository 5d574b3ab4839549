//! `submissions.json`: the submissions of a closed round, sorted by client. A solve depends on nothing else but
//! settings, schema and roots.

use serde::{Deserialize, Serialize};

use super::Digest;
use super::key::{PublicKey, Signature};
use super::manifest::Manifest;
use super::name::{ClientId, RoundId};
use super::signed_documents::SignedReceipt;

/// The submissions of a closed round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmissionList {
    /// The round.
    pub round: RoundId,
    /// Accepted submissions, sorted by client.
    pub submissions: Vec<ListedSubmission>,
    /// Clients that did not submit, sorted. The solve does not use their roots.
    pub absent: Vec<ClientId>,
}

/// One accepted submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedSubmission {
    /// The client.
    pub client: ClientId,
    /// Digest of the file that it sent.
    pub sha256: Digest,
    /// Digest of the canonical table that the solver read.
    pub canonical_sha256: Digest,
    /// Number of rows.
    pub rows: u64,
    /// Number of distinct rows.
    pub distinct_rows: u64,
    /// An earlier client in this list whose table has the same rows in the same order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_table_as: Option<ClientId>,
    /// The client's manifest in canonical form.
    pub manifest: String,
    /// The client's signature over the manifest.
    pub signature: Signature,
    /// The receipt that the server issued.
    pub receipt: SignedReceipt,
}

impl SubmissionList {
    /// The content of the file.
    pub fn to_json(&self) -> String {
        // Expect safety: only strings and numbers.
        serde_json::to_string_pretty(self).expect("a list is plain data") + "\n"
    }

    /// Digest of the file.
    pub fn digest(&self) -> Digest {
        Digest::of(self.to_json().as_bytes())
    }
}

impl ListedSubmission {
    /// The manifest, if the client signed it with its key on the roster.
    pub fn signed_manifest(&self, roster: &[PublicKey]) -> Option<Manifest> {
        let key = roster.iter().find(|key| *key.name() == self.client)?;
        let manifest = Manifest::from_bytes(self.manifest.as_bytes()).ok()?;
        manifest.is_signed_by(key, &self.signature).then_some(manifest)
    }

    /// Whether entry, manifest and receipt agree.
    pub fn is_consistent(&self) -> bool {
        let receipt = &self.receipt.receipt;
        Manifest::from_bytes(self.manifest.as_bytes()).is_ok_and(|manifest| {
            manifest.client == self.client
                && manifest.round == receipt.round
                && manifest.audience == receipt.audience
                && manifest.sha256 == self.sha256
                && receipt.client == self.client
                && receipt.sha256 == self.sha256
                && receipt.canonical_sha256 == self.canonical_sha256
                && (receipt.rows, receipt.distinct_rows) == (self.rows, self.distinct_rows)
        })
    }
}
