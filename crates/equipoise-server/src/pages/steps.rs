//! The state of a round, as a row of steps and as a sentence.

use equipoise_report::Markup;

use super::frame::warning;
use super::view::RoundView;
use crate::protocol::RoundState;
use crate::round::NO_REASON;

const STEPS: [RoundState; 5] = [
    RoundState::Draft,
    RoundState::Open,
    RoundState::Closed,
    RoundState::Solving,
    RoundState::Published,
];

pub(super) fn write_steps(markup: &mut Markup, view: &RoundView) {
    let info = &view.info;
    let now = STEPS.iter().position(|state| *state == info.state);
    markup.element("ol", &[("class", &"steps"), ("aria-label", &"State of the round")], |markup| {
        for (i, state) in STEPS.into_iter().enumerate() {
            match now {
                Some(now) if i == now => write_step(markup, state.name(), "now"),
                Some(now) if i > now => write_step(markup, state.name(), "ahead"),
                // A round that ended early shows only what it went through.
                _ if view.history.reached(state).is_some() => {
                    write_step(markup, past_name(state), "done");
                }
                _ => {}
            }
        }
        if now.is_none() {
            write_step(markup, info.state.name(), "now ended");
        }
    });
    markup.leaf("p", &[("class", &"lead")], description(info.state));
    match info.reason.as_deref() {
        None => {}
        Some(NO_REASON) => markup.leaf("p", &[], "The coordinator gave no reason."),
        Some(reason) => warning(markup, "Reason:", reason),
    }
}

/// Most rounds open as they are set up, so a past draft is only called created.
fn past_name(state: RoundState) -> &'static str {
    match state {
        RoundState::Draft => "created",
        RoundState::Open => "opened",
        RoundState::Solving => "solved",
        state => state.name(),
    }
}

fn write_step(markup: &mut Markup, name: &str, class: &str) {
    let write = |markup: &mut Markup| {
        markup.leaf("span", &[], name);
        if class == "done" {
            markup.leaf("span", &[("class", &"visually-hidden")], " (done)");
        }
    };
    if class.starts_with("now") {
        markup.element("li", &[("class", &class), ("aria-current", &"step")], write);
    } else {
        markup.element("li", &[("class", &class)], write);
    }
}

fn description(state: RoundState) -> &'static str {
    match state {
        RoundState::Draft => "The round is set up but does not accept submissions yet.",
        RoundState::Open => "The round accepts submissions, one per client.",
        RoundState::Closed => "The set of submissions is final. The solve will start shortly.",
        RoundState::Solving => "The server is solving for the client weights.",
        RoundState::Published => "The model, the outcome and the signed statement are public.",
        RoundState::Failed => "The round ended without a model.",
        RoundState::Aborted => "The coordinator aborted the round. There is no model.",
    }
}
