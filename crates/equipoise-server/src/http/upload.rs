//! A body's way: authenticated, admitted, received, checked, made to last, accepted.
//!
//! Accepted is what is committed, and only that. Everything behind the last byte of the body runs in a task
//! of its own: a client that hangs up cannot stop it halfway.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use tracing::{error, info};

use super::app::App;
use super::auth::{Address, Signed};
use super::gates::ClientLock;
use super::receiving::receive;
use super::refused_uploads::is_about_the_upload;
use super::reply::{Answer, Refused};
use super::segments::Segments;
use crate::pages::RefusedUpload;
use crate::protocol::{
    Digest, Manifest, OFFSET_HEADER, Refusal, RoundState, SignedReceipt, UploadState,
};
use crate::store::{Acceptance, Checked, StoreError, remove_if_there};
use crate::validator::{Job, Verdict};

/// How long a request waits for another one of the same client; then it is told to come back.
const PATIENCE: Duration = Duration::from_secs(8);
/// `PUT /v1/rounds/{round}/submissions/{client}`
pub(super) async fn put_submission(
    State(app): State<Arc<App>>,
    Segments(address): Segments<Address>,
    request: Request,
) -> Answer {
    let who = address.clone();
    let answer = take_submission(&app, address, request).await;
    if let Err(Refused(refusal)) = &answer
        && is_about_the_upload(refusal)
        && let (Ok(round), Ok(client)) = (who.0.parse(), who.1.parse())
    {
        let at = app.store.clock().now();
        app.refused.note(&round, RefusedUpload { client, code: refusal.code(), at });
    }
    answer
}

async fn take_submission(app: &Arc<App>, address: Address, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let signed = app.authenticate(&parts, address).await?;
    let offset = check_headers(&parts.headers, &signed.manifest)?;
    if let Some(receipt) = admit(app, &signed).await? {
        return Ok((StatusCode::OK, Json(receipt)).into_response());
    }
    let manifest = &signed.manifest;
    let who = (manifest.round.clone(), manifest.client.clone());
    let lock = app.clients.lock(who, app.limits.requests_per_client, PATIENCE).await?;
    // While this one waited, another may have been accepted, or the round been closed.
    if let Some(receipt) = admit(app, &signed).await? {
        return Ok((StatusCode::OK, Json(receipt)).into_response());
    }
    let Ok(place) = Arc::clone(&app.uploads).try_acquire_owned() else {
        return Err(Refused(Refusal::Busy { retry_after_seconds: 5 }));
    };
    let part = receive(app, manifest, offset, body).await?;
    let finishing = tokio::spawn({
        let app = Arc::clone(app);
        async move {
            let accepted = finish(&app, signed, part, &lock).await;
            drop((lock, place));
            accepted
        }
    });
    let accepted = finishing.await.map_err(|error| {
        error!(%error, "an upload could not be finished");
        Refused(Refusal::Internal)
    })??;
    let (status, receipt) = match accepted {
        Acceptance::New(receipt) => (StatusCode::CREATED, receipt),
        Acceptance::Before(receipt) => (StatusCode::OK, receipt),
    };
    Ok((status, Json(receipt)).into_response())
}

/// `GET /v1/rounds/{round}/submissions/{client}`: the client's receipt.
pub(super) async fn get_receipt(
    State(app): State<Arc<App>>,
    Segments(address): Segments<Address>,
    request: Request,
) -> Answer<Json<SignedReceipt>> {
    let (parts, _) = request.into_parts();
    let Signed { manifest, .. } = app.authenticate(&parts, address).await?;
    let client = manifest.client.to_string();
    let found = existing(&app, manifest).await?;
    found.map(Json).ok_or(Refused(Refusal::NotSubmitted { client }))
}

/// `GET /v1/rounds/{round}/submissions/{client}/upload`: where an interrupted upload goes on.
pub(super) async fn get_upload(
    State(app): State<Arc<App>>,
    Segments(address): Segments<Address>,
    request: Request,
) -> Answer<Json<UploadState>> {
    let (parts, _) = request.into_parts();
    let Signed { manifest, .. } = app.authenticate(&parts, address).await?;
    let length = manifest.length;
    let part = app.store.folder().part(&manifest);
    let offset = tokio::fs::metadata(&part).await.map_or(0, |found| found.len());
    Ok(Json(UploadState { offset, length }))
}

/// Where the body of an upload with these headers begins.
pub(crate) fn offset_of_upload(headers: &HeaderMap, manifest: &Manifest) -> Result<u64, Refusal> {
    check_headers(headers, manifest).map_err(|Refused(refusal)| refusal)
}

/// What can be refused before anything is looked up; gives where the body begins.
fn check_headers(headers: &HeaderMap, manifest: &Manifest) -> Answer<u64> {
    let text = |name: header::HeaderName| headers.get(name).map(|v| v.to_str().unwrap_or("?"));
    if let Some(encoding) = text(header::CONTENT_ENCODING) {
        let what = format!("Content-Encoding {encoding}");
        return Err(Refusal::Unsupported { what }.into());
    }
    let media_type = text(header::CONTENT_TYPE).unwrap_or("no Content-Type");
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if essence != manifest.media_type.media_type() {
        return Err(Refusal::Unsupported {
            what: format!(
                "{media_type}, where the manifest says {},",
                manifest.media_type.media_type()
            ),
        }
        .into());
    }
    let length = text(header::CONTENT_LENGTH).ok_or(Refusal::LengthRequired)?;
    let length: u64 = length.parse().map_err(|_| Refusal::LengthRequired)?;
    let offset: u64 = match headers.get(OFFSET_HEADER) {
        None => 0,
        Some(value) => {
            value.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(|| {
                Refusal::BadRequest { what: format!("{OFFSET_HEADER} is no number") }
            })?
        }
    };
    if offset.checked_add(length) != Some(manifest.length) {
        return Err(Refusal::ManifestMismatch { what: "the length" }.into());
    }
    Ok(offset)
}

