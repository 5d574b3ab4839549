//! What happened: the latest operations, outcomes by kind of operation, violations of an invariant.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::time::Instant;

use crate::site::Site;

/// Number of operations shown after a failure.
const TAIL: usize = 60;

pub(crate) struct Report {
    pub(crate) seed: u64,
    started: Instant,
    history: Mutex<VecDeque<String>>,
    outcomes: Mutex<BTreeMap<String, BTreeMap<String, u64>>>,
    violations: Mutex<Vec<String>>,
}

impl Report {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            started: Instant::now(),
            history: Mutex::default(),
            outcomes: Mutex::default(),
            violations: Mutex::default(),
        }
    }

    /// Counts an outcome of a kind of operation.
    pub(crate) fn count(&self, kind: &str, outcome: &str) {
        let mut outcomes = self.outcomes.lock().unwrap();
        *outcomes.entry(kind.to_owned()).or_default().entry(outcome.to_owned()).or_default() += 1;
    }

    pub(crate) fn log(&self, line: &str) {
        let mut history = self.history.lock().unwrap();
        history.push_back(format!("{:8.3} s  {line}", self.started.elapsed().as_secs_f64()));
        if history.len() > TAIL {
            history.pop_front();
        }
    }

    /// Records the violation of an invariant, which ends the test.
    pub(crate) fn violation(&self, text: impl Into<String>) {
        let text = text.into();
        self.log(&format!("VIOLATION: {text}"));
        self.violations.lock().unwrap().push(text);
    }

    /// The same for a failed check.
    pub(crate) fn require(&self, check: Result<(), String>) {
        if let Err(problem) = check {
            self.violation(problem);
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        !self.violations.lock().unwrap().is_empty()
    }

    pub(crate) fn failure(&self) -> String {
        let history: Vec<String> = self.history.lock().unwrap().iter().cloned().collect();
        let violations = self.violations.lock().unwrap().join("\n  ");
        format!(
            "seed {}: an invariant is violated\n  {violations}\nThe latest operations:\n{}",
            self.seed,
            history.join("\n")
        )
    }

    pub(crate) fn print_table(&self, n_rounds: usize, site: &Site) {
        let outcomes = self.outcomes.lock().unwrap();
        let n_operations: u64 = outcomes.values().flat_map(BTreeMap::values).sum();
        println!(
            "\nseed {}, {}, {:.0} s: {n_rounds} rounds, {n_operations} outcomes; server memory at most {:.0} MiB",
            self.seed,
            if site.wire.is_tls() { "TLS" } else { "plain HTTP" },
            self.started.elapsed().as_secs_f64(),
            site.peak_mib(),
        );
        for (kind, outcomes) in outcomes.iter() {
            let total: u64 = outcomes.values().sum();
            let parts: Vec<String> =
                outcomes.iter().map(|(outcome, n)| format!("{outcome} x {n}")).collect();
            println!("{kind:28} {total:6}  {}", parts.join(", "));
        }
    }
}
