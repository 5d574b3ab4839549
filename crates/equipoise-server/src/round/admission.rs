//! Which file a round accepts, and when.

use super::rounds::Rounds;
use crate::protocol::{Manifest, Refusal, RoundState, SignedReceipt};
use crate::store::StoreError;

impl Rounds {
    /// Checks whether the body of an upload is worth receiving. Returns the receipt if the same file was accepted
    /// earlier. The rules about the round's state hold again when the file is accepted.
    pub(super) fn admit(&self, manifest: &Manifest) -> Result<Option<SignedReceipt>, StoreError> {
        if let Some(receipt) = self.existing_receipt(manifest)? {
            return Ok(Some(receipt));
        }
        let spec = self.store.spec(&manifest.round)?;
        let state = self.store.state(&manifest.round)?;
        if state != RoundState::Open {
            return Err(Refusal::NotOpen(state).into());
        }
        if spec.deadline.is_some_and(|deadline| self.store.clock().now() >= deadline) {
            return Err(Refusal::TooLate.into());
        }
        if manifest.schema_sha256 != spec.schema_sha256 {
            let (expected, found) = (spec.schema_sha256, manifest.schema_sha256);
            return Err(Refusal::SchemaMismatch { expected, found }.into());
        }
        let limit = spec.limits.body_bytes;
        if manifest.length > limit {
            return Err(Refusal::TooLarge { limit, found: manifest.length }.into());
        }
        let folder = self.store.folder().path();
        let free = self.store.disk().free_bytes(folder).map_err(StoreError::file(folder))?;
        match free < manifest.length.saturating_mul(2) {
            true => Err(StoreError::DiskFull),
            false => Ok(None),
        }
    }

    /// The receipt of the client's submission. A different file than the accepted one is refused.
    fn existing_receipt(&self, manifest: &Manifest) -> Result<Option<SignedReceipt>, StoreError> {
        match self.store.submission(&manifest.round, &manifest.client)? {
            None => Ok(None),
            Some(found) if found.sha256 == manifest.sha256 => Ok(Some(found.receipt)),
            Some(found) => {
                let client = manifest.client.to_string();
                Err(Refusal::AlreadySubmitted { client, accepted_sha256: found.sha256 }.into())
            }
        }
    }

    /// The receipt of the client's submission of this file.
    pub(crate) fn receipt(&self, manifest: &Manifest) -> Result<SignedReceipt, StoreError> {
        let receipt = self.existing_receipt(manifest)?;
        receipt.ok_or_else(|| Refusal::NotSubmitted(manifest.client.to_string()).into())
    }
}
