//! The coordinator's pages. Logging in with the token sets a session cookie. Every change is a POST with the
//! session's CSRF token.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::app::App;
use super::form::Form;
use super::page_reply::{Caching, PageAnswer, page};
use super::page_views::round_view;
use super::reply::{Refused, refuse};
use super::results::round_name;
use super::segments::TwoSegments;
use super::sessions::{LIFETIME, same};
use crate::pages;
use crate::protocol::{Refusal, RoundId};
use crate::round::Action;

const COOKIE: &str = "equipoise_coordinator";

/// `GET /rounds/{round}/coordinator`: the coordinator's page, or the login form.
pub(super) async fn get_coordinator(
    State(app): State<Arc<App>>,
    Path(round): Path<String>,
    headers: HeaderMap,
) -> PageAnswer {
    let round = existing_round(&app, &round).await?;
    let Some(csrf) = session(&headers).and_then(|id| app.sessions.csrf(&round, id)) else {
        return Ok(page(pages::login(&round, None), Caching::Never));
    };
    let html = app.ask(move |rounds| {
        let (view, clients) = (round_view(rounds, &round)?, rounds.clients(&round)?);
        Ok(pages::coordinator(&view, &clients, &rounds.refused_uploads(&round), &csrf))
    });
    Ok(page(html.await?, Caching::Never))
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
        let response = page(pages::login(&round, Some(&refusal)), Caching::Never);
        return Ok(refuse(&refusal, response));
    }
    let id = app.sessions.open(&round).ok_or(Refusal::Internal)?;
    let audience = app.ask({
        let round = round.clone();
        move |rounds| rounds.audience(&round)
    });
    // Plain HTTP is only served on loopback, to rounds with such an audience.
    let secure = if audience.await?.starts_with("http://") { "" } else { "; Secure" };
    Ok(redirect_to_coordinator(&round, Some(cookie(&round, &id, LIFETIME.as_secs(), secure))))
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
    Ok(redirect_to_coordinator(&round, Some(cookie(&round, "", 0, ""))))
}

/// `GET /rounds/{round}/coordinator/{action}`: asks for confirmation.
pub(super) async fn confirm(
    State(app): State<Arc<App>>,
    Path((round, action)): Path<TwoSegments>,
    headers: HeaderMap,
) -> PageAnswer {
    let action = Action::from_path(&action).ok_or(Refusal::NotFound("page"))?;
    let round = existing_round(&app, &round).await?;
    let Some(csrf) = session(&headers).and_then(|id| app.sessions.csrf(&round, id)) else {
        return Ok(redirect_to_coordinator(&round, None));
    };
    let info = app.ask(move |rounds| rounds.info(&round)).await?;
    Ok(page(pages::confirmation(&info, &action, &csrf), Caching::Never))
}

/// `POST /rounds/{round}/coordinator/{action}`
pub(super) async fn act(
    State(app): State<Arc<App>>,
    Path((round, action)): Path<TwoSegments>,
    request: Request,
) -> PageAnswer {
    let mut action = Action::from_path(&action).ok_or(Refusal::NotFound("page"))?;
    let round = existing_round(&app, &round).await?;
    let form = check_form(&app, &round, request).await?;
    if let Action::Abort(reason) = &mut action {
        *reason = Some(form.field("reason").trim().to_owned()).filter(|given| !given.is_empty());
    }
    let done = app.ask({
        let round = round.clone();
        move |rounds| rounds.perform(&round, &action)
    });
    done.await?;
    Ok(redirect_to_coordinator(&round, None))
}

/// Reads a form and checks that it was sent from a page of this session.
async fn check_form(app: &App, round: &RoundId, request: Request) -> Result<Form, Refused> {
    let (parts, body) = request.into_parts();
    check_origin(&parts.headers)?;
    let expected = session(&parts.headers).and_then(|id| app.sessions.csrf(round, id));
    let Some(expected) = expected else { return Err(Refused(Refusal::NotCoordinator)) };
    let form = Form::read(body).await?;
    match same(form.field("csrf"), &expected) {
        true => Ok(form),
        false => Err(Refused(Refusal::NotCoordinator)),
    }
}

/// Refuses forms from other sites. Browsers report the origin; other programs need not.
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

fn cookie(round: &RoundId, id: &str, seconds: u64, secure: &str) -> String {
    format!(
        "{COOKIE}={id}; Path=/rounds/{round}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
    )
}

fn redirect_to_coordinator(round: &RoundId, cookie: Option<String>) -> Response {
    let location = format!("/rounds/{round}/coordinator");
    let headers = [(header::LOCATION, location), (header::CACHE_CONTROL, "no-store".to_owned())];
    let mut response = (StatusCode::SEE_OTHER, headers).into_response();
    if let Some(value) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

async fn existing_round(app: &Arc<App>, text: &str) -> Result<RoundId, Refused> {
    let round = round_name(text)?;
    app.ask(move |rounds| rounds.audience(&round).map(|_| round)).await
}
