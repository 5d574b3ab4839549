//! Answers: receipts, and errors with a status, a stable code and a sentence.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use equipoise_round::mailbox::ErrorBody;
use equipoise_round::{Document, Error, Refusal};

/// Why a request fails.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The round's rules, the disk, or a damaged round.
    Round(Error),
    /// No round, or nothing of this name: a wrong address and a missing file answer alike.
    NotFound,
    /// A file or document that no round here accepts. An unknown round and a wrong signature answer alike.
    NotAccepted,
    /// The body did not arrive in time.
    TooSlow,
    /// The connection broke.
    Broken,
    /// The request is for another server.
    OtherHost,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Round(error)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Round(refusal.into())
    }
}

impl Failure {
    fn parts(&self) -> (StatusCode, &'static str, String) {
        use StatusCode as S;
        let text = |text: &str| text.to_owned();
        match self {
            Self::Round(Error::Refused(refusal)) => refused(refusal),
            Self::Round(Error::Damaged { .. }) => {
                let text = text("this round is damaged. Its operator has to restore it");
                (S::SERVICE_UNAVAILABLE, "damaged", text)
            }
            Self::Round(Error::Busy(_)) => {
                (S::SERVICE_UNAVAILABLE, "busy", text("the round is busy. Try again"))
            }
            Self::Round(Error::DiskFull(_)) => {
                let text =
                    text("the mailbox's disk is full, so nothing was accepted. Tell its operator");
                (S::INSUFFICIENT_STORAGE, "disk_full", text)
            }
            Self::Round(_) => {
                let text =
                    text("the mailbox failed, and nothing was accepted. Its log has the reason");
                (S::INTERNAL_SERVER_ERROR, "internal", text)
            }
            Self::NotFound => (S::NOT_FOUND, "not_found", text("there is nothing at this address")),
            Self::NotAccepted => {
                let text = text(
                    "no round at this address accepts this: check the invitation, and that it lists your key under \
                     your name",
                );
                (S::FORBIDDEN, "not_accepted", text)
            }
            Self::TooSlow => {
                let text = text("the file arrived too slowly. Send it by another way");
                (S::REQUEST_TIMEOUT, "too_slow", text)
            }
            Self::Broken => (S::BAD_REQUEST, "broken", text("the connection broke. Send it again")),
            Self::OtherHost => {
                (S::MISDIRECTED_REQUEST, "other_host", text("this server has another name"))
            }
        }
    }
}

fn refused(refusal: &Refusal) -> (StatusCode, &'static str, String) {
    use Refusal as R;
    let status = match refusal {
        R::OtherKind(..) | R::OtherRound(..) | R::BadSignature(_) | R::NotOnRoster(_) => {
            return Failure::NotAccepted.parts();
        }
        R::Expired | R::OtherCoordinator(..) => StatusCode::FORBIDDEN,
        R::TooLarge(..) => StatusCode::PAYLOAD_TOO_LARGE,
        R::Malformed(_) | R::OtherBody(..) => StatusCode::BAD_REQUEST,
        _ => StatusCode::CONFLICT,
    };
    (status, refusal.code(), refusal.to_string())
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        if let Self::Round(error) = &self
            && !matches!(error, Error::Refused(_))
        {
            tracing::error!(%error, "request failed");
        }
        let (status, code, message) = self.parts();
        (status, Json(ErrorBody { code: code.to_owned(), message })).into_response()
    }
}

/// A receipt.
pub(crate) fn receipt(receipt: &Document) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], receipt.to_string()).into_response()
}
