//! Acceptance of a submission: one transaction with row, event and receipt.

use jiff::Timestamp;
use rusqlite::params;

use super::query::submission;
use super::{Store, StoreError};
use crate::protocol::{EventKind, Manifest, Receipt, Refusal, Signature, SignedReceipt, Validated};

/// The result of an acceptance.
#[derive(Debug, Clone)]
pub enum Acceptance {
    /// Accepted now.
    New(SignedReceipt),
    /// Accepted earlier, with the same receipt.
    Existing(SignedReceipt),
}

impl Store {
    /// Accepts a submission whose files are on disk, if the round is open at this moment. Whether it is late depends on
    /// `received_at`, the time at which its last byte arrived.
    pub fn accept(
        &self,
        manifest: &Manifest,
        signature: &Signature,
        validated: Validated,
        received_at: Timestamp,
    ) -> Result<Acceptance, StoreError> {
        let (round, client) = (&manifest.round, &manifest.client);
        let spec = self.spec(round)?;
        let accepted = self.transact(|transaction| {
            if let Some(found) = submission(transaction, round, client)? {
                return match found.sha256 == manifest.sha256 {
                    true => Ok(Acceptance::Existing(found.receipt)),
                    false => Err(Refusal::AlreadySubmitted {
                        client: client.to_string(),
                        accepted_sha256: found.sha256,
                    }
                    .into()),
                };
            }
            let kind = EventKind::Accepted {
                client: client.clone(),
                sha256: manifest.sha256,
                canonical_sha256: validated.canonical_sha256,
                rows: validated.rows,
                distinct_rows: validated.distinct_rows,
                received_at,
            };
            let appended = self.append(transaction, round, kind)?;
            // Expect safety: the event accepts a submission.
            let receipt = Receipt::for_event(&spec.audience, &appended.event, appended.digest)
                .expect("the event is an acceptance")
                .sign(&self.key);
            transaction.execute(
                "INSERT INTO submission (round, client, sha256, canonical_sha256, rows, distinct_rows,
                    manifest, signature, receipt) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![
                    round.as_str(),
                    client.as_str(),
                    manifest.sha256.to_string(),
                    validated.canonical_sha256.to_string(),
                    validated.rows,
                    validated.distinct_rows,
                    String::from_utf8_lossy(&manifest.to_bytes()),
                    signature.to_string(),
                    serde_json::to_string(&receipt)?,
                ],
            )?;
            Ok(Acceptance::New(receipt))
        })?;
        self.parts.crash.at("after_commit");
        Ok(accepted)
    }
}
