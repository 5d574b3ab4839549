//! Every operation of `/v1`, once: the router serves this list, and the OpenAPI description describes it.

use std::sync::Arc;

use axum::routing::{MethodRouter, get, post, put};

use super::app::App;
use super::{coordinator, description, events, results, upload};

/// An operation of the server: one method at one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// What the server can do, as OpenAPI.
    Describe,
    /// All rounds.
    ListRounds,
    /// A round as it stands.
    GetRound,
    /// A round's schema.
    GetSchema,
    /// A round's changes as they happen.
    Listen,
    /// A published file.
    GetFile,
    /// A client's one submission.
    Submit,
    /// A client's receipt.
    GetReceipt,
    /// Where an interrupted upload goes on.
    GetUpload,
    /// Who has submitted.
    ListClients,
    /// A client's key is not accepted any more.
    Revoke,
    /// Draft → open.
    Open,
    /// Open → closed.
    Close,
    /// The end without a model.
    Abort,
}

impl Operation {
    /// All of them, in the order of the description.
    pub const ALL: [Self; 14] = [
        Self::Describe,
        Self::ListRounds,
        Self::GetRound,
        Self::GetSchema,
        Self::Listen,
        Self::GetFile,
        Self::Submit,
        Self::GetReceipt,
        Self::GetUpload,
        Self::ListClients,
        Self::Revoke,
        Self::Open,
        Self::Close,
        Self::Abort,
    ];

    /// The address, with its parameters in braces.
    pub fn path(self) -> &'static str {
        match self {
            Self::Describe => "/v1/openapi.json",
            Self::ListRounds => "/v1/rounds",
            Self::GetRound => "/v1/rounds/{round}",
            Self::GetSchema => "/v1/rounds/{round}/schema",
            Self::Listen => "/v1/rounds/{round}/events",
            Self::GetFile => "/v1/rounds/{round}/files/{file}",
            Self::Submit | Self::GetReceipt => "/v1/rounds/{round}/submissions/{client}",
            Self::GetUpload => "/v1/rounds/{round}/submissions/{client}/upload",
            Self::ListClients => "/v1/rounds/{round}/clients",
            Self::Revoke => "/v1/rounds/{round}/clients/{client}/revoke",
            Self::Open => "/v1/rounds/{round}/open",
            Self::Close => "/v1/rounds/{round}/close",
            Self::Abort => "/v1/rounds/{round}/abort",
        }
    }

    /// The method, as OpenAPI writes it.
    pub fn method(self) -> &'static str {
        match self {
            Self::Submit => "put",
            Self::Revoke | Self::Open | Self::Close | Self::Abort => "post",
            _ => "get",
        }
    }

    /// What serves it.
    pub(super) fn handler(self) -> MethodRouter<Arc<App>> {
        match self {
            Self::Describe => get(description::get_description),
            Self::ListRounds => get(results::get_rounds),
            Self::GetRound => get(results::get_round),
            Self::GetSchema => get(results::get_schema),
            Self::Listen => get(events::get_events),
            Self::GetFile => get(results::get_file),
            Self::Submit => put(upload::put_submission),
            Self::GetReceipt => get(upload::get_receipt),
            Self::GetUpload => get(upload::get_upload),
            Self::ListClients => get(coordinator::get_clients),
            Self::Revoke => post(coordinator::revoke),
            Self::Open => post(coordinator::open),
            Self::Close => post(coordinator::close),
            Self::Abort => post(coordinator::abort),
        }
    }
}
