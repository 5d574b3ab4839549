//! A refusal, for those who read pages.

use super::frame::{Frame, section};
use crate::protocol::Refusal;

/// The page.
pub(crate) fn refusal(refusal: &Refusal) -> String {
    let frame = Frame {
        title: "That did not work",
        subtitle: "",
        way: &[("/".into(), "Rounds".into())],
        live: None,
    };
    frame.render(|markup| {
        section(markup, "Why", |markup| {
            let mut text = refusal.to_string();
            if let Some(first) = text.get_mut(0..1) {
                first.make_ascii_uppercase();
            }
            markup.leaf("p", &[("class", &"lead")], &format!("{text}."));
            if let Some(hint) = refusal.hint() {
                markup.leaf("p", &[], &format!("What to do: {hint}."));
            }
            markup.element("p", &[("class", &"note")], |markup| {
                markup.text("Code: ");
                markup.leaf("code", &[], refusal.code());
            });
        });
    })
}
