//! What the coordinator may do.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use serde::Serialize;

use super::app::App;
use super::auth::Address;
use super::reply::Answer;
use super::segments::Segments;
use crate::pages::Action;
use crate::protocol::{Digest, Name, Refusal, RoundInfo};

/// A client, as the coordinator sees it.
#[derive(Debug, Serialize)]
pub(super) struct ClientRow {
    client: Name,
    revoked_at: Option<String>,
    submitted: bool,
    sha256: Option<Digest>,
    rows: Option<u64>,
    distinct_rows: Option<u64>,
}

/// `GET /v1/rounds/{round}/clients`: who has submitted.
pub(super) async fn get_clients(
    State(app): State<Arc<App>>,
    Segments(round): Segments<String>,
    request: Request,
) -> Answer<Json<Vec<ClientRow>>> {
    let round = app.coordinator(&request.into_parts().0, round).await?;
    let rows = app.blocking(move |app| {
        let submissions = app.store.submissions(&round)?;
        let row = |(key, revoked_at): (crate::protocol::PublicKey, Option<String>)| {
            let client = key.name().clone();
            let found = submissions.iter().find(|submission| submission.client == client);
            let receipt = found.map(|submission| &submission.receipt.receipt);
            ClientRow {
                revoked_at,
                submitted: found.is_some(),
                sha256: found.map(|submission| submission.sha256),
                rows: receipt.map(|receipt| receipt.rows),
                distinct_rows: receipt.map(|receipt| receipt.distinct_rows),
                client,
            }
        };
        Ok(app.store.roster(&round)?.into_iter().map(row).collect())
    });
    Ok(Json(rows.await?))
}

/// `POST /v1/rounds/{round}/open`
pub(super) async fn open(
    State(app): State<Arc<App>>,
    Segments(round): Segments<String>,
    request: Request,
) -> Answer<Json<RoundInfo>> {
    perform(app, round, request, Action::Open).await
}

/// `POST /v1/rounds/{round}/close`
pub(super) async fn close(
    State(app): State<Arc<App>>,
    Segments(round): Segments<String>,
    request: Request,
) -> Answer<Json<RoundInfo>> {
    perform(app, round, request, Action::Close).await
}

/// `POST /v1/rounds/{round}/abort`
pub(super) async fn abort(
    State(app): State<Arc<App>>,
    Segments(round): Segments<String>,
    request: Request,
) -> Answer<Json<RoundInfo>> {
    perform(app, round, request, Action::Abort).await
}

/// `POST /v1/rounds/{round}/clients/{client}/revoke`
pub(super) async fn revoke(
    State(app): State<Arc<App>>,
    Segments((round, client)): Segments<Address>,
    request: Request,
) -> Answer<Json<RoundInfo>> {
    // Who is not the coordinator does not learn which names could be clients.
    let round = app.coordinator(&request.into_parts().0, round).await?;
    perform_on(app, round, Action::Revoke(client_name(&client)?)).await
}

async fn perform(
    app: Arc<App>,
    round: String,
    request: Request,
    action: Action,
) -> Answer<Json<RoundInfo>> {
    let round = app.coordinator(&request.into_parts().0, round).await?;
    perform_on(app, round, action).await
}

async fn perform_on(app: Arc<App>, round: Name, action: Action) -> Answer<Json<RoundInfo>> {
    let info = app.blocking(move |app| {
        app.perform(&round, &action)?;
        app.info(&round)
    });
    Ok(Json(info.await?))
}

/// What is no name is no client.
pub(super) fn client_name(text: &str) -> Result<Name, Refusal> {
    text.parse().map_err(|_| Refusal::NotFound { what: "such client" })
}
