//! The verdict in words, and the figures that it is about. The server's pages show the same.

use equipoise_core::{Condition, Gap, Judgement, Metrics, Outcome, Requirement, Verdict};

use super::gaps::{POINTS, in_words, quoted, size_text};
use super::look_closer::{look_closer, weak_requirement};
use crate::block::{Answer, Figure, Tone};
use crate::format::{Format, count, counted, listed};

const SHARE: Format = Format::Percent(1);
const GAP_LABEL: &str = "Largest gap between groups";
const ACCURACY_LABEL: &str = "Correct decisions";

/// The verdict in plain words.
pub fn answer(outcome: &Outcome) -> Answer {
    let judgements = &outcome.judgements;
    let (tone, headline, deciding) = match outcome.verdict {
        Verdict::Pass => (Tone::Good, "Yes: it meets every requirement.", Verdict::Pass),
        Verdict::Fail => (Tone::Bad, "No: it misses a requirement.", Verdict::Fail),
        Verdict::Unknown => {
            (Tone::Open, "Cannot tell: there are too few trusted rows.", Verdict::Unknown)
        }
        Verdict::None => (Tone::Open, "No requirements were set.", Verdict::None),
    };
    let mut sentences: Vec<String> =
        judgements.iter().filter(|j| j.verdict == deciding).map(explain).collect();
    if outcome.verdict == Verdict::None {
        let text = "Nobody said how large a gap between groups may be, or how accurate the model must be, so this \
                    page can only report the figures.";
        sentences.push(text.to_owned());
    }
    sentences.extend(look_closer(outcome));
    Answer { tone, headline: headline.to_owned(), sentence: sentences.join(" ") }
}

/// A requirement in words: "largest gap between groups at most 10 pp".
pub fn requirement_text(requirement: Requirement, bound: f64) -> String {
    match requirement {
        Requirement::Gap => {
            format!("largest gap between groups at most {}\u{202f}pp", round_points(bound))
        }
        Requirement::Accuracy => format!("correct decisions at least {}", round_share(bound)),
        Requirement::BalancedAccuracy => {
            format!("balanced accuracy at least {}", round_share(bound))
        }
    }
}

/// The figures on the root: those required, with their bounds, and gap and accuracy in any case.
pub fn root_figures(outcome: &Outcome) -> Vec<Figure> {
    let mut figures = requirement_figures(outcome);
    let metrics = &outcome.root_metrics;
    let on = on_rows("the root", metrics.rows);
    let is_required = |r| outcome.judgements.iter().any(|j| j.requirement == r);
    if !is_required(Requirement::Gap) {
        figures.push(gap_figure(metrics.gap(outcome.settings.fairness).as_ref(), &on));
    }
    if !is_required(Requirement::Accuracy) {
        figures.push(accuracy_figure(metrics, &on));
    }
    figures
}

/// "on the root, 1,200 rows"
pub(super) fn on_rows(rows: &str, n: usize) -> String {
    format!("on {rows}, {}", counted(n, "row", "rows"))
}

pub(super) fn gap_figure(gap: Option<&Gap>, on: &str) -> Figure {
    let note = match gap {
        Some(gap) => format!("{}; {on}", in_words(gap)),
        None => format!("cannot be measured {on}"),
    };
    figure(GAP_LABEL, size_text(gap), note)
}

pub(super) fn accuracy_figure(metrics: &Metrics, on: &str) -> Figure {
    figure(ACCURACY_LABEL, SHARE.write_estimate(metrics.accuracy), on.to_owned())
}

/// A figure for each requirement, with its interval and the bound.
pub(super) fn requirement_figures(outcome: &Outcome) -> Vec<Figure> {
    let on = on_rows("the root", outcome.root_metrics.rows);
    let of = |judgement: &Judgement| {
        let (bound, share) = (judgement.bound, SHARE.write_estimate(judgement.figure));
        let at_least = format!("required: at least {}; {on}", round_share(bound));
        match judgement.requirement {
            Requirement::Gap => {
                let gap = gap(judgement);
                let words = gap.as_ref().map_or(String::new(), |gap| in_words(gap) + "; ");
                let note =
                    format!("required: at most {}\u{202f}pp; {words}{on}", round_points(bound));
                figure(GAP_LABEL, size_text(gap.as_ref()), note)
            }
            Requirement::Accuracy => {
                let weak = weak_requirement(outcome, bound).map(|text| format!("; {text}"));
                figure(ACCURACY_LABEL, share, at_least + &weak.unwrap_or_default())
            }
            Requirement::BalancedAccuracy => figure("Balanced accuracy", share, at_least),
        }
    };
    outcome.judgements.iter().map(of).collect()
}

