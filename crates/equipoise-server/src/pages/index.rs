//! The rounds of a server.

use super::frame::{Frame, section, table};
use super::time::{absolute, relative};
use super::view::RoundView;

/// The page.
pub(crate) fn index(rounds: &[RoundView]) -> String {
    let frame = Frame { title: "Rounds", subtitle: "of this server", way: &[], live: None };
    frame.render(|markup| {
        section(markup, "All rounds", |markup| {
            if rounds.is_empty() {
                let text = "There is no round yet. `equipoise round new` sets one up.";
                return markup.leaf("p", &[], text);
            }
            let columns = ["Round", "State", "Submitted", "Deadline"];
            table(markup, "Rounds, sorted by name.", &columns, |markup| {
                for view in rounds {
                    let info = &view.info;
                    let deadline = info.deadline.map_or("none".to_owned(), |at| {
                        format!("{} ({})", absolute(at), relative(view.now, at))
                    });
                    markup.element("tr", &[], |markup| {
                        markup.element("th", &[("scope", &"row"), ("class", &"left")], |markup| {
                            let address = view.address();
                            markup.leaf("a", &[("href", &address)], info.round.as_str());
                        });
                        markup.leaf("td", &[], info.state.name());
                        let submitted = format!("{} of {}", info.n_submissions, info.n_clients);
                        markup.leaf("td", &[], &submitted);
                        markup.leaf("td", &[], &deadline);
                    });
                }
            });
        });
    })
}
