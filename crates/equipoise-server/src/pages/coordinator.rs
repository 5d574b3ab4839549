//! The coordinator's page of a round, with client names.

use equipoise_report::Markup;

use super::frame::{Frame, form, row, section, table};
use super::progress::write_progress;
use super::round::write_status;
use super::time::absolute;
use super::view::RoundView;
use crate::protocol::{ListedSubmission, RoundState};
use crate::round::{Action, ClientSummary, RefusedUpload};

pub(crate) fn coordinator(
    view: &RoundView,
    clients: &[ClientSummary],
    refused: &[RefusedUpload],
    csrf: &str,
) -> String {
    let title = format!("Coordinator's page: {}", view.info.round);
    let breadcrumbs = [("/".into(), "Rounds".into()), (view.path(), view.info.round.to_string())];
    let frame = Frame { title: &title, subtitle: "", breadcrumbs: &breadcrumbs, live: Some(view) };
    frame.render(|markup| {
        write_status(markup, view);
        write_progress(markup, &view.info);
        section(markup, "Clients", |markup| write_clients(markup, view, clients));
        section(markup, "Refused uploads", |markup| write_refused(markup, refused));
        section(markup, "Actions", |markup| write_actions(markup, view, csrf));
    })
}

fn write_clients(markup: &mut Markup, view: &RoundView, clients: &[ClientSummary]) {
    let columns = ["Client", "Submitted", "Rows", "Distinct rows", "Notes", "Key"];
    table(markup, "All clients on the roster, sorted by name.", &columns, |markup| {
        for client in clients {
            let submission = client.submission.as_ref();
            let name = client.client.as_str();
            row(
                markup,
                |markup| markup.text(name),
                |markup| {
                    let at = match submission {
                        None if matches!(view.info.state, RoundState::Draft | RoundState::Open) => {
                            "not yet".to_owned()
                        }
                        None => "no".to_owned(),
                        Some(_) => client.accepted_at.map_or("yes".to_owned(), absolute),
                    };
                    let number =
                        |value: Option<u64>| value.map_or("–".to_owned(), |n| n.to_string());
                    for text in [
                        at,
                        number(submission.map(|submission| submission.rows)),
                        number(submission.map(|submission| submission.distinct_rows)),
                        submission.map(|submission| notes(submission, clients)).unwrap_or_default(),
                    ] {
                        markup.leaf("td", &[], &text);
                    }
                    markup.element("td", &[], |markup| write_key(markup, view, client));
                },
            );
        }
    });
}

fn notes(submission: &ListedSubmission, clients: &[ClientSummary]) -> String {
    let mut notes = Vec::new();
    let others = clients.iter().filter_map(|other| other.submission.as_ref());
    let twins: Vec<&str> = others
        .filter(|other| other.client != submission.client)
        .filter(|other| other.canonical_sha256 == submission.canonical_sha256)
        .map(|other| other.client.as_str())
        .collect();
    if !twins.is_empty() {
        notes.push(format!("same rows as {}", twins.join(", ")));
    }
    if submission.distinct_rows * 2 < submission.rows {
        notes.push("most rows are duplicates".to_owned());
    }
    notes.join("; ")
}

fn write_key(markup: &mut Markup, view: &RoundView, client: &ClientSummary) {
    let revoke = Action::Revoke(client.client.clone());
    if let Some(at) = client.revoked_at {
        markup.text(&format!("revoked {}", absolute(at)));
    } else if revoke.is_possible(&view.info) {
        let path = format!("{}/coordinator/{}", view.path(), revoke.path());
        markup.leaf("a", &[("href", &path)], "Revoke…");
    } else {
        markup.text("valid");
    }
}

fn write_refused(markup: &mut Markup, refused: &[RefusedUpload]) {
    if refused.is_empty() {
        return markup.leaf("p", &[], "None since the server started.");
    }
    let caption = "Recent refused uploads since the server started, newest first.";
    table(markup, caption, &["Client", "Time", "Error code"], |markup| {
        for upload in refused {
            row(
                markup,
                |markup| markup.text(upload.client.as_str()),
                |markup| {
                    markup.leaf("td", &[], &absolute(upload.at));
                    markup.element("td", &[], |markup| markup.leaf("code", &[], upload.code));
                },
            );
        }
    });
}

fn write_actions(markup: &mut Markup, view: &RoundView, csrf: &str) {
    let coordinator = format!("{}/coordinator", view.path());
    let actions = [
        (Action::Open, "Open…", "button"),
        (Action::Close, "Close and solve…", "button"),
        (Action::Abort, "Abort…", "button second"),
    ];
    markup.element("p", &[("class", &"buttons")], |markup| {
        for (action, label, class) in actions {
            if action.is_possible(&view.info) {
                let path = format!("{coordinator}/{}", action.path());
                markup.leaf("a", &[("href", &path), ("class", &class)], label);
                markup.text(" ");
            }
        }
    });
    if view.info.state == RoundState::Open && !Action::Close.is_possible(&view.info) {
        let text = match view.info.minimum {
            1 => "The round can be closed once a client has submitted.".to_owned(),
            minimum => format!("The round can be closed once {minimum} clients have submitted."),
        };
        markup.leaf("p", &[("class", &"note")], &text);
    }
    let target = format!("{coordinator}/logout");
    form(markup, &target, csrf, ("Log out", "second"), |_| {});
}
