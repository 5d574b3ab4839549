//! Where the coordinator shows the token.

use super::frame::{Frame, section, warning};
use crate::protocol::{Name, Refusal};

/// The page, with what was wrong with an earlier try.
pub(crate) fn login(round: &Name, refusal: Option<&Refusal>) -> String {
    let address = format!("/rounds/{round}");
    let way = [("/".into(), "Rounds".into()), (address.clone(), round.to_string())];
    let title = format!("Coordinator of {round}");
    let frame = Frame { title: &title, subtitle: "", way: &way, live: None };
    frame.render(|markup| {
        section(markup, "Log in", |markup| {
            match refusal {
                Some(Refusal::TooManyFailures { .. }) => {
                    warning(markup, "Too many tries.", "Wait a minute, then try again.");
                }
                Some(_) => {
                    warning(markup, "Not the token.", "Copy the whole line of the token's file.")
                }
                None => {}
            }
            markup.leaf(
                "p",
                &[],
                "The token was written when the round was set up by `equipoise round new`.",
            );
            let action = format!("{address}/coordinator/login");
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
