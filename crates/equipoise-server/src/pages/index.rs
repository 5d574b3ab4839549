//! The rounds of a server.

use jiff::Timestamp;

use super::frame::{Frame, section, table};
use super::time::{absolute, relative};
use super::view::address;
use crate::protocol::RoundInfo;

/// The page, at this time.
pub(crate) fn index(rounds: &[RoundInfo], now: Timestamp) -> String {
    let frame = Frame { title: "Rounds", subtitle: "of this server", way: &[], live: None };
    frame.render(|markup| {
        section(markup, "All rounds", |markup| {
            if rounds.is_empty() {
                let text = "There is no round yet. `equipoise round new` sets one up.";
                return markup.leaf("p", &[], text);
            }
            let columns = ["Round", "State", "Submitted", "Deadline"];
            table(markup, "Rounds, sorted by name.", &columns, |markup| {
                for info in rounds {
                    let deadline = info.deadline.map_or("none".to_owned(), |at| {
                        format!("{} ({})", absolute(at), relative(now, at))
                    });
                    markup.element("tr", &[], |markup| {
                        markup.element("th", &[("scope", &"row"), ("class", &"left")], |markup| {
                            let address = address(&info.round);
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
