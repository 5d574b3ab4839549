//! The public page of a round.

use equipoise_core::Fairness;
use equipoise_report::Markup;

use super::frame::{Frame, figure, row, section, table, text_cell};
use super::numbers::grouped;
use super::participation::write_participation;
use super::progress::write_progress;
use super::results::write_results;
use super::steps::write_steps;
use super::time::{absolute, relative};
use super::view::RoundView;

pub(crate) fn round(view: &RoundView) -> String {
    let title = format!("Round {}", view.info.round);
    let frame = Frame {
        title: &title,
        subtitle: &format!("on {}", view.info.audience),
        breadcrumbs: &[("/".into(), "Rounds".into())],
        live: Some(view),
    };
    frame.render(|markup| {
        write_status(markup, view);
        write_progress(markup, &view.info);
        write_results(markup, view);
        write_participation(markup, view);
        write_refused_uploads(markup, view);
        write_details(markup, view);
        markup.element("p", &[("class", &"aside")], |markup| {
            let path = format!("{}/coordinator", view.path());
            markup.leaf("a", &[("href", &path)], "Coordinator's page");
        });
    })
}

/// State and key figures, also for the coordinator's page.
pub(super) fn write_status(markup: &mut Markup, view: &RoundView) {
    let info = &view.info;
    section(markup, "Status", |markup| {
        write_steps(markup, info);
        markup.element("dl", &[("class", &"figures")], |markup| {
            let submitted = format!("{} of {}", info.n_submissions, info.n_clients);
            let required = format!("at least {} required", info.minimum);
            figure(markup, "Submissions", &submitted, &required);
            match info.deadline {
                Some(at) => write_deadline(markup, view, at),
                None => figure(
                    markup,
                    "Deadline",
                    "none",
                    "the round closes when every client has submitted or the coordinator closes it",
                ),
            }
            let (criterion, meaning) = fairness(view.fairness);
            let (criterion, meaning) = (criterion.as_str(), meaning.as_str());
            figure(markup, "Fairness criterion", criterion, meaning);
        });
    });
}

fn write_deadline(markup: &mut Markup, view: &RoundView, at: jiff::Timestamp) {
    markup.element("div", &[], |markup| {
        markup.leaf("dt", &[], "Deadline");
        markup.element("dd", &[("class", &"value")], |markup| {
            let time = relative(view.now, at);
            markup.leaf("time", &[("datetime", &at), ("data-relative", &"")], &time);
        });
        markup.leaf("dd", &[("class", &"note")], &absolute(at));
    });
}

fn write_refused_uploads(markup: &mut Markup, view: &RoundView) {
    if view.info.refused.is_empty() {
        return;
    }
    section(markup, "Refused uploads", |markup| {
        let caption = "Uploads refused since the server started.";
        table(markup, caption, &["Error code", "Count"], |markup| {
            for (code, count) in &view.info.refused {
                row(
                    markup,
                    |markup| markup.leaf("code", &[], code),
                    |markup| {
                        text_cell(markup, "Count", &grouped(*count));
                    },
                );
            }
        });
    });
}

fn write_details(markup: &mut Markup, view: &RoundView) {
    let info = &view.info;
    section(markup, "Round details", |markup| {
        markup.element("dl", &[("class", &"facts")], |markup| {
            for (name, value) in [
                ("Server", info.audience.clone()),
                ("Digest of the schema", info.schema_sha256.to_string()),
                ("Server's public key", info.server_key.to_string()),
            ] {
                markup.leaf("dt", &[], name);
                markup.element("dd", &[], |markup| markup.leaf("code", &[], &value));
            }
        });
        let note = "Compare the digest and the key with the ones the coordinator gave you through another channel.";
        markup.leaf("p", &[("class", &"note")], note);
        markup.element("p", &[("class", &"note")], |markup| {
            markup.text("The digest of the schema is that of its content, as ");
            markup.leaf("code", &[], "equipoise schema show");
            markup.text(" prints it, however the file is formatted. It is therefore not the SHA-256 of the file ");
            markup.leaf("code", &[], "schema.toml");
            markup.text(".");
        });
    });
}

fn fairness(fairness: Fairness) -> (String, String) {
    let rates: Vec<String> = fairness
        .conditions()
        .map(|(condition, _)| format!("equal {}s", condition.rate_name()))
        .collect();
    (capitalised(&fairness.to_string()), format!("{} in all groups", rates.join(" and ")))
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}
