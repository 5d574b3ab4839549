//! Progress of a solve.

use equipoise_report::{Format, Markup, count};

use super::frame::section;
use crate::protocol::{RoundInfo, RoundState};

/// Shown while a solve runs. `round.js` updates the elements with `data-live`.
pub(super) fn write_progress(markup: &mut Markup, info: &RoundInfo) {
    if info.state != RoundState::Solving {
        return;
    }
    let progress = info.progress;
    let number = |value: Option<f64>| Format::Auto.write(value);
    section(markup, "Progress", |markup| {
        let (done, of) = progress.map_or((0, 1), |progress| (progress.done, progress.of.max(1)));
        let bar: equipoise_report::Attributes<'_> = &[
            ("value", &done),
            ("max", &of),
            ("data-live", &"bar"),
            ("aria-label", &"Solver steps"),
        ];
        markup.leaf("progress", bar, "");
        markup.element("dl", &[("class", &"figures four")], |markup| {
            let steps = progress
                .map_or("starting".to_owned(), |p| format!("{} of {}", count(p.done), count(p.of)));
            let tiles = [
                ("Step", "step", steps, "the maximum; the solver stops early if it converges"),
                ("Penalty ρ", "rho", number(progress.map(|p| p.rho)), "weight of the violation"),
                (
                    "Objective",
                    "objective",
                    number(progress.map(|p| p.objective)),
                    "root loss plus penalty",
                ),
                (
                    "Violation",
                    "violation",
                    number(progress.map(|p| p.violation)),
                    "of the fairness criterion, on the root",
                ),
            ];
            for (label, live, value, note) in tiles {
                markup.element("div", &[], |markup| {
                    markup.leaf("dt", &[], label);
                    markup.leaf("dd", &[("class", &"value"), ("data-live", &live)], &value);
                    markup.leaf("dd", &[("class", &"note")], note);
                });
            }
        });
    });
}