/// The receipt of what was accepted before, if it is the same file; a refusal, if nothing can be accepted.
async fn admit(app: &Arc<App>, signed: &Signed) -> Answer<Option<SignedReceipt>> {
    let manifest = signed.manifest.clone();
    if let Some(receipt) = existing(app, manifest.clone()).await? {
        return Ok(Some(receipt));
    }
    app.blocking(move |app| {
        let spec = app.store.spec(&manifest.round)?;
        let state = app.store.state(&manifest.round)?;
        if state != RoundState::Open {
            return Err(Refusal::NotOpen { state }.into());
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

async fn existing(app: &Arc<App>, manifest: Manifest) -> Answer<Option<SignedReceipt>> {
    app.blocking(move |app| {
        let Some(found) = app.store.submission(&manifest.round, &manifest.client)? else {
            return Ok(None);
        };
        if found.sha256 == manifest.sha256 {
            return Ok(Some(found.receipt));
        }
        let client = manifest.client.to_string();
        Err(Refusal::AlreadySubmitted { client, accepted_sha256: found.sha256 }.into())
    })
    .await
}

/// From a whole file to an accepted submission. The lock shows that nobody else does it for this client.
async fn finish(
    app: &Arc<App>,
    signed: Signed,
    part: PathBuf,
    _lock: &ClientLock,
) -> Answer<Acceptance> {
    let canonical = part.with_extension("canonical.parquet");
    let result = check_and_accept(app, signed, &part, &canonical).await;
    remove_if_there(&part);
    remove_if_there(&canonical);
    result
}

async fn check_and_accept(
    app: &Arc<App>,
    signed: Signed,
    part: &Path,
    canonical: &Path,
) -> Answer<Acceptance> {
    let spec = app
        .blocking({
            let (part, round) = (part.to_path_buf(), signed.manifest.round.clone());
            move |app| {
                app.store.require_durable("an upload", app.store.disk().sync_file(&part))?;
                app.store.crash().at("after_part_sync");
                app.store.spec(&round)
            }
        })
        .await?;
    let schema = spec.schema().map_err(StoreError::from)?;
    let (file, canonical) = (part.to_path_buf(), canonical.to_path_buf());
    let limits = spec.limits;
    let job = Job { file: file.clone(), canonical: canonical.clone(), schema, limits };
    app.store.crash().at("during_validation");
    let checked = match app.validator.validate(job).await {
        Verdict::Sound { canonical_sha256, rows, distinct_rows } => {
            Checked { canonical_sha256, rows, distinct_rows }
        }
        verdict => {
            let refusal = refusal_of(verdict);
            app.metrics.rejected_files.fetch_add(1, Ordering::Relaxed);
            info!(round = %signed.manifest.round, client = %signed.manifest.client,
                code = refusal.code(), "a file was refused");
            return Err(Refused(refusal));
        }
    };
    app.blocking(move |app| {
        persist(app, &file, &canonical, signed.manifest.sha256, checked)?;
        let accepted = app.store.accept(&signed.manifest, &signed.signature, checked)?;
        if matches!(accepted, Acceptance::New(_)) {
            app.metrics.accepted.fetch_add(1, Ordering::Relaxed);
            let (round, client) = (&signed.manifest.round, &signed.manifest.client);
            info!(%round, %client, rows = checked.rows, "accepted");
            app.hub.changed(round);
            if let Err(error) = app.close_if_full(round) {
                // The submission is accepted all the same; the clock's next tick tries again.
                error!(%error, "a full round could not be closed");
            }
        }
        Ok(accepted)
    })
    .await
}

/// Both files under their digests, names and contents on the disk.
fn persist(
    app: &App,
    part: &Path,
    canonical: &Path,
    sha256: Digest,
    checked: Checked,
) -> Result<(), StoreError> {
    let (store, disk) = (&app.store, app.store.disk());
    store.require_durable("a checked table", disk.sync_file(canonical))?;
    let blob = store.folder().blob(sha256);
    let table = store.folder().canonical(checked.canonical_sha256);
    disk.rename(part, &blob).map_err(StoreError::file(&blob))?;
    disk.rename(canonical, &table).map_err(StoreError::file(&table))?;
    store.crash().at("after_rename");
    for folder in [blob.parent(), table.parent()].into_iter().flatten() {
        store.require_durable("a folder", disk.sync_folder(folder))?;
    }
    store.crash().at("after_folder_sync");
    Ok(())
}

fn refusal_of(verdict: Verdict) -> Refusal {
    match verdict {
        Verdict::Value { message, row, column } => Refusal::ValueRejected { message, row, column },
        Verdict::File { message } => Refusal::FileRejected { message },
        Verdict::DiskFull => Refusal::DiskFull,
        Verdict::Storage { message } => {
            error!(message, "the validator could not work");
            Refusal::Internal
        }
        Verdict::Sound { .. } => Refusal::Internal,
    }
}
