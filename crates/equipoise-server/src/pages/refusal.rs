//! A refusal as a page.

use super::frame::{Frame, section};
use crate::protocol::Refusal;

pub(crate) fn refusal(refusal: &Refusal) -> String {
    let frame = Frame {
        title: "Request refused",
        subtitle: "",
        breadcrumbs: &[("/".into(), "Rounds".into())],
        live: None,
    };
    frame.render(|markup| {
        section(markup, "Reason", |markup| {
            let mut text = refusal.to_string();
            if let Some(first) = text.get_mut(0..1) {
                first.make_ascii_uppercase();
            }
            markup.element("p", &[("class", &"lead")], |markup| {
                markup.text_with_names(&format!("{text}."));
            });
            if let Some(hint) = refusal.hint() {
                markup.element("p", &[], |markup| {
                    markup.text_with_names(&format!("What to do: {hint}."));
                });
            }
            markup.element("p", &[("class", &"note")], |markup| {
                markup.text("Error code: ");
                markup.leaf("code", &[], refusal.code());
            });
        });
    })
}
