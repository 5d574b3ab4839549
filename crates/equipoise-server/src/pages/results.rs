//! The results of a published round: key figures, files and verification.

use equipoise_core::{Estimate, Requirement};
use equipoise_report::{Format, Markup, answer, count, root_figures, termination_label};

use super::frame::{code, figure, section};
use super::participation::server_options;
use super::view::RoundView;
use crate::round::PublishedFile;

/// A weight up to this is negligible.
const NEGLIGIBLE_WEIGHT: f64 = 0.01;

pub(super) fn write_results(markup: &mut Markup, view: &RoundView) {
    if view.files.is_empty() {
        return;
    }
    section(markup, "Results", |markup| {
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
    let Some(file) = &view.outcome else { return };
    let outcome = &file.outcome;
    let metrics = &outcome.root_metrics;
    answer(outcome).write(markup);
    let weighted = outcome.clients.iter().filter(|c| c.weight > NEGLIGIBLE_WEIGHT).count();
    let on_root = format!("on the {} rows of the trusted root", count(metrics.rows));
    let stopped = termination_label(outcome.termination);
    let clients = format!("{weighted} of {}", outcome.clients.len());
    let share = |estimate: Option<Estimate>| Format::Percent(1).write_estimate(estimate);
    markup.element("dl", &[("class", &"figures")], |markup| {
        for required in root_figures(outcome) {
            figure(markup, &required.label, &required.value, &required.note);
        }
        let is_required = |r| outcome.judgements.iter().any(|j| j.requirement == r);
        if !is_required(Requirement::Gap) {
            let gap = metrics.gap(outcome.settings.fairness);
            let value = share(gap.map(|gap| gap.estimate().abs()));
            figure(markup, "Largest gap between groups", &value, &on_root);
        }
        if !is_required(Requirement::Accuracy) {
            figure(markup, "Correct decisions", &share(metrics.accuracy), &on_root);
        }
        figure(markup, "Clients in the model", &clients, "with more than 1\u{202f}% of the weight");
        figure(markup, "Solver", stopped, "the report has details");
    });
    let n_warnings = outcome.warnings.len();
    if n_warnings > 0 {
        let text = match n_warnings {
            1 => "There is a warning about this result: read the report.".to_owned(),
            n => format!("There are {n} warnings about this result: read the report."),
        };
        markup.leaf("p", &[("class", &"notice warning"), ("role", &"note")], &text);
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
