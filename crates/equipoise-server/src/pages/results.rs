//! What was published: figures, files, and how to verify them.

use equipoise_report::{Format, Markup, termination_label};

use super::frame::{code, figure, section};
use super::participation::server_options;
use super::view::{PublishedFile, RoundView};

/// A client with at most this share of the weight hardly counts.
const LITTLE_WEIGHT: f64 = 0.01;

pub(super) fn write_results(markup: &mut Markup, view: &RoundView) {
    if view.files.is_empty() {
        return;
    }
    section(markup, "Result", |markup| {
        write_figures(markup, view);
        let report = file_address(view, "report.html");
        markup.element("p", &[], |markup| {
            markup.leaf("a", &[("href", &report), ("class", &"button")], "Read the report");
            markup.text(" ");
            let model = file_address(view, "model.json");
            let link: equipoise_report::Attributes<'_> =
                &[("href", &model), ("class", &"button second"), ("download", &"model.json")];
            markup.leaf("a", link, "Download the model");
        });
    });
    section(markup, "Verify", |markup| {
        markup.leaf(
            "p",
            &[],
            "Fetch all files and check them, with the server's public key that the coordinator gave you \
             and the receipt that you kept:",
        );
        let round = &view.info.round;
        let trust = format!("--server-key server.pub --receipt {round}-CLIENT.receipt.json");
        let server = server_options(&view.info, false);
        code(markup, &format!("equipoise model {server} \\\n  {trust} -o {round}"));
        markup.leaf("p", &[], "Once more at any time, offline, from the files alone:");
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

fn write_figures(markup: &mut Markup, view: &RoundView) {
    let Some(file) = &view.outcome else { return };
    let outcome = &file.outcome;
    let metrics = &outcome.root_metrics;
    let counting = outcome.clients.iter().filter(|client| client.weight > LITTLE_WEIGHT).count();
    let on_root = format!("on the {} rows of the trusted root", metrics.rows);
    let stopped = termination_label(outcome.termination);
    let clients = format!("{counting} of {}", outcome.clients.len());
    markup.element("dl", &[("class", &"figures")], |markup| {
        figure(markup, "Accuracy", &Format::Percent(1).write(metrics.accuracy), &on_root);
        let spd = Format::Fixed(3).write(metrics.spd);
        figure(markup, "Statistical parity (SPD)", &spd, "0 is equal");
        let eod = Format::Fixed(3).write(metrics.eod);
        figure(markup, "Equal opportunity (EOD)", &eod, "0 is equal");
        figure(markup, "Clients that count", &clients, "with more than 1\u{202f}% of the weight");
        figure(markup, "Solver status", stopped, "see the report for details");
    });
}

fn write_file(markup: &mut Markup, view: &RoundView, file: &PublishedFile) {
    let address = file_address(view, &file.name);
    markup.element("li", &[], |markup| {
        markup.leaf("a", &[("href", &address), ("download", &file.name)], &file.name);
        markup.text(" ");
        markup.leaf("span", &[("class", &"what")], what(&file.name));
        markup.element("div", &[("class", &"digest")], |markup| {
            markup.text("sha256 ");
            markup.leaf("code", &[], &file.sha256.to_string());
        });
    });
}

fn file_address(view: &RoundView, name: &str) -> String {
    format!("/v1/rounds/{}/files/{name}", view.info.round)
}

fn what(name: &str) -> &'static str {
    match name {
        "model.json" => "the model, with its schema",
        "outcome.json" => "weights, figures, warnings, how the solver stopped",
        "report.html" => "the report, as one page",
        "schema.toml" => "what columns mean",
        "settings.json" => "settings of the solve",
        "submissions.json" => "what each client sent, with signatures and receipts",
        "weights.csv" => "weight of each client",
        "statement.json" => "the server's signature over all files above",
        "audit.jsonl" => "the log of the round, one event a line",
        "audit-head.json" => "the server's signature over the end of the log",
        _ => "",
    }
}
