//! "Are you sure?", as a page, so that it works without scripts.

use super::frame::{Frame, section};
use super::view::{Action, address};
use crate::protocol::RoundInfo;

/// The page; its form carries the session's own word.
pub(crate) fn confirmation(info: &RoundInfo, action: &Action, csrf: &str) -> String {
    let page = address(&info.round);
    let coordinator = format!("{page}/coordinator");
    let way = [
        ("/".into(), "Rounds".into()),
        (page, info.round.to_string()),
        (coordinator.clone(), "Coordinator".into()),
    ];
    let round = &info.round;
    let missing = info.n_clients.saturating_sub(info.n_submissions);
    let (title, words, button) = match action {
        Action::Open => (
            format!("Open {round}?"),
            "Clients can submit from then on, and the roster is fixed.".to_owned(),
            "Open the round",
        ),
        Action::Close => (
            format!("Close {round}?"),
            format!(
                "{} of {} clients have submitted; the other {missing} cannot any more and will be named in \
                 the outcome. The solve begins at once. A closed round cannot be opened again.",
                info.n_submissions, info.n_clients
            ),
            "Close the round",
        ),
        Action::Abort => (
            format!("Abort {round}?"),
            "The round ends without a model, whatever was submitted. This cannot be undone."
                .to_owned(),
            "Abort the round",
        ),
        Action::Revoke(client) => (
            format!("Revoke the key of {client}?"),
            format!(
                "{client} cannot submit any more. What it has submitted before stays. This cannot be undone."
            ),
            "Revoke the key",
        ),
    };
    let danger = if *action == Action::Open { "" } else { "danger" };
    let frame = Frame { title: &title, subtitle: "", way: &way, live: None };
    frame.render(|markup| {
        section(markup, "What will happen", |markup| {
            markup.leaf("p", &[("class", &"lead")], &words);
            let target = format!("{coordinator}/{}", action.path());
            markup.element("form", &[("method", &"post"), ("action", &target)], |markup| {
                let field: equipoise_report::Attributes<'_> =
                    &[("type", &"hidden"), ("name", &"csrf"), ("value", &csrf)];
                markup.empty("input", field);
                markup.leaf("button", &[("type", &"submit"), ("class", &danger)], button);
                markup.text(" ");
                markup.leaf(
                    "a",
                    &[("href", &coordinator), ("class", &"button second")],
                    "No, go back",
                );
            });
        });
    })
}
