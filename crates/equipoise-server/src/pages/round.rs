//! The public page of a round.

use equipoise_report::Markup;
use jiff::Timestamp;

use super::frame::{Frame, figure, row, section, table, text_cell};
use super::numbers::grouped;
use super::participation::write_participation;
use super::progress::write_progress;
use super::results::write_results;
use super::steps::write_steps;
use super::terms::{fairness, write_terms};
use super::time::{absolute, relative};
use super::view::RoundView;
use crate::protocol::{ClientId, RoundState};

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
        write_terms(markup, view);
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
        write_steps(markup, view);
        markup.element("dl", &[("class", &"figures")], |markup| {
            let submitted = format!("{} of {}", info.n_submissions, info.n_clients);
            figure(markup, "Submissions", &submitted, &submissions_note(view));
            write_dates(markup, view);
            let (criterion, meaning) = fairness(view.spec.settings.fairness);
            figure(markup, "Fairness criterion", &criterion, &meaning);
        });
    });
}

/// How many submissions are required, or who is absent. Names are public only after publication.
fn submissions_note(view: &RoundView) -> String {
    match &view.history.closed {
        None if view.info.state.is_final() => "not used".to_owned(),
        None => format!("at least {} required", view.info.minimum),
        Some((_, absent)) if absent.is_empty() => "every client submitted".to_owned(),
        Some((_, absent)) if view.info.state == RoundState::Published => {
            let names: Vec<&str> = absent.iter().map(ClientId::as_str).collect();
            format!("absent: {}", names.join(", "))
        }
        Some((_, absent)) => format!("absent: {}", absent.len()),
    }
}

/// When the round will close, or when it closed and ended.
fn write_dates(markup: &mut Markup, view: &RoundView) {
    let (info, history) = (&view.info, &view.history);
    if matches!(info.state, RoundState::Draft | RoundState::Open) {
        return match info.deadline {
            Some(at) => write_time(markup, view, "Deadline", at, ""),
            None => figure(
                markup,
                "Deadline",
                "none",
                "the round closes when every client has submitted or the coordinator closes it",
            ),
        };
    }
    if let (Some(at), Some((by, _))) = (history.reached(RoundState::Closed), &history.closed) {
        write_time(markup, view, "Closed", at, &format!("{by}"));
    }
    let ends = [
        (RoundState::Published, "Published"),
        (RoundState::Failed, "Failed"),
        (RoundState::Aborted, "Aborted"),
    ];
    for (state, label) in ends {
        if let Some(at) = history.reached(state) {
            write_time(markup, view, label, at, "");
        }
    }
}

fn write_time(markup: &mut Markup, view: &RoundView, label: &str, at: Timestamp, why: &str) {
    markup.element("div", &[], |markup| {
        markup.leaf("dt", &[], label);
        markup.element("dd", &[("class", &"value")], |markup| {
            let time = relative(view.now, at);
            markup.leaf("time", &[("datetime", &at), ("data-relative", &"")], &time);
        });
        let note = if why.is_empty() { absolute(at) } else { format!("{}, {why}", absolute(at)) };
        markup.leaf("dd", &[("class", &"note")], &note);
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
