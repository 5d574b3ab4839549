//! Live updates of a round: one event stream per listener, all fed by one channel.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::{Stream, StreamExt as _};

use super::app::App;
use super::reply::{Answer, Refused};
use super::results::round_name;
use super::segments::Segments;
use crate::protocol::Refusal;

/// Also detects disconnected listeners.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// `GET /v1/rounds/{round}/events`: the round's state, now and after every change.
pub(super) async fn get_events(
    State(app): State<Arc<App>>,
    Segments(round): Segments<String>,
) -> Answer<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    let round = round_name(&round)?;
    app.ask({
        let round = round.clone();
        move |rounds| rounds.info(&round)
    })
    .await?;
    let busy = || Refused(Refusal::Busy { retry_after_seconds: 30 });
    let slot = Arc::clone(&app.listeners).try_acquire_owned().map_err(|_| busy())?;
    let changes = BroadcastStream::new(app.rounds.subscribe().ok_or_else(busy)?);
    let of_round = {
        let round = round.clone();
        // A listener that missed changes gets the current state.
        move |change: &Result<crate::protocol::RoundId, _>| {
            change.as_ref().map_or(true, |r| *r == round)
        }
    };
    let stream =
        tokio_stream::once(()).chain(changes.filter(of_round).map(|_| ())).then(move |()| {
            let (app, round) = (Arc::clone(&app), round.clone());
            let _slot = &slot;
            async move {
                let info = app.ask(move |rounds| rounds.info(&round)).await;
                let event = Event::default().event("round");
                Ok(match info.map(|info| serde_json::to_string(&info)) {
                    Ok(Ok(json)) => event.data(json),
                    _ => Event::default().event("error").data("{}"),
                })
            }
        });
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}