/// The gap that was judged. `None` if it cannot be measured.
fn gap(judgement: &Judgement) -> Option<Gap> {
    let (figure, groups) = (judgement.figure?, judgement.groups.clone()?);
    let condition = judgement.condition?;
    Some(Gap { value: figure.value, low: figure.low, high: figure.high, groups, condition })
}

/// One requirement and how it turned out, as a sentence.
fn explain(judgement: &Judgement) -> String {
    let is_gap = judgement.requirement == Requirement::Gap;
    let what = match judgement.requirement {
        Requirement::Gap => "the gap between the groups",
        Requirement::Accuracy => "the share of correct decisions",
        Requirement::BalancedAccuracy => "the balanced accuracy",
    };
    let limit = if is_gap { "at most" } else { "at least" };
    let (number, unit): (fn(f64) -> String, &str) =
        if is_gap { (points, " percentage points") } else { (share, "") };
    let bound = match is_gap {
        true => round_points(judgement.bound),
        false => round_share(judgement.bound),
    };
    let Some(figure) = judgement.figure else {
        let text =
            format!("On these rows, {what} cannot be measured; required is {limit} {bound}{unit}.");
        return text;
    };
    let figure = if is_gap { figure.abs() } else { figure };
    let [value, low, high] = [figure.value, figure.low, figure.high].map(number);
    let mut text = match (judgement.verdict, is_gap) {
        (Verdict::Pass, true) => format!(
            "With 95\u{202f}% confidence {what} is at most {high}{unit}; up to {bound} are allowed."
        ),
        (Verdict::Pass, false) => {
            format!("With 95\u{202f}% confidence {what} is at least {low}; {bound} is required.")
        }
        (Verdict::Fail, true) => format!(
            "With 95\u{202f}% confidence {what} is at least {low}{unit}; only {bound} are allowed."
        ),
        (Verdict::Fail, false) => {
            format!("With 95\u{202f}% confidence {what} is at most {high}; {bound} is required.")
        }
        _ => format!(
            "On these rows {what} is {value}{unit}, but it may be anything from {low} to {high}; required is {limit} \
             {bound}."
        ),
    };
    let missing: Vec<String> =
        judgement.unmeasured_groups.iter().map(|name| quoted(name)).collect();
    if !missing.is_empty() {
        text += &format!(" {} cannot be measured at all.", listed(&missing));
    }
    if let (Verdict::Unknown, Some(rows)) = (judgement.verdict, judgement.rows_needed) {
        let kind = match (judgement.requirement, judgement.condition) {
            (Requirement::Gap, Some(Condition::Positives)) => "positive rows in each group",
            (Requirement::Gap, Some(Condition::Negatives)) => "negative rows in each group",
            (Requirement::Gap, _) => "rows in each group",
            (Requirement::Accuracy, _) => "rows",
            (Requirement::BalancedAccuracy, _) => "rows of each label",
        };
        text += &format!(" About {} trusted {kind} would be needed to tell.", count(about(rows)));
    } else if judgement.verdict == Verdict::Unknown && missing.is_empty() {
        text +=
            " That is so close to the bound that no practical number of trusted rows could tell.";
    }
    super::sentence(&text)
}

/// Rounded up to two significant digits, because more would be false precision.
fn about(rows: usize) -> usize {
    let unit = 10usize.pow(rows.max(1).ilog10().saturating_sub(1));
    rows.div_ceil(unit) * unit
}

fn share(value: f64) -> String {
    SHARE.write(Some(value))
}

/// Percentage points without the unit.
fn points(value: f64) -> String {
    POINTS.write(Some(value)).replace("\u{202f}pp", "")
}

/// A bound in percentage points, without decimals that say nothing and without the unit.
fn round_points(bound: f64) -> String {
    let text = Format::Fixed(2).write(Some(100.0 * bound));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn round_share(bound: f64) -> String {
    round_points(bound) + "\u{202f}%"
}

pub(super) fn figure(label: &str, value: String, note: String) -> Figure {
    Figure { label: label.to_owned(), value, note }
}
