//! The public pages and their assets.

use std::sync::{Arc, LazyLock};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri, header};
use axum::response::{IntoResponse, Response};

use super::app::App;
use super::page_reply::{Caching, PageAnswer, RefusedPage, page};
use super::page_views::round_view;
use super::reply::Refused;
use super::results::round_name;
use super::shared_replies::SharedReply;
use crate::pages;
use crate::protocol::Refusal;

pub(super) async fn get_index(State(app): State<Arc<App>>) -> PageAnswer {
    let html = app.shared_reply(SharedReply::Index, |rounds| {
        let names = rounds.names()?;
        let infos = names.iter().map(|round| rounds.info(round)).collect::<Result<Vec<_>, _>>()?;
        Ok(pages::index(&infos, rounds.now()).into())
    });
    Ok(page(html.await?, Caching::Revalidate))
}

pub(super) async fn get_round(
    State(app): State<Arc<App>>,
    Path(round): Path<String>,
) -> PageAnswer {
    let round = round_name(&round)?;
    let html = app.shared_reply(SharedReply::RoundPage(round.clone()), move |rounds| {
        Ok(pages::round(&round_view(rounds, &round)?).into())
    });
    Ok(page(html.await?, Caching::Revalidate))
}

/// A path without a page: a page for browsers, JSON for programs.
pub(super) async fn no_such_page(uri: Uri, headers: HeaderMap) -> Response {
    let accepted = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let is_browser = accepted.is_some_and(|types| types.contains("text/html"));
    let refusal = Refusal::NotFound("page");
    match is_browser && !uri.path().starts_with("/v1/") {
        true => RefusedPage::from(refusal).into_response(),
        false => Refused(refusal).into_response(),
    }
}

pub(super) async fn get_style() -> Response {
    static TEXT: LazyLock<String> =
        LazyLock::new(|| [equipoise_report::STYLE, pages::STYLE].concat());
    asset("text/css; charset=utf-8", &TEXT)
}

pub(super) async fn get_script() -> Response {
    asset("text/javascript; charset=utf-8", pages::SCRIPT)
}

fn asset(media_type: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "public, max-age=300"),
    ];
    (headers, text).into_response()
}
