//! The coordinator's page of a round, with client names.

use equipoise_report::Markup;

use super::frame::{Frame, cell, form, row, section, table, text_cell};
use super::numbers::grouped;
use super::progress::write_progress;
use super::round::write_status;
use super::time::absolute;
use super::view::RoundView;
use crate::protocol::{ClientStatus, RoundState};
use crate::round::{Action, RefusedUpload};

pub(crate) fn coordinator(
    view: &RoundView,
    clients: &[ClientStatus],
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

fn write_clients(markup: &mut Markup, view: &RoundView, clients: &[ClientStatus]) {
    let columns = ["Client", "Submitted", "Rows", "Distinct rows", "Notes", "Key"];
    table(markup, "All clients on the roster, sorted by name.", &columns, |markup| {
        for client in clients {
            let number = |value: Option<u64>| value.map_or("–".to_owned(), grouped);
            row(
                markup,
                |markup| markup.text(client.client.as_str()),
                |markup| {
                    for (column, text) in [
                        ("Submitted", submitted(view, client)),
                        ("Rows", number(client.rows)),
                        ("Distinct rows", number(client.distinct_rows)),
                        ("Notes", client.notes.join("; ")),
                    ] {
                        text_cell(markup, column, &text);
                    }
                    cell(markup, "Key", |markup| write_key(markup, view, client));
                },
            );
        }
    });
}

fn submitted(view: &RoundView, client: &ClientStatus) -> String {
    match client.accepted_at {
        Some(at) => absolute(at),
        None if client.submitted => "yes".to_owned(),
        None if matches!(view.info.state, RoundState::Draft | RoundState::Open) => {
            "not yet".to_owned()
        }
        None => "no".to_owned(),
    }
}

fn write_key(markup: &mut Markup, view: &RoundView, client: &ClientStatus) {
    let revoke = Action::Revoke(client.client.clone());
    if let Some(at) = client.revoked_at {
        markup.text(&format!("revoked {}", absolute(at)));
    } else if revoke.is_possible(&view.info) {
        markup.text("valid · ");
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
                    text_cell(markup, "Time", &absolute(upload.at));
                    cell(markup, "Error code", |markup| markup.leaf("code", &[], upload.code));
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
        (Action::Abort(None), "Abort…", "button second"),
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
