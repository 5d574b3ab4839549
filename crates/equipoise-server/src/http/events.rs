//! Live updates of a round: one event stream per listener, all fed by one channel.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::{Stream, StreamExt as _};

use super::app::App;
use super::gates::network;
use super::listener::Peer;
use super::reply::{Answer, Refused};
use super::results::round_name;
use super::segments::Segments;
use super::shared_replies::SharedReply;
use crate::protocol::{Refusal, RoundId};

/// Also detects disconnected listeners.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// `GET /v1/rounds/{round}/events`: the round's state, now and after every change.
pub(super) async fn get_events(
    State(app): State<Arc<App>>,
    Segments(round): Segments<String>,
    peer: Option<Extension<Peer>>,
) -> Answer<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    let round = round_name(&round)?;
    info(&app, &round).await?;
    let busy = || Refused(Refusal::Busy { retry_after_seconds: 30 });
    let address = peer.map_or(Ipv4Addr::LOCALHOST.into(), |Extension(peer)| peer.0);
    let listener = app.listeners.admit(network(address), Instant::now()).ok_or_else(|| {
        app.metrics.refused_listeners.fetch_add(1, Ordering::Relaxed);
        busy()
    })?;
    let changes = BroadcastStream::new(app.rounds.subscribe().ok_or_else(busy)?);
    let lifetime = Duration::from_secs(app.limits.listener_seconds);
    let of_round = {
        let round = round.clone();
        // A listener that missed changes gets the current state.
        move |change: &Result<RoundId, _>| change.as_ref().map_or(true, |r| *r == round)
    };
    let events =
        tokio_stream::once(()).chain(changes.filter(of_round).map(|_| ())).then(move |()| {
            let (app, round) = (Arc::clone(&app), round.clone());
            async move {
                let event = match info(&app, &round).await {
                    Ok(json) => {
                        Event::default().event("round").data(String::from_utf8_lossy(&json))
                    }
                    Err(_) => Event::default().event("error").data("{}"),
                };
                Ok(event)
            }
        });
    let end = async move {
        // Holds the listener's slot.
        let _ = tokio::time::timeout(lifetime, listener.end.notified()).await;
    };
    let events = Until { events: Box::pin(events), end: Some(Box::pin(end)) };
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// The round's state as JSON, computed once for all listeners.
async fn info(app: &Arc<App>, round: &RoundId) -> Answer<Bytes> {
    let reply = SharedReply::RoundInfo(round.clone());
    let round = round.clone();
    app.shared_reply(reply, move |rounds| Ok(serde_json::to_vec(&rounds.info(&round)?)?)).await
}

/// A stream that ends when a future completes.
struct Until<S, F> {
    events: Pin<Box<S>>,
    /// `None` after the end.
    end: Option<Pin<Box<F>>>,
}

impl<S: Stream, F: Future<Output = ()>> Stream for Until<S, F> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let Some(end) = &mut self.end else { return Poll::Ready(None) };
        if end.as_mut().poll(cx).is_ready() {
            self.end = None;
            return Poll::Ready(None);
        }
        self.events.as_mut().poll_next(cx)
    }
}
