//! One check and the list of all of them.

use serde::Serialize;

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was checked, as a statement that holds or does not.
    #[serde(rename = "what")]
    pub claim: String,
    /// Whether it holds.
    pub result: CheckResult,
    /// What was found instead.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// Whether a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckResult {
    /// It holds.
    #[serde(rename = "ok")]
    Holds,
    /// It does not hold.
    #[serde(rename = "failed")]
    Fails,
    /// This version of the program cannot tell.
    Undecided,
}

/// The checks made so far.
#[derive(Debug, Default)]
pub(super) struct Checks(Vec<Check>);

impl Checks {
    /// Adds a check: `problem` says what was found instead, or is `None` if the claim holds.
    pub(super) fn add(&mut self, claim: impl Into<String>, problem: Option<String>) {
        let result = if problem.is_some() { CheckResult::Fails } else { CheckResult::Holds };
        let detail = problem.unwrap_or_default();
        self.0.push(Check { claim: claim.into(), result, detail });
    }

    /// Adds a check that may fail or be undecided.
    pub(super) fn add_found(&mut self, claim: impl Into<String>, found: Option<Problem>) {
        match found {
            Some(Problem::Undecided(why)) => self.add_undecided(claim, why),
            Some(Problem::Fails(problem)) => self.add(claim, Some(problem)),
            None => self.add(claim, None),
        }
    }

    /// Adds a check that needs no further explanation if it fails.
    pub(super) fn add_plain(&mut self, claim: impl Into<String>, holds: bool) {
        self.add(claim, (!holds).then(String::new));
    }

    /// Adds a check that this program cannot decide.
    pub(super) fn add_undecided(&mut self, claim: impl Into<String>, why: String) {
        self.0.push(Check { claim: claim.into(), result: CheckResult::Undecided, detail: why });
    }

    pub(super) fn any_failed(&self) -> bool {
        self.0.iter().any(|check| check.result == CheckResult::Fails)
    }

    pub(super) fn into_list(self) -> Vec<Check> {
        self.0
    }
}

/// Why a claim was not found to hold.
pub(super) enum Problem {
    /// It does not hold: what was found instead.
    Fails(String),
    /// This version of the program cannot tell, and why.
    Undecided(String),
}

/// Accumulates the problems of one claim.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<String>);

impl Problems {
    /// Adds a problem unless the condition holds.
    pub(super) fn require(&mut self, condition: bool, problem: impl FnOnce() -> String) {
        if !condition {
            self.0.push(problem());
        }
    }

    /// All problems in one text; `None` without any.
    pub(super) fn into_option(self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.join("; "))
    }
}
