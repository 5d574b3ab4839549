//! The moment a submission is accepted: one transaction with row, event and receipt.

use rusqlite::params;

use super::query::{state_of, submission};
use super::{Store, StoreError};
use crate::protocol::{
    Digest, EventKind, Manifest, Receipt, Refusal, RoundState, Signature, SignedReceipt,
};

/// What the validator found out about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    /// Digest of the checked table.
    pub canonical_sha256: Digest,
    /// Rows.
    pub rows: u64,
    /// Different rows among them.
    pub distinct_rows: u64,
}

/// How a submission was accepted.
#[derive(Debug, Clone)]
pub enum Acceptance {
    /// Now.
    New(SignedReceipt),
    /// It had been before; the receipt is the same as then.
    Before(SignedReceipt),
}

impl Store {
    /// Accepts a submission whose files are on the disk, if the round is open at this moment.
    pub fn accept(
        &self,
        manifest: &Manifest,
        signature: &Signature,
        checked: Checked,
    ) -> Result<Acceptance, StoreError> {
        let (round, client) = (&manifest.round, &manifest.client);
        let spec = self.spec(round)?;
        let accepted = self.transact(|transaction| {
            if let Some(found) = submission(transaction, round, client)? {
                return match found.sha256 == manifest.sha256 {
                    true => Ok(Acceptance::Before(found.receipt)),
                    false => Err(Refusal::AlreadySubmitted {
                        client: client.to_string(),
                        accepted_sha256: found.sha256,
                    }
                    .into()),
                };
            }
            let state = state_of(transaction, round)?;
            if state != RoundState::Open {
                return Err(Refusal::NotOpen { state }.into());
            }
            if spec.deadline.is_some_and(|deadline| self.clock.now() >= deadline) {
                return Err(Refusal::TooLate.into());
            }
            let revoked: bool = transaction.query_row(
                "SELECT revoked_at IS NOT NULL FROM client WHERE round = ?1 AND name = ?2",
                params![round.as_str(), client.as_str()],
                |row| row.get(0),
            )?;
            if revoked {
                return Err(Refusal::KeyRevoked { client: client.to_string() }.into());
            }
            let kind = EventKind::Accepted {
                client: client.clone(),
                sha256: manifest.sha256,
                canonical_sha256: checked.canonical_sha256,
                rows: checked.rows,
                distinct_rows: checked.distinct_rows,
            };
            let appended = self.append(transaction, round, kind)?;
            let receipt = Receipt {
                round: round.clone(),
                client: client.clone(),
                sha256: manifest.sha256,
                rows: checked.rows,
                distinct_rows: checked.distinct_rows,
                seq: appended.seq,
                chain_head: appended.head,
            }
            .sign(&self.key);
            transaction.execute(
                "INSERT INTO submission (round, client, sha256, canonical_sha256, rows, distinct_rows,
                    manifest, signature, receipt) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![
                    round.as_str(),
                    client.as_str(),
                    manifest.sha256.to_string(),
                    checked.canonical_sha256.to_string(),
                    checked.rows,
                    checked.distinct_rows,
                    String::from_utf8_lossy(&manifest.to_bytes()),
                    signature.to_string(),
                    serde_json::to_string(&receipt)?,
                ],
            )?;
            Ok(Acceptance::New(receipt))
        })?;
        self.crash.at("after_commit");
        Ok(accepted)
    }
}
