//! The handler of each operation of `/v1`.

use std::sync::Arc;

use axum::routing::{MethodRouter, get, post, put};

use super::app::App;
use super::{coordinator, events, results, server_log, upload};
use crate::openapi::Operation;
use crate::round::Action;

pub(super) fn handler(operation: Operation) -> MethodRouter<Arc<App>> {
    match operation {
        Operation::Describe => get(results::get_description),
        Operation::GetHead => get(server_log::get_head),
        Operation::GetLog => get(server_log::get_log),
        Operation::ListRounds => get(results::get_rounds),
        Operation::GetRound => get(results::get_round),
        Operation::GetSchema => get(results::get_schema),
        Operation::Listen => get(events::get_events),
        Operation::GetFile => get(results::get_file),
        Operation::Submit => put(upload::put_submission),
        Operation::GetReceipt => get(upload::get_receipt),
        Operation::GetUpload => get(upload::get_upload),
        Operation::ListClients => get(coordinator::get_clients),
        Operation::Revoke => post(coordinator::revoke),
        Operation::Open => coordinator::post_action(Action::Open),
        Operation::Close => coordinator::post_action(Action::Close),
        Operation::Abort => coordinator::post_action(Action::Abort(None)),
    }
}
