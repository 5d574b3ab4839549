//! The five operations.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use equipoise_data::Digest;
use equipoise_round::mailbox::{PulledLog, Status};
use equipoise_round::order::FileDigest;
use equipoise_round::spool::{PIECE, Spooled};
use equipoise_round::{Document, Kind, Pull, RoundFile, Stage, Submission, extension, log};
use futures_util::stream;
use jiff::Timestamp;
use tokio::io::AsyncReadExt as _;
use tokio::sync::Semaphore;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;

use crate::answer::{Failure, receipt};
use crate::page::page;
use crate::rounds::{Rounds, Slot};
use crate::serve::{MAX_BODY, REQUEST_TIMEOUT};
use crate::upload::Upload;

/// What every handler needs.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) rounds: Rounds,
    /// Names that a request may have as its host.
    pub(crate) hosts: Vec<String>,
    /// Uploads at once; others wait.
    pub(crate) uploads: Semaphore,
    pub(crate) address: String,
}

type Shared = State<Arc<App>>;
type Answer = Result<Response, Failure>;

pub(crate) fn router(app: App) -> Router {
    let app = Arc::new(app);
    Router::new()
        .route("/rounds/{round}", put(deliver).get(show))
        .route("/rounds/{round}/pull", post(pull))
        .route("/rounds/{round}/files/{name}", get(published))
        .route("/health", get(health))
        .fallback(|| async { Failure::NotFound })
        .layer(RequestBodyLimitLayer::new(MAX_BODY))
        .layer(TimeoutLayer::with_status_code(
            axum::http::StatusCode::REQUEST_TIMEOUT,
            REQUEST_TIMEOUT,
        ))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), check_host))
        .layer(TraceLayer::new_for_http())
        .with_state(app)
}

/// Lets only the mailbox's own names through, and gives every response the same security headers.
async fn check_host(State(app): Shared, request: Request, next: Next) -> Response {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, port)| {
        if port.bytes().all(|byte| byte.is_ascii_digit()) { name } else { host }
    });
    let is_ours = app.hosts.iter().any(|own| own.eq_ignore_ascii_case(name));
    let mut response = match is_ours && hosts.next().is_none() {
        true => next.run(request).await,
        false => Failure::OtherHost.into_response(),
    };
    let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
                  frame-ancestors 'none'";
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::STRICT_TRANSPORT_SECURITY, "max-age=31536000"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn deliver(State(app): Shared, Path(round): Path<String>, body: Body) -> Answer {
    let mut upload = Upload::new(body);
    let answer = take(&app, &round, &mut upload).await;
    if answer.is_err() {
        upload.drain().await;
    }
    answer.map(|document| receipt(&document))
}

async fn take(app: &Arc<App>, round: &str, upload: &mut Upload) -> Result<Document, Failure> {
    let document = upload.document().await?;
    let digest: Digest = round.parse().map_err(|_| Failure::NotAccepted)?;
    if document.kind() == Kind::Invitation {
        upload.end().await?;
        return in_background(app, move |app| app.rounds.install(digest, document)).await;
    }
    let slot = app.rounds.get(digest).ok_or(Failure::NotAccepted)?;
    match document.kind() {
        Kind::Submission => take_file(app, slot, document, upload).await,
        Kind::Extension => take_extension(app, slot, document, upload).await,
        Kind::Order => {
            upload.end().await?;
            let now = Timestamp::now();
            on_round(app, slot, move |app, round| {
                Ok(round.append(document, Vec::new(), now, app.rounds.key())?)
            })
            .await
        }
        _ => Err(Failure::NotAccepted),
    }
}

/// Checks the header before the file is read.
async fn take_file(
    app: &Arc<App>,
    slot: Arc<Slot>,
    header: Document,
    upload: &mut Upload,
) -> Result<Document, Failure> {
    let check = move |_: &App, round: &mut RoundFile| -> Result<Submission, Failure> {
        let submission = Submission::of(header, &round.log().invitation)?;
        if round.log().seq_of(&submission.document).is_none() {
            round.log().admits(&submission)?;
        }
        Ok(submission)
    };
    let submission = on_round(app, Arc::clone(&slot), check).await?;
    let turn = slot.turn(&submission.client);
    let _turn = turn.lock().await;
    let _permit = app.uploads.acquire().await.map_err(|_| Failure::Broken)?;
    let body = upload.spool(app.rounds.folder(), submission.length).await?;
    // The last byte has arrived.
    let now = Timestamp::now();
    on_round(app, slot, move |app, round| {
        Ok(round.accept(&submission, body, now, app.rounds.key())?)
    })
    .await
}

