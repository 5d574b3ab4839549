//! The pipeline of one upload: admit, receive, validate, persist, accept.
//!
//! One task owns an upload from its first byte to the commit. It holds the client's lock and the part until its last
//! write is done. A peer that hangs up ends the body, never the task, so nothing of an upload can run after
//! the next upload of the same client has begun. A submission counts as accepted once it is committed.

mod part;
mod receive;

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use jiff::Timestamp;
use tokio::sync::OwnedSemaphorePermit;
use tokio_stream::Stream;
use tracing::{error, info};

use self::part::Part;
use super::client_locks::ClientLock;
use super::rounds::Rounds;
use crate::protocol::{Manifest, Refusal, SignedManifest, SignedReceipt, UploadState, Validated};
use crate::store::{Acceptance, StoreError, remove_if_present};
use crate::validator::{ClientKey, Job, Verdict};

impl Rounds {
    /// Receives a client's file from `offset` on, and accepts it. The manifest must be authentic.
    pub(crate) async fn submit<B, E>(
        self: &Arc<Self>,
        signed: SignedManifest,
        offset: u64,
        body: impl Stream<Item = Result<B, E>> + Send + Unpin + 'static,
    ) -> Result<Acceptance, StoreError>
    where
        B: AsRef<[u8]> + Send + 'static,
        E: Send + 'static,
    {
        let manifest = &signed.manifest;
        if let Some(receipt) = self.admit_on_thread(manifest).await? {
            return Ok(Acceptance::Existing(receipt));
        }
        let client = (manifest.round.clone(), manifest.client.clone());
        self.validator.admit(&client)?;
        let lock = self.client_locks.lock(client).await?;
        // In the meantime, another request may have been accepted, or the round closed.
        if let Some(receipt) = self.admit_on_thread(manifest).await? {
            return Ok(Acceptance::Existing(receipt));
        }
        let Ok(slot) = Arc::clone(&self.upload_slots).try_acquire_owned() else {
            return Err(Refusal::Busy { retry_after_seconds: 5 }.into());
        };
        let upload = Upload { rounds: Arc::clone(self), signed, _lock: lock };
        match tokio::spawn(upload.run(offset, body, slot)).await {
            Ok(accepted) => accepted,
            Err(error) => {
                error!(%error, "cannot finish an upload");
                Err(Refusal::Internal.into())
            }
        }
    }

    /// How much of a file has been received.
    pub(crate) fn upload_state(&self, manifest: &Manifest) -> UploadState {
        let found = self.store.folder().part(manifest).metadata();
        UploadState { offset: found.map_or(0, |found| found.len()), length: manifest.length }
    }

    async fn admit_on_thread(
        self: &Arc<Self>,
        manifest: &Manifest,
    ) -> Result<Option<SignedReceipt>, StoreError> {
        let manifest = manifest.clone();
        self.blocking(move |rounds| rounds.admit(&manifest)).await
    }
}

/// The owner of an upload.
struct Upload {
    rounds: Arc<Rounds>,
    signed: SignedManifest,
    _lock: ClientLock,
}

impl Upload {
    async fn run<B, E>(
        self,
        offset: u64,
        body: impl Stream<Item = Result<B, E>> + Send + Unpin,
        slot: OwnedSemaphorePermit,
    ) -> Result<Acceptance, StoreError>
    where
        B: AsRef<[u8]> + Send + 'static,
        E: Send + 'static,
    {
        let manifest = self.signed.manifest.clone();
        let part = self.on_thread(move |rounds| Part::open(&rounds.store, &manifest, offset));
        let part = self.receive(part.await?, body).await?;
        // Files that wait for the validator do not keep others from being received.
        drop(slot);
        // Registered before the clock is read: see `Arrivals`.
        let _arrival = self.rounds.arrivals.register(&self.signed.manifest.round);
        let received_at = self.rounds.store.clock().now();
        let manifest = self.signed.manifest.clone();
        let path = self.on_thread(move |rounds| part.finish(&rounds.store, &manifest)).await?;
        let canonical = path.with_extension("canonical.parquet");
        let accepted = self.validate_and_accept(&path, &canonical, received_at).await;
        remove_if_present(&canonical);
        // If the server failed, the client need not send the file again.
        if !accepted.as_ref().is_err_and(is_about_the_server) {
            remove_if_present(&path);
        }
        accepted
    }

