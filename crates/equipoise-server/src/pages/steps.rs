//! The state of a round as a line of steps, and in a sentence.

use equipoise_report::Markup;

use super::frame::warning;
use crate::protocol::{RoundInfo, RoundState};

const WAY: [RoundState; 5] = [
    RoundState::Draft,
    RoundState::Open,
    RoundState::Closed,
    RoundState::Solving,
    RoundState::Published,
];

pub(super) fn write_steps(markup: &mut Markup, info: &RoundInfo) {
    let reached = WAY.iter().position(|state| *state == info.state);
    let line: equipoise_report::Attributes<'_> =
        &[("class", &"steps"), ("aria-label", &"State of the round")];
    markup.element("ol", line, |markup| {
        for (i, state) in WAY.into_iter().enumerate() {
            let class = match reached {
                Some(now) if i < now => "done",
                Some(now) if i == now => "now",
                _ => "ahead",
            };
            write_step(markup, state, class);
        }
        if reached.is_none() {
            write_step(markup, info.state, "now ended");
        }
    });
    markup.leaf("p", &[("class", &"lead")], sentence(info.state));
    if let Some(reason) = &info.reason {
        warning(markup, "Why:", reason);
    }
}

fn write_step(markup: &mut Markup, state: RoundState, class: &str) {
    let write = |markup: &mut Markup| {
        markup.leaf("span", &[], state.name());
        if class == "done" {
            markup.leaf("span", &[("class", &"unseen")], " (done)");
        }
    };
    if class.starts_with("now") {
        markup.element("li", &[("class", &class), ("aria-current", &"step")], write);
    } else {
        markup.element("li", &[("class", &class)], write);
    }
}

fn sentence(state: RoundState) -> &'static str {
    match state {
        RoundState::Draft => "The round is set up and does not accept submissions yet.",
        RoundState::Open => "Submissions are accepted: one of each client.",
        RoundState::Closed => "The set of submissions is final. The solve begins in a moment.",
        RoundState::Solving => "The weights of the clients are being sought.",
        RoundState::Published => "Model, outcome and signed statement are there for all.",
        RoundState::Failed => "The round ended without a model.",
        RoundState::Aborted => "The coordinator ended the round. There is no model.",
    }
}
