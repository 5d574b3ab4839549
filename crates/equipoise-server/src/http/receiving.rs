//! Receives a body into a file, hashing it on the way and enforcing a minimum rate.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use equipoise_data::Hasher;
use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout_at};

use super::app::App;
use super::reply::Answer;
use crate::protocol::{Manifest, Refusal, RoundState};
use crate::store::{StoreError, remove_if_present};

/// Time for a body to start.
const GRACE: Duration = Duration::from_secs(5);
/// How much time a fast start can bank.
const MAX_CREDIT: Duration = Duration::from_secs(10);
/// Bytes written to disk at a time.
const BUFFER_BYTES: usize = 256 << 10;

/// Receives the body from `offset` on. The part of an interrupted body is kept for resumption.
pub(super) async fn receive(
    app: &Arc<App>,
    manifest: &Manifest,
    offset: u64,
    body: Body,
) -> Answer<PathBuf> {
    let path = app.store.folder().part(manifest);
    let mut part = {
        let (path, manifest) = (path.clone(), manifest.clone());
        app.blocking(move |app| Part::open(app, path, &manifest, offset)).await?
    };
    let result = fill(app, &mut part, manifest, body).await;
    if result.is_err() {
        let round = manifest.round.clone();
        let _ = app
            .blocking(move |app| {
                let _ = part.flush(app);
                // Too late to resume.
                if app.store.state(&round)? != RoundState::Open {
                    remove_if_present(&part.path);
                }
                Ok(())
            })
            .await;
        return result.map(|()| path);
    }
    app.blocking({
        let expected = manifest.sha256;
        move |app| {
            part.flush(app)?;
            let found = part.hasher.finish();
            if found == expected {
                return Ok(());
            }
            remove_if_present(&part.path);
            Err(Refusal::DigestMismatch(found).into())
        }
    })
    .await?;
    Ok(path)
}

async fn fill(app: &Arc<App>, part: &mut Part, manifest: &Manifest, mut body: Body) -> Answer<()> {
    let minimum = app.limits.least_bytes_per_second;
    let mut slow_at = Instant::now() + GRACE;
    while part.received < manifest.length {
        let truncated = Refusal::BodyTruncated { expected: manifest.length, found: part.received };
        let frame = timeout_at(slow_at, body.frame())
            .await
            .map_err(|_| Refusal::TooSlow(minimum))?
            .ok_or(truncated.clone())?
            .map_err(|_| truncated)?;
        let Ok(data) = frame.into_data() else { continue };
        if part.received + data.len() as u64 > manifest.length {
            return Err(Refusal::ManifestMismatch.into());
        }
        part.received += data.len() as u64;
        app.metrics.body_bytes.fetch_add(data.len() as u64, Ordering::Relaxed);
        slow_at += Duration::from_micros(data.len() as u64 * 1_000_000 / minimum);
        slow_at = slow_at.min(Instant::now() + MAX_CREDIT);
        part.buffer.extend_from_slice(&data);
        app.store.crash().at("mid_body");
        if part.buffer.len() >= BUFFER_BYTES {
            let mut moved = std::mem::take(part);
            *part = app
                .blocking(move |app| {
                    moved.flush(app)?;
                    Ok(moved)
                })
                .await?;
        }
    }
    Ok(())
}

/// A partial upload.
#[derive(Default)]
struct Part {
    path: PathBuf,
    file: Option<std::fs::File>,
    hasher: Hasher,
    buffer: Vec<u8>,
    received: u64,
}

impl Part {
    fn open(
        app: &App,
        path: PathBuf,
        manifest: &Manifest,
        offset: u64,
    ) -> Result<Self, StoreError> {
        app.store.folder().create_uploads(&manifest.round)?;
        // A client has one partial upload.
        for other in app.store.folder().parts_of(&manifest.round, &manifest.client) {
            if other != path {
                remove_if_present(&other);
            }
        }
        let found = path.metadata().map_or(0, |found| found.len());
        if offset > 0 && found != offset {
            return Err(Refusal::OffsetMismatch { offset: found, found: offset }.into());
        }
        let mut hasher = Hasher::default();
        if offset > 0 {
            let mut file = std::fs::File::open(&path).map_err(StoreError::file(&path))?;
            std::io::copy(&mut file, &mut hasher).map_err(StoreError::file(&path))?;
        }
        let file = app.store.disk().open(&path, offset).map_err(StoreError::file(&path))?;
        Ok(Self { path, file: Some(file), hasher, buffer: Vec::new(), received: offset })
    }

    fn flush(&mut self, app: &App) -> Result<(), StoreError> {
        if let Some(file) = &mut self.file {
            let written = app.store.disk().write(&self.path, file, &self.buffer);
            written.map_err(StoreError::file(&self.path))?;
        }
        self.hasher.update(&self.buffer);
        self.buffer.clear();
        Ok(())
    }
}
