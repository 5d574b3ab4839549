//! The page of a round. Until publication it says how many have delivered, and nothing more.

use equipoise_round::mailbox::Status;
use equipoise_round::{Log, Stage, printable};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = "body{font:1rem/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;\
color:#1b1b1b;background:#fff}code,pre{font:.9rem ui-monospace,monospace;overflow-wrap:anywhere}\
pre{background:#f2f2f2;padding:.75rem;white-space:pre-wrap}td,th{text-align:left;padding:.25rem 1rem .25rem 0;\
vertical-align:top}@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}pre{background:#262626}\
a{color:#8bf}}";

/// The page.
pub(crate) fn page(log: &Log, address: &str) -> Markup {
    let status = Status::of(log);
    let name = printable(log.invitation.terms.name.as_str());
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                title { "Equipoise: a round" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    @if log.stage == Stage::Published {
                        h1 { "Round " (name) }
                        (results(log, address))
                    } @else {
                        h1 { "A round of collaborative learning" }
                        p { "The round is " strong { (status.state) } ": "
                            (status.delivered) " of " (status.clients) " clients have delivered." }
                        @if log.stage == Stage::Open { (how_to_submit(log, address)) }
                    }
                }
            }
        }
    }
}

fn how_to_submit(log: &Log, address: &str) -> Markup {
    html! {
        p { "Files are on time until " strong { (log.invitation.terms.deadline) } ". Later ones are marked late." }
        h2 { "How to submit" }
        p { "Only clients that the coordinator has invited can submit. Compare the coordinator's fingerprint by phone, then:" }
        pre { "equipoise submit PROXY.parquet --invitation FILE.invitation --coordinator FINGERPRINT --key FILE.key" }
        p { "Anyone can deliver a file that is sealed already:" }
        pre { "curl -T FILE.sealed " (address) }
        p { "Keep the receipt: it proves that the file is in the log." }
    }
}

fn results(log: &Log, address: &str) -> Markup {
    html! {
        p { "The result is published. Download and check it with the coordinator's fingerprint:" }
        pre { "equipoise fetch FILE.invitation --coordinator FINGERPRINT" }
        @if let Some((_, statement)) = &log.statement {
            table {
                thead { tr { th { "File" } th { "Bytes" } th { "SHA-256" } } }
                tbody {
                    @for (name, file) in &statement.files {
                        tr {
                            td { a href={ (address) "/files/" (name) } { (printable(name)) } }
                            td { (file.length) }
                            td { code { (file.sha256) } }
                        }
                    }
                }
            }
            p {
                a href={ (address) "/files/statement" } { "statement" } ", "
                a href={ (address) "/files/log.jsonl" } { "log.jsonl" }
            }
        }
        p { "Clients whose files count: "
            (log.counting().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")) "." }
    }
}
