//! What the figures mean for the people in the data, and what to do.

use equipoise_core::{Closeness, FEW_DATA_ROWS, MembershipAttack, PrivacyStatement, SmallestCell};
use serde::Serialize;

/// A success above this is a problem, if it is proved.
const LARGE_AUC: f64 = 0.55;
/// Proxy rows that are closer to real rows than this share of the usual distance resemble individual people.
const CLOSE: f64 = 0.5;
/// A group and label of fewer people is a problem.
const FEW_PEOPLE: usize = 10;

/// Something that a client should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) problem: bool,
    /// What was found, and what to do about it.
    pub(super) text: String,
}

impl Finding {
    fn fine(text: impl Into<String>) -> Self {
        Self { problem: false, text: text.into() }
    }

    fn problem(text: impl Into<String>) -> Self {
        Self { problem: true, text: text.into() }
    }

    pub(super) fn describe(&self) -> String {
        let mark = if self.problem { "PROBLEM" } else { "ok     " };
        format!("{mark}  {}\n", self.text)
    }
}

pub(super) fn of(
    closeness: &Closeness,
    attacks: Option<&[MembershipAttack]>,
    privacy: Option<&PrivacyStatement>,
    n_rows: usize,
    smallest_cell: Option<&SmallestCell>,
) -> Vec<Finding> {
    let mut findings = vec![promise(privacy)];
    let is_private = privacy.is_some_and(|privacy| privacy.private);
    if n_rows < FEW_DATA_ROWS && is_private {
        findings.push(Finding::fine(format!(
            "The data has {n_rows} rows. They are protected, but with fewer than {FEW_DATA_ROWS} the proxy is mostly noise."
        )));
    } else if n_rows < FEW_DATA_ROWS {
        findings.push(Finding::problem(format!(
            "The data has {n_rows} rows. With fewer than {FEW_DATA_ROWS}, a proxy says more about each of them: add noise with \
             `proxy --dp-epsilon`, or submit together with another organisation."
        )));
    }
    match attacks {
        None => findings.push(Finding::problem(
            "There are too few people to attack, so nothing is known about how well they are protected.",
        )),
        Some(attacks) => findings.push(membership(attacks)),
    }
    findings.push(copies(closeness));
    findings.extend(smallest_cell.map(|cell| smallest(cell, is_private)));
    findings
}

fn promise(privacy: Option<&PrivacyStatement>) -> Finding {
    match privacy {
        Some(privacy) if privacy.private => Finding::fine(format!(
            "The file promises differential privacy with ε = {:.3} and δ = {:e}. This holds whatever the attacks below find.",
            privacy.epsilon, privacy.delta
        )),
        Some(_) => Finding::problem(
            "The file was made in a test run whose noise is known. Make it again without --dp-test-seed.",
        ),
        None => Finding::fine(
            "The file promises no differential privacy. What follows is what some attacks find; others may find more. \
             `proxy --dp-epsilon 3` makes a proxy with a guarantee.",
        ),
    }
}

fn membership(attacks: &[MembershipAttack]) -> Finding {
    let worst = attacks.iter().max_by(|a, b| a.auc.low.total_cmp(&b.auc.low));
    match worst {
        Some(worst) if worst.auc.low > LARGE_AUC => Finding::problem(format!(
            "Someone who knows a person's values can tell whether that person is in the data: by {}, an AUC of {:.3}, at least \
             {:.3}. Use `proxy --dp-epsilon`, fewer columns, or data of more people.",
            worst.attack, worst.auc.value, worst.auc.low
        )),
        _ => Finding::fine(format!(
            "Neither attack tells people in the data from others: no AUC is provably above {LARGE_AUC}."
        )),
    }
}

fn copies(closeness: &Closeness) -> Finding {
    let (proxy, data) = (closeness.proxy_to_data.median, closeness.data_to_data.median);
    if closeness.copies > 0 && data > 0.0 {
        return Finding::problem(format!(
            "Proxy rows that are rows of the data: {}. Do not submit the file.",
            closeness.copies
        ));
    }
    if proxy < CLOSE * data {
        return Finding::problem(format!(
            "Proxy rows resemble individual people: the median distance to the nearest row of the data is {proxy:.3}, but {data:.3} \
             between rows of the data. Use fewer columns or `proxy --dp-epsilon`."
        ));
    }
    Finding::fine(format!(
        "No proxy row is a copy, and rows are no closer to real ones than these are to each other (median distance {proxy:.3}; \
         {data:.3} within the data)."
    ))
}

fn smallest(cell: &SmallestCell, is_private: bool) -> Finding {
    let label = if cell.positive { "positive" } else { "negative" };
    let found = format!(
        "The fewest people of a group with the same label are the {} with a {label} label: {}.",
        cell.group, cell.rows
    );
    if cell.rows < FEW_PEOPLE && !is_private {
        return Finding::problem(format!(
            "{found} What the proxy says about them may point to one of them. Merge groups in the schema, or use \
             `proxy --dp-epsilon`."
        ));
    }
    Finding::fine(found)
}
