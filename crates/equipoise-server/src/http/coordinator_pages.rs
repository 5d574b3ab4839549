//! The coordinator's pages: logged in by the token once, then known by a cookie. Whatever changes something is a
//! POST that carries the session's own word.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::app::App;
use super::auth::Address;
use super::coordinator::client_name;
use super::form::Form;
use super::page_reply::{Keep, PageAnswer, page, with_status};
use super::reply::Refused;
use super::results::round_name;
use super::sessions::{LIFETIME, same};
use crate::pages::{self, Action};
use crate::protocol::{Name, Refusal};

const COOKIE: &str = "equipoise_coordinator";

/// `GET /rounds/{round}/coordinator`: the view, or the form to log in.
pub(super) async fn get_coordinator(
    State(app): State<Arc<App>>,
    Path(round): Path<String>,
    headers: HeaderMap,
) -> PageAnswer {
    let round = existing_round(&app, &round).await?;
    let Some(csrf) = session(&headers).and_then(|id| app.sessions.csrf(&round, id)) else {
        return Ok(page(pages::login(&round, None), Keep::Never));
    };
    let html = app.blocking(move |app| {
        let (view, clients) = (app.round_view(&round)?, app.client_views(&round)?);
        Ok(pages::coordinator(&view, &clients, &app.refused.latest(&round), &csrf))
    });
    Ok(page(html.await?, Keep::Never))
}

/// `POST /rounds/{round}/coordinator/login`
pub(super) async fn log_in(
    State(app): State<Arc<App>>,
    Path(round): Path<String>,
    request: Request,
) -> PageAnswer {
    let round = existing_round(&app, &round).await?;
    let (parts, body) = request.into_parts();
    check_origin(&parts.headers)?;
    let form = Form::read(body).await?;
    let token = form.field("token").trim().to_owned();
    if let Err(Refused(refusal)) = app.check_token(&parts, round.to_string(), Some(&token)).await {
        let mut response = page(pages::login(&round, Some(&refusal)), Keep::Never);
        with_status(&mut response, &refusal);
        return Ok(response);
    }
    let id = app.sessions.open(&round).ok_or(Refusal::Internal)?;
    let audience = app
        .blocking({
            let round = round.clone();
            move |app| Ok(app.store.spec(&round)?.audience.clone())
        })
        .await?;
    // Plain HTTP is served on loopback alone, and the round's own address says so then.
    let secure = if audience.starts_with("http://") { "" } else { "; Secure" };
    Ok(to_coordinator(&round, Some(cookie(&round, &id, LIFETIME.as_secs(), secure))))
}

/// `POST /rounds/{round}/coordinator/logout`
pub(super) async fn log_out(
    State(app): State<Arc<App>>,
    Path(round): Path<String>,
    request: Request,
) -> PageAnswer {
    let round = existing_round(&app, &round).await?;
    let id = session(request.headers()).unwrap_or_default().to_owned();
    check_form(&app, &round, request).await?;
    app.sessions.close(&id);
    Ok(to_coordinator(&round, Some(cookie(&round, "", 0, ""))))
}

/// `GET /rounds/{round}/coordinator/{action}`: are you sure?
pub(super) async fn confirm(
    State(app): State<Arc<App>>,
    Path((round, action)): Path<Address>,
    headers: HeaderMap,
) -> PageAnswer {
    confirmation(&app, &round, action_named(&action)?, &headers).await
}

/// `POST /rounds/{round}/coordinator/{action}`
pub(super) async fn act(
    State(app): State<Arc<App>>,
    Path((round, action)): Path<Address>,
    request: Request,
) -> PageAnswer {
    perform(&app, &round, action_named(&action)?, request).await
}

/// `GET /rounds/{round}/coordinator/clients/{client}/revoke`: are you sure?
pub(super) async fn confirm_revoke(
    State(app): State<Arc<App>>,
    Path((round, client)): Path<Address>,
    headers: HeaderMap,
) -> PageAnswer {
    confirmation(&app, &round, Action::Revoke(client_name(&client)?), &headers).await
}

/// `POST /rounds/{round}/coordinator/clients/{client}/revoke`
pub(super) async fn revoke(
    State(app): State<Arc<App>>,
    Path((round, client)): Path<Address>,
    request: Request,
) -> PageAnswer {
    perform(&app, &round, Action::Revoke(client_name(&client)?), request).await
}

async fn confirmation(
    app: &Arc<App>,
    round: &str,
    action: Action,
    headers: &HeaderMap,
) -> PageAnswer {
    let round = existing_round(app, round).await?;
    let Some(csrf) = session(headers).and_then(|id| app.sessions.csrf(&round, id)) else {
        return Ok(to_coordinator(&round, None));
    };
    let info = app.blocking(move |app| app.info(&round)).await?;
    Ok(page(pages::confirmation(&info, &action, &csrf), Keep::Never))
}

async fn perform(app: &Arc<App>, round: &str, action: Action, request: Request) -> PageAnswer {
    let round = existing_round(app, round).await?;
    check_form(app, &round, request).await?;
    let done = app.blocking({
        let round = round.clone();
        move |app| app.perform(&round, &action)
    });
    done.await?;
    Ok(to_coordinator(&round, None))
}

/// Whether a form was sent from a page of this session.
async fn check_form(app: &App, round: &Name, request: Request) -> Result<(), Refused> {
    let (parts, body) = request.into_parts();
    check_origin(&parts.headers)?;
    let expected = session(&parts.headers).and_then(|id| app.sessions.csrf(round, id));
    let Some(expected) = expected else { return Err(Refused(Refusal::NotCoordinator)) };
    let form = Form::read(body).await?;
    match same(form.field("csrf"), &expected) {
        true => Ok(()),
        false => Err(Refused(Refusal::NotCoordinator)),
    }
}

/// Browsers say where a form comes from; programs need not.
fn check_origin(headers: &HeaderMap) -> Result<(), Refused> {
    match headers.get("sec-fetch-site").map(HeaderValue::as_bytes) {
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) => Err(Refused(Refusal::NotCoordinator)),
    }
}

fn session(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|text| text.split(';')).map(str::trim);
    pairs.find_map(|pair| pair.strip_prefix(COOKIE)?.strip_prefix('='))
}

fn cookie(round: &Name, id: &str, seconds: u64, secure: &str) -> String {
    format!(
        "{COOKIE}={id}; Path=/rounds/{round}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
    )
}

fn to_coordinator(round: &Name, cookie: Option<String>) -> Response {
    let place = format!("/rounds/{round}/coordinator");
    let headers = [(header::LOCATION, place), (header::CACHE_CONTROL, "no-store".to_owned())];
    let mut response = (StatusCode::SEE_OTHER, headers).into_response();
    if let Some(value) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

async fn existing_round(app: &Arc<App>, text: &str) -> Result<Name, Refused> {
    let round = round_name(text)?;
    app.blocking(move |app| app.store.spec(&round).map(|_| round)).await
}

fn action_named(text: &str) -> Result<Action, Refusal> {
    match text {
        "open" => Ok(Action::Open),
        "close" => Ok(Action::Close),
        "abort" => Ok(Action::Abort),
        _ => Err(Refusal::NotFound { what: "such page" }),
    }
}
