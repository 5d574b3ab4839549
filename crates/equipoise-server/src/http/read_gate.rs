//! Limits how much work strangers can start at once, so that a flood of requests leaves threads and the database to
//! clients. A turn belongs to the work, not to the request: a peer that hangs up does not free its turn early.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tokio::sync::Semaphore;
use tracing::{Instrument as _, error};

use super::app::App;
use super::reply::{Answer, Refused};
use crate::protocol::Refusal;
use crate::round::Rounds;
use crate::store::StoreError;

/// Parts of paths that need credentials. Their look-ups take turns in [`App::ask_in_turn`].
const RESTRICTED: [&str; 3] = ["/submissions/", "/clients", "/coordinator"];

/// Waits for a turn. Only public reads do: they never wait for their peer, so a slow peer holds no turn.
pub(super) async fn take_turns(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_read || RESTRICTED.iter().any(|part| path.contains(part)) {
        return next.run(request).await;
    }
    let read = in_turn(&app.reads, async move { next.run(request).await });
    read.await.unwrap_or_else(|| Refused(Refusal::Internal).into_response())
}

impl App {
    /// Asks the rounds in one of a few turns, for requests whose peer is not yet known.
    pub(super) async fn ask_in_turn<T: Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&Rounds) -> Result<T, StoreError> + Send + 'static,
    ) -> Answer<T> {
        let rounds = Arc::clone(&self.rounds);
        let asked = in_turn(&self.lookups, async move { rounds.blocking(question).await });
        Ok(asked.await.unwrap_or_else(|| Err(Refusal::Internal.into()))?)
    }
}

/// Waits for a turn, then runs the work to its end in a task of its own. `None` if it panicked.
async fn in_turn<T: Send + 'static>(
    turns: &Arc<Semaphore>,
    work: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    // The semaphore is never closed.
    let turn = Arc::clone(turns).acquire_owned().await.ok();
    let task = async move {
        let done = work.await;
        drop(turn);
        done
    };
    tokio::spawn(task.in_current_span())
        .await
        .inspect_err(|error| error!(%error, "task failed"))
        .ok()
}
