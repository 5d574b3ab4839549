//! Settings and states, in words.

use equipoise_core::{
    Criterion, Defense, Fairness, InnerSolver, OuterSolver, RootWeighting, Termination,
};

/// What a defense does, in half a sentence.
pub(crate) fn defense(defense: Defense) -> &'static str {
    match defense {
        Defense::Bilevel => {
            "it seeks the weights whose model is accurate and fair on the trusted root"
        }
        Defense::Pooled => "all proxies count alike, nothing is defended against",
        Defense::Fedasl => {
            "local models are averaged, those with losses near the median count more"
        }
        Defense::Fednolowe => "local models are averaged, those with lower losses count more",
        Defense::RootOnly => "only the trusted root is used, no proxy counts",
    }
}

/// How a solve stopped: in two or three words, and in a sentence.
pub(crate) fn termination(termination: Termination) -> (&'static str, &'static str) {
    match termination {
        Termination::Converged => {
            ("Converged", "No small change of the weights promises a noticeably better result.")
        }
        Termination::ScheduleCompleted => (
            "All steps done",
            "A fixed number of steps was done, without a test whether more would help.",
        ),
        Termination::IterationLimit => (
            "Ran out of steps",
            "The weights were still moving, or could not be told from rounding, when the steps ended.",
        ),
        Termination::Direct => (
            "Computed directly",
            "This defense has a formula for its weights: nothing was searched.",
        ),
        Termination::FellBack => (
            "Fell back to the root",
            "The best model of the clients was clearly worse than that of the root alone, which is shown here.",
        ),
    }
}

pub(crate) fn fairness(fairness: Fairness) -> String {
    match fairness.criterion() {
        Criterion::Sp => "statistical parity: both groups are selected equally often".to_owned(),
        Criterion::Eo => {
            "equal opportunity: deserving rows of both groups are selected equally often".to_owned()
        }
        Criterion::Both => format!(
            "statistical parity and equal opportunity, the latter with share {}",
            crate::format::Format::Auto.write(Some(fairness.nu()))
        ),
    }
}

pub(crate) fn root_weighting(weighting: RootWeighting) -> &'static str {
    match weighting {
        RootWeighting::Pooled => "pooled: every root row counts the same",
        RootWeighting::Client => "client: root rows count as much as their client's proxy",
    }
}

pub(crate) fn outer_solver(solver: OuterSolver) -> &'static str {
    match solver {
        OuterSolver::GaussNewton => "Gauss–Newton on the simplex",
        OuterSolver::Adam => "Adam with projection onto the simplex",
    }
}

pub(crate) fn inner_solver(solver: InnerSolver) -> &'static str {
    match solver {
        InnerSolver::Newton => "Newton",
        InnerSolver::Lbfgs => "L-BFGS",
    }
}

/// Whether an interval holds 0, as the end of a sentence.
pub(crate) fn zero_in_interval(value: f64, half: f64) -> &'static str {
    if value.abs() <= half {
        "includes 0: these rows alone do not show that the groups are treated differently."
    } else {
        "excludes 0: chance in the choice of rows alone hardly explains the difference."
    }
}