    async fn validate_and_accept(
        &self,
        part: &Path,
        canonical: &Path,
        received_at: Timestamp,
    ) -> Result<Acceptance, StoreError> {
        let spec = self.rounds.store.spec(&self.signed.manifest.round)?;
        if spec.deadline.is_some_and(|deadline| received_at >= deadline) {
            return Err(Refusal::TooLate.into());
        }
        let crash = self.rounds.store.crash();
        crash.at("during_validation");
        let job = Job {
            client: self.client(),
            file: part.to_path_buf(),
            canonical: canonical.to_path_buf(),
            schema: spec.schema()?,
            limits: spec.limits,
        };
        let validated = match self.rounds.validator.validate(job).await {
            Verdict::Valid(validated) => validated,
            verdict => return Err(self.reject(verdict).into()),
        };
        let signed = self.signed.clone();
        let files = (part.to_path_buf(), canonical.to_path_buf());
        let accepted = self.on_thread(move |rounds| {
            let accepted = {
                // Until the commit, nothing else refers to the files.
                let _persisting = rounds.persisting.read().unwrap_or_else(PoisonError::into_inner);
                let persisted =
                    rounds.store.persist(&files.0, &files.1, signed.manifest.sha256, validated);
                persisted.and_then(|()| rounds.accept(&signed, validated, received_at))
            };
            if accepted.is_err() {
                let _alone = rounds.persisting.write().unwrap_or_else(PoisonError::into_inner);
                rounds.store.remove_unreferenced(signed.manifest.sha256, validated)?;
            }
            accepted
        });
        accepted.await
    }

    fn client(&self) -> ClientKey {
        let Manifest { round, client, .. } = &self.signed.manifest;
        (round.clone(), client.clone())
    }

    fn reject(&self, verdict: Verdict) -> Refusal {
        let refusal = refusal_of(verdict);
        self.rounds.counters.rejected_files.fetch_add(1, Ordering::Relaxed);
        let Manifest { round, client, .. } = &self.signed.manifest;
        info!(%round, %client, code = refusal.code(), "file rejected");
        refusal
    }

    /// Runs blocking work while the upload keeps its lock.
    async fn on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Rounds) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.rounds.blocking(work).await
    }
}

impl Rounds {
    /// Commits a submission whose files are durable.
    fn accept(
        &self,
        signed: &SignedManifest,
        validated: Validated,
        received_at: Timestamp,
    ) -> Result<Acceptance, StoreError> {
        let SignedManifest { manifest, signature } = signed;
        let accepted = self.store.accept(manifest, signature, validated, received_at)?;
        if matches!(accepted, Acceptance::New(_)) {
            self.counters.accepted.fetch_add(1, Ordering::Relaxed);
            let Manifest { round, client, .. } = manifest;
            info!(%round, %client, rows = validated.rows, "submission accepted");
            self.after_submission(round);
        }
        Ok(accepted)
    }
}

/// Whether a submission failed because of the server, not because of the file.
fn is_about_the_server(error: &StoreError) -> bool {
    match error {
        StoreError::Refused(refusal) => matches!(refusal, Refusal::Internal | Refusal::DiskFull),
        _ => true,
    }
}

fn refusal_of(verdict: Verdict) -> Refusal {
    match verdict {
        Verdict::Value { message, row, column } => Refusal::ValueRejected { message, row, column },
        Verdict::File { message } => Refusal::FileRejected(message),
        Verdict::DiskFull => Refusal::DiskFull,
        Verdict::Storage { message } => {
            error!(message, "the validator failed");
            Refusal::Internal
        }
        Verdict::Valid(_) => Refusal::Internal,
    }
}
