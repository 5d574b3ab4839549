//! Receipts: a pure function of an event and its writer's key.

use equipoise_data::Digest;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Log, Refusal, parse};
use crate::document::{Document, Kind};
use crate::invitation::Invitation;
use crate::key::PrivateKey;
use crate::sealed::Submission;
use crate::text::Name;

/// The writer's promise that the log has this event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// Number of the event.
    pub seq: u64,
    /// Its time.
    pub at: Timestamp,
    /// Digest of its line.
    pub event: Digest,
    /// The client, if it records a file.
    pub client: Option<Name>,
    /// Digest of the ciphertext.
    pub sha256: Option<Digest>,
    /// Whether the file arrived after the deadline.
    pub late: bool,
}

impl Receipt {
    /// Signs the receipt of a line that the log has.
    pub fn sign(
        line: &str,
        invitation: &Invitation,
        writer: &PrivateKey,
    ) -> Result<Document, Refusal> {
        let event = parse(line)?;
        let is_submission = event.document.kind() == Kind::Submission;
        let submission =
            is_submission.then(|| Submission::of(event.document, invitation)).transpose()?;
        let late = submission.is_some() && event.at > invitation.terms.deadline;
        let (client, sha256) = submission.map(|file| (file.client, file.sha256)).unzip();
        let receipt = Self {
            seq: event.seq,
            at: event.at,
            event: Digest::of(line.as_bytes()),
            client,
            sha256,
            late,
        };
        Ok(Document::sign(Kind::Receipt, invitation.digest, &receipt, writer))
    }

    /// Checks the receipt of a file that was just delivered.
    pub fn of(
        document: &Document,
        submission: &Submission,
        invitation: &Invitation,
    ) -> Result<Self, Refusal> {
        let terms = &invitation.terms;
        let writer = terms.mailbox.as_ref().map_or(&terms.coordinator, |mailbox| &mailbox.key);
        let receipt: Self = document.read(Kind::Receipt, invitation.digest, writer)?;
        let is_right = receipt.client.as_ref() == Some(&submission.client)
            && receipt.sha256 == Some(submission.sha256);
        match is_right {
            true => Ok(receipt),
            false => Err(Refusal::Receipt("it names another client or file".into())),
        }
    }
}

impl Log {
    /// Checks that the writer signed this receipt, and that the log has the event that it promises.
    pub fn check_receipt(&self, document: &Document) -> Result<Receipt, Refusal> {
        let claimed: Receipt = document.peek()?;
        let writer = self.writer_of(claimed.seq);
        let receipt: Receipt = document.read(Kind::Receipt, self.invitation.digest, writer)?;
        match self.digest_of(receipt.seq) {
            Some(found) if found == receipt.event => Ok(receipt),
            Some(_) => Err(Refusal::Receipt(format!(
                "the log has another event with number {}",
                receipt.seq
            ))),
            None => Err(Refusal::Receipt(format!(
                "the log ends before event {}, which the receipt promises",
                receipt.seq
            ))),
        }
    }
}
