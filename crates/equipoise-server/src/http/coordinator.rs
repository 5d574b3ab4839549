//! The coordinator's operations.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::routing::{MethodRouter, post};

use super::app::App;
use super::reply::Answer;
use super::segments::{Segments, TwoSegments};
use crate::protocol::{ClientStatus, Refusal, RoundId, RoundInfo};
use crate::round::Action;

/// `GET /v1/rounds/{round}/clients`
pub(super) async fn get_clients(
    State(app): State<Arc<App>>,
    Segments(round): Segments<String>,
    request: Request,
) -> Answer<Json<Vec<ClientStatus>>> {
    let round = app.authenticate_coordinator(&request.into_parts().0, round).await?;
    Ok(Json(app.ask(move |rounds| rounds.clients(&round)).await?))
}

/// The handler of an action on a round, such as `POST /v1/rounds/{round}/open`.
pub(super) fn post_action(action: Action) -> MethodRouter<Arc<App>> {
    post(
        move |State(app): State<Arc<App>>, Segments(round): Segments<String>, request: Request| async move {
            let round = app.authenticate_coordinator(&request.into_parts().0, round).await?;
            perform(&app, round, action).await
        },
    )
}

/// `POST /v1/rounds/{round}/clients/{client}/revoke`
pub(super) async fn revoke(
    State(app): State<Arc<App>>,
    Segments((round, client)): Segments<TwoSegments>,
    request: Request,
) -> Answer<Json<RoundInfo>> {
    // Authentication comes first, so that outsiders do not learn which names are valid.
    let round = app.authenticate_coordinator(&request.into_parts().0, round).await?;
    let client = client.parse().map_err(|_| Refusal::NotFound("client"))?;
    perform(&app, round, Action::Revoke(client)).await
}

async fn perform(app: &Arc<App>, round: RoundId, action: Action) -> Answer<Json<RoundInfo>> {
    let info = app.ask(move |rounds| {
        rounds.perform(&round, &action)?;
        rounds.info(&round)
    });
    Ok(Json(info.await?))
}
