//! What the figures mean for the people in the data, and what to do.

use equipoise_core::{Disclosure, FEW_DATA_ROWS, PrivacyStatement, Rows, Visible};
use serde::Serialize;

/// A success above this is a problem, if it is proved.
const LARGE_AUC: f64 = 0.55;
/// Guesses about people in the data that are right so much more often than about others are a problem, if proved.
const LARGE_ADVANTAGE: f64 = 0.05;
/// Proxy rows that are closer to real rows than this share of the usual distance resemble individual people.
const CLOSE: f64 = 0.5;
/// Names listed at most.
const MAX_NAMES: usize = 8;

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
    visible: &Visible,
    attacks: Option<&Disclosure>,
    privacy: Option<&PrivacyStatement>,
    data: &Rows,
    names: &[String],
) -> Vec<Finding> {
    let mut findings = vec![promise(privacy)];
    let is_private = privacy.is_some_and(|privacy| privacy.private);
    if data.len() < FEW_DATA_ROWS && is_private {
        findings.push(Finding::fine(format!(
            "The data has {} rows. They are protected, but with fewer than {FEW_DATA_ROWS} the proxy is mostly noise.",
            data.len()
        )));
    } else if data.len() < FEW_DATA_ROWS {
        findings.push(Finding::problem(format!(
            "The data has {} rows. With fewer than {FEW_DATA_ROWS}, a proxy says more about each of them: add noise with \
             `proxy --dp-epsilon`, or submit together with another organisation.",
            data.len()
        )));
    }
    match attacks {
        None => findings.push(Finding::problem(
            "There are too few people to attack, so nothing is known about how well they are protected.",
        )),
        Some(attacks) => findings.extend([membership(attacks), attributes(attacks)]),
    }
    findings.push(copies(visible));
    findings.extend(rare_levels(visible, privacy, names));
    findings.extend(outliers(visible, names));
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

fn membership(attacks: &Disclosure) -> Finding {
    let worst = attacks.membership.iter().max_by(|a, b| a.auc.low.total_cmp(&b.auc.low));
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

fn attributes(attacks: &Disclosure) -> Finding {
    let worst =
        attacks.attributes.iter().max_by(|a, b| a.advantage.low.total_cmp(&b.advantage.low));
    match worst {
        Some(worst) if worst.advantage.low > LARGE_ADVANTAGE => Finding::problem(format!(
            "The proxy reveals the {} of people in the data: guesses about them are right {:.1} points more often than about \
             others. Use `proxy --dp-epsilon`, or fewer columns.",
            worst.attribute,
            100.0 * worst.advantage.value
        )),
        _ => Finding::fine(
            "Guesses about the label or group of people in the data are not provably better than about anyone else.",
        ),
    }
}

fn copies(visible: &Visible) -> Finding {
    let closeness = &visible.closeness;
    let (proxy, data) = (closeness.proxy_to_data.median, closeness.data_to_data.median);
    if closeness.copies > 0 && data > 0.0 {
        return Finding::problem(format!(
            "{} of {} proxy rows measured are rows of the data. Do not submit the file.",
            closeness.copies, closeness.proxy_to_data.rows
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

fn rare_levels(
    visible: &Visible,
    privacy: Option<&PrivacyStatement>,
    names: &[String],
) -> Option<Finding> {
    let shown: Vec<&str> = visible
        .rare
        .levels
        .iter()
        .filter(|level| level.visible)
        .map(|level| names[level.feature].as_str())
        .collect();
    if visible.rare.levels.is_empty() {
        return None;
    }
    let n = visible.rare.levels.len();
    Some(if privacy.is_some_and(|privacy| privacy.private) {
        Finding::fine(format!(
            "{n} categories have fewer than 10 rows. The proxy does not tell them from categories that nobody has."
        ))
    } else if shown.is_empty() {
        Finding::fine(format!(
            "{n} categories have fewer than 10 rows. None of them can be seen in the proxy."
        ))
    } else {
        Finding::problem(format!(
            "Categories that fewer than 10 people have can be seen in the proxy: {}. Merge them in the schema, or use \
             `proxy --dp-epsilon`.",
            listed(&shown)
        ))
    })
}

fn outliers(visible: &Visible, names: &[String]) -> Vec<Finding> {
    let found = visible.rare.outliers.iter();
    found
        .map(|outliers| {
            let name = &names[outliers.feature];
            let (rows, largest, sent) = (outliers.rows, outliers.largest, outliers.largest_in_proxy);
            // A Gaussian sample of a million rows stays below 5.
            if sent > 5.0 && sent > 0.5 * largest {
                Finding::problem(format!(
                    "Extreme values of {name} survive: {rows} rows are more than 4 scales from the center, the furthest {largest:.1}, \
                     and the proxy reaches {sent:.1}. Clip the column before you make the proxy, or use `proxy --dp-epsilon`."
                ))
            } else {
                Finding::fine(format!(
                    "Extreme values of {name} do not survive: the data reaches {largest:.1} scales from the center, the proxy {sent:.1}."
                ))
            }
        })
        .collect()
}

fn listed(names: &[&str]) -> String {
    let more = names.len().saturating_sub(MAX_NAMES);
    let mut text =
        names.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text += &format!(" and {more} more");
    }
    text
}
