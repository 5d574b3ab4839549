//! A client's requests: its submission, its receipt, its progress.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;

use super::app::App;
use super::reply::{Answer, Refused};
use super::segments::{Segments, TwoSegments};
use crate::protocol::{
    Manifest, OFFSET_HEADER, Refusal, SignedManifest, SignedReceipt, UploadState,
};
use crate::store::Acceptance;

/// `PUT /v1/rounds/{round}/submissions/{client}`
pub(super) async fn put_submission(
    State(app): State<Arc<App>>,
    Segments(segments): Segments<TwoSegments>,
    request: Request,
) -> Answer {
    let (parts, body) = request.into_parts();
    let signed = app.authenticate(&parts, segments).await?;
    let manifest = signed.manifest.clone();
    let submitted = match upload_offset(&parts.headers, &manifest) {
        Ok(offset) => app.rounds.submit(signed, offset, body.into_data_stream()).await,
        Err(refusal) => Err(refusal.into()),
    };
    let accepted = submitted.map_err(Refused::from).inspect_err(|Refused(refusal)| {
        app.rounds.record_refusal(&manifest, refusal);
    })?;
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
    let SignedManifest { manifest, .. } = app.authenticate(&parts, segments).await?;
    Ok(Json(app.ask(move |rounds| rounds.receipt(&manifest)).await?))
}

/// `GET /v1/rounds/{round}/submissions/{client}/upload`
pub(super) async fn get_upload(
    State(app): State<Arc<App>>,
    Segments(segments): Segments<TwoSegments>,
    request: Request,
) -> Answer<Json<UploadState>> {
    let (parts, _) = request.into_parts();
    let SignedManifest { manifest, .. } = app.authenticate(&parts, segments).await?;
    Ok(Json(app.ask(move |rounds| Ok(rounds.upload_state(&manifest))).await?))
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
