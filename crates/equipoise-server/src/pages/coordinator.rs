//! The coordinator's view of a round: with names.

use equipoise_report::Markup;

use super::frame::{Frame, section, table};
use super::progress::write_progress;
use super::round::write_state;
use super::time::absolute;
use super::view::{Action, ClientView, RefusedUpload, RoundView, SubmissionView};

/// The page; its forms carry the session's own word.
pub(crate) fn coordinator(
    view: &RoundView,
    clients: &[ClientView],
    refused: &[RefusedUpload],
    csrf: &str,
) -> String {
    let title = format!("Coordinator of {}", view.info.round);
    let way = [("/".into(), "Rounds".into()), (view.address(), view.info.round.to_string())];
    let frame = Frame { title: &title, subtitle: "", way: &way, live: Some(view) };
    frame.render(|markup| {
        write_state(markup, view);
        write_progress(markup, &view.info);
        section(markup, "Clients", |markup| write_clients(markup, view, clients));
        section(markup, "Refused uploads", |markup| write_refused(markup, refused));
        section(markup, "Actions", |markup| write_actions(markup, view, csrf));
    })
}

fn write_clients(markup: &mut Markup, view: &RoundView, clients: &[ClientView]) {
    let columns = ["Client", "Submitted", "Rows", "Different", "To know", "Key"];
    table(markup, "All clients of the roster, sorted by name.", &columns, |markup| {
        for client in clients {
            markup.element("tr", &[], |markup| {
                let name = client.client.as_str();
                markup.leaf("th", &[("scope", &"row"), ("class", &"left")], name);
                let sent = client.submission.as_ref();
                let at = match sent {
                    None => "not yet".to_owned(),
                    Some(sent) => sent.at.map_or("yes".to_owned(), absolute),
                };
                let number = |value: Option<u64>| value.map_or("–".to_owned(), |n| n.to_string());
                for text in [
                    at,
                    number(sent.map(|sent| sent.rows)),
                    number(sent.map(|sent| sent.distinct_rows)),
                    sent.map(to_know).unwrap_or_default(),
                ] {
                    markup.leaf("td", &[], &text);
                }
                markup.element("td", &[], |markup| write_key(markup, view, client));
            });
        }
    });
}

fn to_know(sent: &SubmissionView) -> String {
    let mut notes = Vec::new();
    if !sent.same_table_as.is_empty() {
        let names: Vec<&str> = sent.same_table_as.iter().map(|name| name.as_str()).collect();
        notes.push(format!("same rows as {}", names.join(", ")));
    }
    if sent.distinct_rows * 2 < sent.rows {
        notes.push("most rows are repeated".to_owned());
    }
    notes.join("; ")
}

fn write_key(markup: &mut Markup, view: &RoundView, client: &ClientView) {
    let revoke = Action::Revoke(client.client.clone());
    if let Some(at) = &client.revoked_at {
        let at = at.parse().map_or_else(|_| at.clone(), absolute);
        markup.text(&format!("revoked {at}"));
    } else if revoke.is_possible(&view.info) {
        let address = format!("{}/coordinator/{}", view.address(), revoke.path());
        markup.leaf("a", &[("href", &address)], "Revoke…");
    } else {
        markup.text("valid");
    }
}

fn write_refused(markup: &mut Markup, refused: &[RefusedUpload]) {
    if refused.is_empty() {
        return markup.leaf("p", &[], "None since the server started.");
    }
    let caption = "The last ones since the server started, latest first.";
    table(markup, caption, &["Client", "When", "Code"], |markup| {
        for upload in refused {
            markup.element("tr", &[], |markup| {
                let name = upload.client.as_str();
                markup.leaf("th", &[("scope", &"row"), ("class", &"left")], name);
                markup.leaf("td", &[], &absolute(upload.at));
                markup.element("td", &[], |markup| markup.leaf("code", &[], upload.code));
            });
        }
    });
}

fn write_actions(markup: &mut Markup, view: &RoundView, csrf: &str) {
    let coordinator = format!("{}/coordinator", view.address());
    let actions = [
        (Action::Open, "Open…", "button"),
        (Action::Close, "Close and solve…", "button"),
        (Action::Abort, "Abort…", "button second"),
    ];
    markup.element("p", &[("class", &"buttons")], |markup| {
        for (action, words, class) in actions {
            if action.is_possible(&view.info) {
                let address = format!("{coordinator}/{}", action.path());
                markup.leaf("a", &[("href", &address), ("class", &class)], words);
                markup.text(" ");
            }
        }
    });
    if !Action::Close.is_possible(&view.info)
        && view.info.state == crate::protocol::RoundState::Open
    {
        let text = format!("The round can be closed once {} have submitted.", view.info.minimum);
        markup.leaf("p", &[("class", &"note")], &text);
    }
    let target = format!("{coordinator}/logout");
    markup.element("form", &[("method", &"post"), ("action", &target)], |markup| {
        let field: equipoise_report::Attributes<'_> =
            &[("type", &"hidden"), ("name", &"csrf"), ("value", &csrf)];
        markup.empty("input", field);
        markup.leaf("button", &[("type", &"submit"), ("class", &"second")], "Log out");
    });
}
