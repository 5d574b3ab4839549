//! The upload pipeline: authenticate, admit, receive, validate, persist, accept.
//!
//! A submission counts as accepted once it is committed. Everything after the last byte of the body runs in its own
//! task, so a client that hangs up cannot interrupt it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use tracing::{error, info};

use super::app::App;
use super::auth::Signed;
use super::receiving::receive;
use super::refused_uploads::is_about_the_upload;
use super::reply::{Answer, Refused};
use super::segments::{Segments, TwoSegments};
use crate::pages::RefusedUpload;
use crate::protocol::{
    Digest, Manifest, OFFSET_HEADER, Refusal, RoundState, SignedReceipt, UploadState, Validated,
};
use crate::store::{Acceptance, StoreError, remove_if_present};
use crate::validator::{Job, Verdict};

/// How long a request waits for another upload of the same client.
const LOCK_TIMEOUT: Duration = Duration::from_secs(8);

/// `PUT /v1/rounds/{round}/submissions/{client}`
pub(super) async fn put_submission(
    State(app): State<Arc<App>>,
    Segments(segments): Segments<TwoSegments>,
    request: Request,
) -> Answer {
    let (round, client) = (segments.0.parse(), segments.1.parse());
    let answer = submit(&app, segments, request).await;
    if let Err(Refused(refusal)) = &answer
        && is_about_the_upload(refusal)
        && let (Ok(round), Ok(client)) = (round, client)
    {
        let at = app.store.clock().now();
        app.refused.record(&round, RefusedUpload { client, code: refusal.code(), at });
    }
    answer
}

async fn submit(app: &Arc<App>, segments: TwoSegments, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let signed = app.authenticate(&parts, segments).await?;
    let offset = upload_offset(&parts.headers, &signed.manifest)?;
    if let Some(receipt) = admit(app, &signed).await? {
        return Ok(Json(receipt).into_response());
    }
    let manifest = &signed.manifest;
    let client = (manifest.round.clone(), manifest.client.clone());
    app.validator.admit(&client)?;
    let lock = app.clients.lock(client, app.limits.requests_per_client, LOCK_TIMEOUT).await?;
    // In the meantime, another request may have been accepted, or the round closed.
    if let Some(receipt) = admit(app, &signed).await? {
        return Ok(Json(receipt).into_response());
    }
    let Ok(slot) = Arc::clone(&app.uploads).try_acquire_owned() else {
        return Err(Refused(Refusal::Busy { retry_after_seconds: 5 }));
    };
    let part = receive(app, manifest, offset, body).await?;
    let finishing = tokio::spawn({
        let app = Arc::clone(app);
        async move {
            let canonical = part.with_extension("canonical.parquet");
            let accepted = validate_and_accept(&app, signed, &part, &canonical).await;
            remove_if_present(&part);
            remove_if_present(&canonical);
            drop((lock, slot));
            accepted
        }
    });
    let accepted = finishing.await.map_err(|error| {
        error!(%error, "cannot finish an upload");
        Refused(Refusal::Internal)
    })??;
    let (status, receipt) = match accepted {
        Acceptance::New(receipt) => (StatusCode::CREATED, receipt),
        Acceptance::Existing(receipt) => (StatusCode::OK, receipt),
    };
    Ok((status, Json(receipt)).into_response())
}

/// `GET /v1/rounds/{round}/submissions/{client}`
pub(super) async fn get_receipt(
    State(app): State<Arc<App>>,
    Segments(segments): Segments<TwoSegments>,
    request: Request,
) -> Answer<Json<SignedReceipt>> {
    let (parts, _) = request.into_parts();
    let Signed { manifest, .. } = app.authenticate(&parts, segments).await?;
    let receipt = app.blocking(move |app| match existing_receipt(app, &manifest)? {
        Some(receipt) => Ok(receipt),
        None => Err(Refusal::NotSubmitted(manifest.client.to_string()).into()),
    });
    Ok(Json(receipt.await?))
}

/// `GET /v1/rounds/{round}/submissions/{client}/upload`
pub(super) async fn get_upload(
    State(app): State<Arc<App>>,
    Segments(segments): Segments<TwoSegments>,
    request: Request,
) -> Answer<Json<UploadState>> {
    let (parts, _) = request.into_parts();
    let Signed { manifest, .. } = app.authenticate(&parts, segments).await?;
    let part = app.store.folder().part(&manifest);
    let offset = tokio::fs::metadata(&part).await.map_or(0, |found| found.len());
    Ok(Json(UploadState { offset, length: manifest.length }))
}

