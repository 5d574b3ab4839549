//! A verdict in plain words.

use std::fmt;

use super::{Judgement, Requirement, Verdict};
use crate::fairness::Condition;

/// The verdict with its figures: a line for each requirement, those that decide it first. `rows` names the rows that were
/// judged: `this root` or `these rows`. `None` if nothing is required.
pub fn describe_verdict(judgements: &[Judgement], rows: &str) -> Option<String> {
    let met = if Verdict::of(judgements) == Verdict::Pass { "pass" } else { "met" };
    let cannot_tell = format!("cannot tell with {rows}");
    let parts = [(Verdict::Fail, "fail"), (Verdict::Unknown, &cannot_tell), (Verdict::Pass, met)];
    let lines = parts.iter().flat_map(|&(verdict, name)| {
        let of = judgements.iter().filter(move |judgement| judgement.verdict == verdict);
        of.map(move |judgement| format!("{name}: {judgement}"))
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The figure with its interval, what is required, and how many rows could tell.
impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, limit) = match self.requirement {
            Requirement::Gap => {
                let rate = self.condition.map(|condition| format!(" in {}", condition.rate_name()));
                ("the gap".to_owned() + &rate.unwrap_or_default(), "most")
            }
            Requirement::Accuracy => ("the accuracy".to_owned(), "least"),
            Requirement::BalancedAccuracy => ("the balanced accuracy".to_owned(), "least"),
        };
        match self.figure {
            Some(e) if self.requirement == Requirement::Gap => {
                write!(f, "{name} is {:+.3} [{:+.3}, {:+.3}]", e.value, e.low, e.high)?;
            }
            Some(e) => write!(f, "{name} is {:.3} [{:.3}, {:.3}]", e.value, e.low, e.high)?,
            None => write!(f, "{name} cannot be measured")?,
        }
        write!(f, ", required: at {limit} {}", self.bound)?;
        if !self.unmeasured_groups.is_empty() {
            let rows = kind_of_rows(&self.conditions);
            write!(f, ", not counting groups without {rows}: ")?;
            f.write_str(&list(&self.unmeasured_groups))?;
        }
        match (self.verdict, self.rows_needed) {
            (Verdict::Unknown, Some(rows)) => {
                let (kind, per) = match self.requirement {
                    Requirement::Gap => (kind_of_rows(&self.conditions), " per group"),
                    Requirement::Accuracy => ("rows", ""),
                    Requirement::BalancedAccuracy => ("rows", " of each label"),
                };
                write!(f, "; about {} {kind}{per} would be needed", about(rows))
            }
            (Verdict::Unknown, None) if self.figure.is_some() => {
                write!(
                    f,
                    "; {name} is too close to the bound for any practical number of rows to tell"
                )
            }
            _ => Ok(()),
        }
    }
}

/// Rounded up to two significant digits, because more would be false precision.
pub(crate) fn about(rows: usize) -> String {
    let unit = 10usize.pow(rows.max(1).ilog10().saturating_sub(1));
    group_digits(rows.div_ceil(unit) * unit)
}

/// Groups of three digits, separated by commas.
pub(crate) fn group_digits(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The rows that rates of these conditions are taken over.
pub(crate) fn kind_of_rows(conditions: &[Condition]) -> &'static str {
    let has = |condition| conditions.contains(&condition);
    match (has(Condition::Positives), has(Condition::Negatives)) {
        (true, true) => "rows of each label",
        (true, false) => "positive rows",
        (false, true) => "negative rows",
        (false, false) => "rows",
    }
}

/// Names in backticks, at most [`MAX_LISTED`] of them.
pub(crate) fn list(names: &[String]) -> String {
    let listed: Vec<String> =
        names.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(MAX_LISTED);
    listed.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

const MAX_LISTED: usize = 5;