async fn take_extension(
    app: &Arc<App>,
    slot: Arc<Slot>,
    header: Document,
    upload: &mut Upload,
) -> Result<Document, Failure> {
    let announced = header.clone();
    let check = move |_: &App, round: &mut RoundFile| -> Result<FileDigest, Failure> {
        Ok(extension::check_header(&announced, round.log())?)
    };
    let expected = on_round(app, Arc::clone(&slot), check).await?;
    let _permit = app.uploads.acquire().await.map_err(|_| Failure::Broken)?;
    let body = upload.spool(app.rounds.folder(), expected.length).await?;
    on_round(app, slot, move |app, round| {
        extension::extend(round, &header, body)?;
        Ok(PulledLog::of(round, app.rounds.key())?.receipt)
    })
    .await
}

async fn show(State(app): Shared, Path(round): Path<String>, headers: HeaderMap) -> Answer {
    let slot = find(&app, &round)?;
    let address = format!("{}/rounds/{round}", app.address);
    let wants_json = headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("application/json"));
    on_round(&app, slot, move |_, round| match wants_json {
        true => Ok(Json(Status::of(round.log())).into_response()),
        false => Ok(Html(page(round.log(), &address).into_string()).into_response()),
    })
    .await
}

async fn pull(State(app): Shared, Path(round): Path<String>, body: Body) -> Answer {
    let mut upload = Upload::new(body);
    let document = upload.document().await?;
    upload.end().await?;
    let digest: Digest = round.parse().map_err(|_| Failure::NotAccepted)?;
    let slot = app.rounds.get(digest).ok_or(Failure::NotAccepted)?;
    on_round(&app, slot, move |app, round| {
        let log = round.log();
        match Pull::of(&document, &log.invitation, Timestamp::now())?.blob {
            None => Ok(Json(PulledLog::of(round, app.rounds.key())?).into_response()),
            Some(sha256) if log.blobs().contains_key(&sha256) => {
                Ok(stream_file(round.copy_out(sha256)?))
            }
            Some(_) => Err(Failure::NotFound),
        }
    })
    .await
}

async fn published(State(app): Shared, Path((round, name)): Path<(String, String)>) -> Answer {
    let slot = find(&app, &round)?;
    on_round(&app, slot, move |_, round| {
        let log = round.log();
        let (Stage::Published, Some((statement, _))) = (log.stage, &log.statement) else {
            return Err(Failure::NotFound);
        };
        let response = match name.as_str() {
            log::LOG_FILE => {
                let lines = round.lines(1)?;
                lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_response()
            }
            log::STATEMENT_FILE => statement.to_string().into_response(),
            _ => {
                let file = log.published(&name).ok_or(Failure::NotFound)?;
                stream_file(round.copy_out(file.sha256)?)
            }
        };
        // Downloaded, never shown under this name: a report is not a page of the mailbox.
        let as_file = [
            (header::CONTENT_TYPE, "application/octet-stream"),
            (header::CONTENT_DISPOSITION, "attachment"),
        ];
        Ok((as_file, response).into_response())
    })
    .await
}

async fn health(State(app): Shared) -> Answer {
    in_background(&app, |app| {
        let (rounds, damaged) = app.rounds.counts();
        let counts = serde_json::json!({ "rounds": rounds, "damaged": damaged });
        Ok(Json(counts).into_response())
    })
    .await
}

fn find(app: &App, round: &str) -> Result<Arc<Slot>, Failure> {
    round.parse().ok().and_then(|digest| app.rounds.get(digest)).ok_or(Failure::NotFound)
}

/// A file as a body, piece by piece. No transaction is open meanwhile.
fn stream_file(copy: Spooled) -> Response {
    let length = copy.length;
    let file = tokio::fs::File::from_std(copy.file);
    let pieces = stream::unfold(file, |mut file| async move {
        let mut piece = vec![0; PIECE];
        match file.read(&mut piece).await {
            Ok(0) => None,
            Ok(n) => {
                piece.truncate(n);
                Some((Ok(Bytes::from(piece)), file))
            }
            Err(error) => Some((Err(error), file)),
        }
    });
    ([(header::CONTENT_LENGTH, length)], Body::from_stream(pieces)).into_response()
}

async fn on_round<T: Send + 'static>(
    app: &Arc<App>,
    slot: Arc<Slot>,
    act: impl FnOnce(&App, &mut RoundFile) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    in_background(app, move |app| slot.with(|round| act(app, round))).await
}

/// Does something that waits for the disk.
async fn in_background<T: Send + 'static>(
    app: &Arc<App>,
    act: impl FnOnce(&App) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let app = Arc::clone(app);
    tokio::task::spawn_blocking(move || act(&app)).await.unwrap_or(Err(Failure::Broken))
}
