//! The coordinator's login form.

use super::frame::{Frame, section, warning};
use super::view::path;
use crate::protocol::{Refusal, RoundId};

/// The page, with the refusal of a failed attempt.
pub(crate) fn login(round: &RoundId, refusal: Option<&Refusal>) -> String {
    let breadcrumbs = [("/".into(), "Rounds".into()), (path(round), round.to_string())];
    let title = format!("Coordinator's page: {round}");
    let frame = Frame { title: &title, subtitle: "", breadcrumbs: &breadcrumbs, live: None };
    frame.render(|markup| {
        section(markup, "Log in", |markup| {
            match refusal {
                Some(Refusal::TooManyFailures) => {
                    warning(markup, "Too many attempts.", "Wait a minute, then try again.");
                }
                Some(_) => {
                    warning(markup, "Wrong token.", "Copy the whole line from the token file.")
                }
                None => {}
            }
            markup.element("p", &[], |markup| {
                markup.text("Paste the token from the file that ");
                markup.leaf("code", &[], "equipoise round new");
                markup.text(" wrote when the round was set up.");
            });
            let action = format!("{}/coordinator/login", path(round));
            markup.element("form", &[("method", &"post"), ("action", &action)], |markup| {
                markup.leaf("label", &[("for", &"token")], "Token");
                markup.empty(
                    "input",
                    &[
                        ("id", &"token"),
                        ("name", &"token"),
                        ("type", &"password"),
                        ("autocomplete", &"off"),
                        ("required", &""),
                    ],
                );
                markup.leaf("button", &[("type", &"submit")], "Log in");
            });
        });
    })
}
