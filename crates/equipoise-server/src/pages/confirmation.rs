//! The confirmation of an action, as a page that works without scripts.

use super::frame::{Frame, form_with, section};
use super::view::path;
use crate::protocol::RoundInfo;
use crate::round::Action;

pub(crate) fn confirmation(info: &RoundInfo, action: &Action, csrf: &str) -> String {
    let round = &info.round;
    let coordinator = format!("{}/coordinator", path(round));
    let breadcrumbs = [
        ("/".into(), "Rounds".into()),
        (path(round), round.to_string()),
        (coordinator.clone(), "Coordinator".into()),
    ];
    let (title, consequences, button) = match action {
        Action::Open => (
            format!("Open {round}?"),
            "Clients will be able to submit. The roster cannot be changed.".to_owned(),
            "Open the round",
        ),
        Action::Close => (
            format!("Close {round}?"),
            format!(
                "Submissions: {} of {} clients. The others will no longer be able to submit, and the outcome \
                 will name them. Solving starts immediately. A closed round cannot be reopened.",
                info.n_submissions, info.n_clients
            ),
            "Close the round",
        ),
        Action::Abort(_) => (
            format!("Abort {round}?"),
            "The round will end without a model, and its submissions will not be used. This cannot be undone."
                .to_owned(),
            "Abort the round",
        ),
        Action::Revoke(client) => (
            format!("Revoke the key of {client}?"),
            format!(
                "{client} will no longer be able to submit. An earlier submission stays in the round. This \
                 cannot be undone."
            ),
            "Revoke the key",
        ),
    };
    let class = if *action == Action::Open { "" } else { "danger" };
    let frame = Frame { title: &title, subtitle: "", breadcrumbs: &breadcrumbs, live: None };
    frame.render(|markup| {
        section(markup, "Consequences", |markup| {
            markup.leaf("p", &[("class", &"lead")], &consequences);
            let target = format!("{coordinator}/{}", action.path());
            let write_fields = |markup: &mut equipoise_report::Markup| {
                if matches!(action, Action::Abort(_)) {
                    markup.leaf("label", &[("for", &"reason")], "Reason, which everyone can read");
                    let name: equipoise_report::Attributes<'_> =
                        &[("id", &"reason"), ("name", &"reason"), ("maxlength", &"500")];
                    markup.empty("input", name);
                }
            };
            form_with(markup, &target, csrf, write_fields, (button, class), |markup| {
                markup.text(" ");
                let cancel: equipoise_report::Attributes<'_> =
                    &[("href", &coordinator), ("class", &"button second")];
                markup.leaf("a", cancel, "Cancel");
            });
        });
    })
}
