//! The public pages and their assets.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::app::App;
use super::page_reply::{Caching, PageAnswer, page};
use super::page_views::round_view;
use super::results::round_name;
use crate::pages;

pub(super) async fn get_index(State(app): State<Arc<App>>) -> PageAnswer {
    let html = app.ask(|rounds| {
        let names = rounds.names()?;
        let infos = names.iter().map(|round| rounds.info(round)).collect::<Result<Vec<_>, _>>()?;
        Ok(pages::index(&infos, rounds.now()))
    });
    Ok(page(html.await?, Caching::Revalidate))
}

pub(super) async fn get_round(
    State(app): State<Arc<App>>,
    Path(round): Path<String>,
) -> PageAnswer {
    let round = round_name(&round)?;
    let view = app.ask(move |rounds| round_view(rounds, &round)).await?;
    Ok(page(pages::round(&view), Caching::Revalidate))
}

pub(super) async fn get_style() -> Response {
    asset("text/css; charset=utf-8", [equipoise_report::STYLE, pages::STYLE].concat())
}

pub(super) async fn get_script() -> Response {
    asset("text/javascript; charset=utf-8", pages::SCRIPT.to_owned())
}

fn asset(media_type: &'static str, text: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "public, max-age=300"),
    ];
    (headers, text).into_response()
}
