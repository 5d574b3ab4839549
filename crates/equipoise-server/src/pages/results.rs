//! The results of a published round: key figures, files and verification.

use equipoise_report::{Markup, answer, count, root_figures, sentence};

use super::frame::{code, figure, section, warning};
use super::participation::server_options;
use super::view::RoundView;
use crate::round::PublishedFile;

/// A weight up to this is negligible.
const NEGLIGIBLE_WEIGHT: f64 = 0.01;
/// The report lists more.
const MAX_WARNINGS: usize = 12;

pub(super) fn write_results(markup: &mut Markup, view: &RoundView) {
    if view.files.is_empty() {
        return;
    }
    section(markup, "May we use it?", |markup| {
        write_figures(markup, view);
        let report = file_path(view, "report.html");
        markup.element("p", &[], |markup| {
            markup.leaf("a", &[("href", &report), ("class", &"button")], "Read the report");
            markup.text(" ");
            let model: equipoise_report::Attributes<'_> = &[
                ("href", &file_path(view, "model.json")),
                ("class", &"button second"),
                ("download", &"model.json"),
            ];
            markup.leaf("a", model, "Download the model");
        });
    });
    section(markup, "Verification", |markup| {
        markup.leaf(
            "p",
            &[],
            "Download all files and verify them with the server's public key, which the coordinator gave you, and \
             with your receipt:",
        );
        let round = &view.info.round;
        let trust = format!("--server-key server.pub --receipt {round}-CLIENT.receipt.json");
        let server = server_options(&view.info);
        code(markup, &format!("equipoise model {server} \\\n  {trust} -o {round}"));
        markup.leaf("p", &[], "To verify the downloaded files again, offline:");
        code(markup, &format!("equipoise verify {round} {trust}"));
    });
    section(markup, "Files", |markup| {
        markup.element("ul", &[("class", &"files")], |markup| {
            for file in &view.files {
                write_file(markup, view, file);
            }
        });
    });
}

/// The verdict and the key figures with their intervals, as the report shows them.
fn write_figures(markup: &mut Markup, view: &RoundView) {
    let Some(outcome) = &view.outcome else { return };
    answer(outcome).write(markup);
    let weighted = outcome.clients.iter().filter(|c| c.weight > NEGLIGIBLE_WEIGHT).count();
    let clients = format!(
        "of the {} that submitted, those with more than 1\u{202f}% of the weight",
        count(outcome.clients.len())
    );
    markup.element("dl", &[("class", &"figures")], |markup| {
        for on_root in root_figures(outcome) {
            figure(markup, &on_root.label, &on_root.value, &on_root.note);
        }
        figure(markup, "Clients in the model", &count(weighted), &clients);
    });
    for found in outcome.warnings.iter().take(MAX_WARNINGS) {
        warning(markup, "Warning", &sentence(&found.to_string()));
    }
    let more = outcome.warnings.len().saturating_sub(MAX_WARNINGS);
    if more > 0 {
        let text = format!("There are {} more: read the report.", count(more));
        warning(markup, "Warnings", &text);
    }
}

fn write_file(markup: &mut Markup, view: &RoundView, file: &PublishedFile) {
    let path = file_path(view, &file.name);
    markup.element("li", &[], |markup| {
        markup.leaf("a", &[("href", &path), ("download", &file.name)], &file.name);
        markup.text(" ");
        markup.leaf("span", &[("class", &"description")], description(&file.name));
        markup.element("div", &[("class", &"digest")], |markup| {
            let what = if file.name == "schema.toml" { "SHA-256 of the file " } else { "SHA-256 " };
            markup.text(what);
            markup.leaf("code", &[], &file.sha256.to_string());
        });
    });
}

fn file_path(view: &RoundView, name: &str) -> String {
    format!("/v1/rounds/{}/files/{name}", view.info.round)
}

fn description(name: &str) -> &'static str {
    match name {
        "model.json" => "the model, with its schema",
        "outcome.json" => "weights, metrics, warnings and solver status",
        "report.html" => "the report as a single page",
        "schema.toml" => "columns and their encodings",
        "settings.json" => "settings of the solve",
        "spec.json" => "what the coordinator fixed when the round was created",
        "submissions.json" => "submissions with signatures and receipts",
        "weights.csv" => "client weights",
        "statement.json" => "the server's signature over these files",
        "audit.jsonl" => "audit log, one event per line",
        "audit-head.json" => "the server's signature over the end of the audit log",
        _ => "",
    }
}
