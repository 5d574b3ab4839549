//! How to participate in an open round.

use equipoise_report::Markup;

use super::frame::{code, section};
use super::numbers::grouped;
use super::view::RoundView;
use crate::protocol::{RoundInfo, RoundState};

pub(super) fn write_participation(markup: &mut Markup, view: &RoundView) {
    let info = &view.info;
    if !matches!(info.state, RoundState::Draft | RoundState::Open) {
        return;
    }
    section(markup, "How to participate", |markup| {
        markup.element("p", &[], |markup| {
            markup.text("Each client on the roster submits one proxy, generated with the round's ");
            let schema = format!("/v1/rounds/{}/schema", info.round);
            markup.leaf("a", &[("href", &schema), ("download", &"schema.toml")], "schema");
            markup.text(". This command checks the file, uploads it and saves the signed receipt:");
        });
        code(markup, &submit_command(info));
        let limits = &info.limits;
        let text = format!(
            "`server.pub` is the server's public key, which the coordinator gave you. Files are limited to {} rows, {} \
             columns and {} MiB. If the coordinator also gave you a certificate, pass it with `--ca`.",
            grouped(limits.rows),
            grouped(limits.columns),
            limits.body_bytes >> 20
        );
        markup.element("p", &[], |markup| markup.text_with_names(&text));
    });
}

fn submit_command(info: &RoundInfo) -> String {
    let server = server_options(info);
    format!(
        "equipoise submit PROXY.parquet --key CLIENT.key --server-key server.pub \\\n  {server}"
    )
}

/// Options that name the server and the round.
pub(super) fn server_options(info: &RoundInfo) -> String {
    // A shell would take the brackets of an IPv6 address for a pattern.
    let quote = if info.audience.contains('[') { "'" } else { "" };
    format!("--server {quote}{}{quote} --round {}", info.audience, info.round)
}
