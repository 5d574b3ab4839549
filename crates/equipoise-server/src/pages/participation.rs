//! How to take part in an open round.

use equipoise_report::Markup;

use super::frame::{code, section};
use super::view::RoundView;
use crate::protocol::{RoundInfo, RoundState};

pub(super) fn write_participation(markup: &mut Markup, view: &RoundView) {
    let info = &view.info;
    if !matches!(info.state, RoundState::Draft | RoundState::Open) {
        return;
    }
    section(markup, "Take part", |markup| {
        markup.element("p", &[], |markup| {
            markup.text("Clients of the roster send one proxy each, made with the ");
            let schema = format!("/v1/rounds/{}/schema", info.round);
            markup.leaf("a", &[("href", &schema), ("download", &"schema.toml")], "schema");
            markup.text(
                " of the round. The command checks the file before anything is sent, and keeps \
                the signed receipt:",
            );
        });
        code(markup, &submit_command(info));
        let limits = &info.limits;
        let words = format!(
            "A file may have up to {} rows, {} columns and {} MiB. If the coordinator gave you a \
             certificate, add --ca with its file.",
            limits.rows,
            limits.columns,
            limits.body_bytes >> 20
        );
        markup.leaf("p", &[], &words);
    });
}

fn submit_command(info: &RoundInfo) -> String {
    format!("equipoise submit PROXY.parquet --key CLIENT.key \\\n  {}", server_options(info, true))
}

/// Where the server is. An audience that is no address must be named beside it.
pub(super) fn server_options(info: &RoundInfo, signs: bool) -> String {
    let (audience, round) = (quoted(&info.audience), &info.round);
    let is_address = ["http://", "https://"].iter().any(|s| info.audience.starts_with(s));
    match (is_address, signs) {
        (true, _) => format!("--server {audience} --round {round}"),
        (false, true) => format!("--server ADDRESS --round {round} --audience {audience}"),
        (false, false) => format!("--server ADDRESS --round {round}"),
    }
}

/// The word in quotes, if it needs them in a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=:+%@".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
