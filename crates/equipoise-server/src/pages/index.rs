//! The list of rounds.

use jiff::Timestamp;

use super::frame::{Frame, row, section, table, text_cell};
use super::time::{absolute, relative};
use super::view::path;
use crate::protocol::RoundInfo;

pub(crate) fn index(rounds: &[RoundInfo], now: Timestamp) -> String {
    let frame = Frame { title: "Rounds", subtitle: "on this server", breadcrumbs: &[], live: None };
    frame.render(|markup| {
        section(markup, "All rounds", |markup| {
            if rounds.is_empty() {
                return markup.element("p", &[], |markup| {
                    markup.text("There are no rounds yet. Set one up with ");
                    markup.leaf("code", &[], "equipoise round new");
                    markup.text(".");
                });
            }
            let columns = ["Round", "State", "Submissions", "Deadline"];
            table(markup, "Rounds, sorted by name.", &columns, |markup| {
                for info in rounds {
                    let name = info.round.as_str();
                    let link = |markup: &mut equipoise_report::Markup| {
                        markup.leaf("a", &[("href", &path(&info.round))], name);
                    };
                    row(markup, link, |markup| {
                        text_cell(markup, "State", info.state.name());
                        let submitted = format!("{} of {}", info.n_submissions, info.n_clients);
                        text_cell(markup, "Submissions", &submitted);
                        let deadline = info.deadline.map_or("none".to_owned(), |at| {
                            format!("{} ({})", absolute(at), relative(now, at))
                        });
                        text_cell(markup, "Deadline", &deadline);
                    });
                }
            });
        });
    })
}