/// Checks the headers of an upload against its manifest, and returns the offset at which the body starts.
pub fn upload_offset(headers: &HeaderMap, manifest: &Manifest) -> Result<u64, Refusal> {
    let text = |name: header::HeaderName| headers.get(name).map(|v| v.to_str().unwrap_or("?"));
    if let Some(encoding) = text(header::CONTENT_ENCODING) {
        return Err(Refusal::Unsupported(format!("Content-Encoding {encoding} is not supported")));
    }
    let media_type = text(header::CONTENT_TYPE).unwrap_or("missing");
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let expected = manifest.media_type.media_type();
    if essence != expected {
        return Err(Refusal::Unsupported(format!(
            "the Content-Type is {media_type}, but the manifest says {expected}"
        )));
    }
    let length = text(header::CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
    let length = length.ok_or(Refusal::LengthRequired)?;
    let offset: u64 = match headers.get(OFFSET_HEADER) {
        None => 0,
        Some(value) => value
            .to_str()
            .ok()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| Refusal::BadRequest(format!("{OFFSET_HEADER} is not a number")))?,
    };
    match offset.checked_add(length) == Some(manifest.length) {
        true => Ok(offset),
        false => Err(Refusal::ManifestMismatch),
    }
}

/// Returns the receipt if this file was accepted earlier, and refuses a file that cannot be accepted.
async fn admit(app: &Arc<App>, signed: &Signed) -> Answer<Option<SignedReceipt>> {
    let manifest = signed.manifest.clone();
    app.blocking(move |app| {
        if let Some(receipt) = existing_receipt(app, &manifest)? {
            return Ok(Some(receipt));
        }
        let spec = app.store.spec(&manifest.round)?;
        let state = app.store.state(&manifest.round)?;
        if state != RoundState::Open {
            return Err(Refusal::NotOpen(state).into());
        }
        if spec.deadline.is_some_and(|deadline| app.store.clock().now() >= deadline) {
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
        let folder = app.store.folder().path();
        let free = app.store.disk().free_bytes(folder).map_err(StoreError::file(folder))?;
        if free < manifest.length.saturating_mul(2) {
            return Err(StoreError::DiskFull);
        }
        Ok(None)
    })
    .await
}

fn existing_receipt(app: &App, manifest: &Manifest) -> Result<Option<SignedReceipt>, StoreError> {
    match app.store.submission(&manifest.round, &manifest.client)? {
        None => Ok(None),
        Some(found) if found.sha256 == manifest.sha256 => Ok(Some(found.receipt)),
        Some(found) => {
            let client = manifest.client.to_string();
            Err(Refusal::AlreadySubmitted { client, accepted_sha256: found.sha256 }.into())
        }
    }
}

async fn validate_and_accept(
    app: &Arc<App>,
    signed: Signed,
    part: &Path,
    canonical: &Path,
) -> Answer<Acceptance> {
    let (part, canonical) = (part.to_path_buf(), canonical.to_path_buf());
    let spec = app
        .blocking({
            let (part, round) = (part.clone(), signed.manifest.round.clone());
            move |app| {
                app.store.require_durable("an upload", app.store.disk().sync_file(&part));
                app.store.crash().at("after_part_sync");
                app.store.spec(&round)
            }
        })
        .await?;
    let schema = spec.schema().map_err(StoreError::from)?;
    let (file, limits) = (part.clone(), spec.limits);
    app.store.crash().at("during_validation");
    let client = (signed.manifest.round.clone(), signed.manifest.client.clone());
    let job = Job { client, file, canonical: canonical.clone(), schema, limits };
    let validated = match app.validator.validate(job).await {
        Verdict::Valid(validated) => validated,
        verdict => {
            let refusal = refusal_of(verdict);
            app.metrics.rejected_files.fetch_add(1, Ordering::Relaxed);
            info!(round = %signed.manifest.round, client = %signed.manifest.client,
                code = refusal.code(), "file rejected");
            return Err(Refused(refusal));
        }
    };
    app.blocking(move |app| {
        persist(app, &part, &canonical, signed.manifest.sha256, validated)?;
        let accepted = app.store.accept(&signed.manifest, &signed.signature, validated)?;
        if matches!(accepted, Acceptance::New(_)) {
            app.metrics.accepted.fetch_add(1, Ordering::Relaxed);
            let (round, client) = (&signed.manifest.round, &signed.manifest.client);
            info!(%round, %client, rows = validated.rows, "submission accepted");
            app.hub.notify(round);
            if let Err(error) = app.close_if_full(round) {
                // The submission is accepted nevertheless, and the next tick tries again.
                error!(%error, "cannot close a full round");
            }
        }
        Ok(accepted)
    })
    .await
}

/// Renames both files to their digests, and makes names and contents durable.
fn persist(
    app: &App,
    part: &Path,
    canonical: &Path,
    sha256: Digest,
    validated: Validated,
) -> Result<(), StoreError> {
    let (store, disk) = (&app.store, app.store.disk());
    store.require_durable("a canonical table", disk.sync_file(canonical));
    let blob = store.folder().blob(sha256);
    let table = store.folder().canonical(validated.canonical_sha256);
    disk.rename(part, &blob).map_err(StoreError::file(&blob))?;
    disk.rename(canonical, &table).map_err(StoreError::file(&table))?;
    store.crash().at("after_rename");
    for folder in [blob.parent(), table.parent()].into_iter().flatten() {
        store.require_durable("a folder", disk.sync_folder(folder));
    }
    store.crash().at("after_folder_sync");
    Ok(())
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
