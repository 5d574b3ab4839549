//! Why rows were not scored, and how many for each reason.

use std::collections::BTreeMap;

use equipoise_data::UnscorableRow;
use serde::Serialize;

use crate::formatting::{count, table};

/// A reason, and how many rows have it.
#[derive(Serialize)]
pub(super) struct Reason {
    column: String,
    problem: String,
    rows: usize,
}

/// The reasons, the most frequent first. A row may have several.
pub(super) fn reasons(unscorable: &[UnscorableRow]) -> Vec<Reason> {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (column, problem) in unscorable.iter().flat_map(|row| &row.problems) {
        *counts.entry((column, problem.kind())).or_default() += 1;
    }
    let reason = |((column, problem), rows): ((&str, &str), usize)| Reason {
        column: column.to_owned(),
        problem: problem.to_owned(),
        rows,
    };
    let mut reasons: Vec<Reason> = counts.into_iter().map(reason).collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.rows));
    reasons
}

/// A summary for people.
pub(super) fn describe(n_unscored: usize, n_rows: usize, reasons: &[Reason]) -> String {
    let line = |reason: &Reason| {
        vec![reason.rows.to_string(), reason.column.clone(), reason.problem.clone()]
    };
    let lines = table(&["rows", "column", "problem"], reasons.iter().map(line).collect(), &[0]);
    let indented: String = lines.lines().map(|line| format!("\n  {line}")).collect();
    format!(
        "{n_unscored} of {} could not be scored; the column `reason` says why{indented}",
        count(n_rows, "row")
    )
}
