//! Describes how a solve stopped.

use equipoise_core::Termination;

/// How a solve stopped: in two or three words, and in a sentence.
pub(crate) fn termination(termination: Termination) -> (&'static str, &'static str) {
    match termination {
        Termination::Converged => {
            ("Converged", "No small change to the weights noticeably improves the result.")
        }
        Termination::ScheduleCompleted => (
            "All steps taken",
            "A fixed number of steps was taken, without testing whether more would help.",
        ),
        Termination::IterationLimit => (
            "Ran out of steps",
            "The weights were still moving, or the limit of floating-point precision was reached.",
        ),
        Termination::Direct => ("Computed directly", "This defense does not optimise weights."),
        Termination::FellBack => (
            "Fell back to the root",
            "The clients' best model was clearly worse than the root-only model, which is shown here.",
        ),
    }
}

/// Whether the interval of a difference contains 0, as a sentence.
pub(crate) fn zero_in_interval(low: f64, high: f64) -> &'static str {
    if low <= 0.0 && high >= 0.0 {
        "The interval includes 0: these rows alone do not show that the groups are treated differently."
    } else {
        "The interval excludes 0: sampling alone is unlikely to explain the difference."
    }
}
