//! The page of a round for everyone.

use equipoise_core::{Criterion, Fairness};
use equipoise_report::Markup;

use super::frame::{Frame, figure, section, table};
use super::participation::write_participation;
use super::progress::write_progress;
use super::results::write_results;
use super::steps::write_steps;
use super::time::{absolute, relative};
use super::view::RoundView;

/// The page.
pub(crate) fn round(view: &RoundView) -> String {
    let title = format!("Round {}", view.info.round);
    let frame = Frame {
        title: &title,
        subtitle: &format!("A round of {}", view.info.audience),
        way: &[("/".into(), "Rounds".into())],
        live: Some(view),
    };
    frame.render(|markup| {
        write_state(markup, view);
        write_progress(markup, &view.info);
        write_results(markup, view);
        write_participation(markup, view);
        write_problems(markup, view);
        write_agreement(markup, view);
        markup.element("p", &[("class", &"aside")], |markup| {
            let address = format!("{}/coordinator", view.address());
            markup.leaf("a", &[("href", &address)], "Coordinator's view");
        });
    })
}

/// State and key figures, for everyone and for the coordinator alike.
pub(super) fn write_state(markup: &mut Markup, view: &RoundView) {
    let info = &view.info;
    section(markup, "State", |markup| {
        write_steps(markup, info);
        markup.element("dl", &[("class", &"figures")], |markup| {
            let submitted = format!("{} of {}", info.n_submissions, info.n_clients);
            let needed = format!("at least {} are needed", info.minimum);
            figure(markup, "Clients that have submitted", &submitted, &needed);
            match info.deadline {
                Some(at) => write_deadline(markup, view, at),
                None => figure(
                    markup,
                    "Deadline",
                    "none",
                    "closes when all have submitted, or when the coordinator says so",
                ),
            }
            let (criterion, meaning) = fairness(view.fairness);
            figure(markup, "Fairness asked for", criterion, meaning);
        });
    });
}

fn write_deadline(markup: &mut Markup, view: &RoundView, at: jiff::Timestamp) {
    markup.element("div", &[], |markup| {
        markup.leaf("dt", &[], "Deadline");
        let time: equipoise_report::Attributes<'_> = &[("datetime", &at), ("data-relative", &"")];
        markup.element("dd", &[("class", &"value")], |markup| {
            markup.leaf("time", time, &relative(view.now, at));
        });
        markup.leaf("dd", &[("class", &"note")], &absolute(at));
    });
}

fn write_problems(markup: &mut Markup, view: &RoundView) {
    if view.info.refused.is_empty() {
        return;
    }
    section(markup, "Refused uploads", |markup| {
        let caption = "Uploads that were refused since the server started. Nothing of them was accepted, and \
                       their clients can send again.";
        table(markup, caption, &["Code", "Times"], |markup| {
            for (code, times) in &view.info.refused {
                markup.element("tr", &[], |markup| {
                    markup.leaf("th", &[("scope", &"row"), ("class", &"left")], code);
                    markup.leaf("td", &[("class", &"left")], &times.to_string());
                });
            }
        });
    });
}

fn write_agreement(markup: &mut Markup, view: &RoundView) {
    let info = &view.info;
    section(markup, "What was agreed", |markup| {
        markup.element("dl", &[("class", &"facts")], |markup| {
            for (name, value) in [
                ("Server", info.audience.clone()),
                ("Schema, sha256", info.schema_sha256.to_string()),
                ("Server's public key", info.server_key.to_string()),
            ] {
                markup.leaf("dt", &[], name);
                markup.element("dd", &[], |markup| markup.leaf("code", &[], &value));
            }
        });
        markup.leaf(
            "p",
            &[("class", &"note")],
            "Compare schema and key with what the coordinator gave you in another way than by this page.",
        );
    });
}

fn fairness(fairness: Fairness) -> (&'static str, &'static str) {
    match fairness.criterion() {
        Criterion::Sp => ("Statistical parity", "both groups are selected equally often"),
        Criterion::Eo => {
            ("Equal opportunity", "deserving rows of both groups are selected equally often")
        }
        Criterion::Both => ("Parity and opportunity", "statistical parity and equal opportunity"),
    }
}
