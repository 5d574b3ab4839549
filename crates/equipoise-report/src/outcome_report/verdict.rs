//! The answer to "may we use it?", and what it is about.

use equipoise_core::{Condition, Gap, Judgement, Metrics, Outcome, Requirement, Verdict};

use super::OutcomeReport;
use crate::block::{Answer, Block, Fact, Figure, Tone};
use crate::format::{Format, count, counted, listed};
use crate::page::Section;

const SHARE: Format = Format::Percent(1);
/// Maximum number of groups that a sentence names.
const MAX_GROUPS: usize = 8;

impl OutcomeReport<'_> {
    pub(super) fn verdict_section(&self) -> Section {
        let proxy_rows: usize = self.clients().iter().map(|client| client.proxy_rows).sum();
        let root_rows: usize = self.clients().iter().map(|client| client.root_rows).sum();
        let lead = format!(
            "{} sent one dataset each, {} rows in all. From these, one model was made and checked against {} trusted \
             rows. This is what those rows say about it.",
            counted(self.clients().len(), "client", "clients"),
            count(proxy_rows),
            count(root_rows),
        );
        let mut blocks = vec![Block::Answer(answer(self.outcome()))];
        blocks.push(Block::Figures(self.first_figures()));
        blocks.push(Block::Facts(self.facts()));
        Section::new("May we use it?", lead, blocks)
    }

    /// The required figures, or the most important ones if nothing is required.
    fn first_figures(&self) -> Vec<Figure> {
        let mut figures = requirement_figures(self.outcome());
        if let Some(primary) = self.primary() {
            let on =
                format!("on {}, {}", primary.rows, counted(primary.metrics.rows, "row", "rows"));
            let required = |r| self.outcome().judgements.iter().any(|j| j.requirement == r);
            // Figures on other rows than the root are shown even if the root's are.
            let is_elsewhere = primary.metrics != self.outcome().root_metrics;
            if is_elsewhere || !required(Requirement::Gap) {
                figures.push(self.gap_figure(&primary.metrics, &on));
            }
            if is_elsewhere || !required(Requirement::Accuracy) {
                let accuracy = SHARE.write_estimate(primary.metrics.accuracy);
                figures.push(figure("Correct decisions", &accuracy, on));
            }
        }
        let weighted = self.n_weighted_clients();
        figures.push(figure(
            "Clients in the model",
            &format!("{} of {}", count(weighted), count(self.clients().len())),
            "with more than 1\u{202f}% of the weight".to_owned(),
        ));
        figures
    }

    fn gap_figure(&self, metrics: &Metrics, on: &str) -> Figure {
        let Some(gap) = metrics.gap(self.outcome().settings.fairness) else {
            return figure("Largest gap between groups", "–", format!("cannot be measured {on}"));
        };
        let note = format!("{}; {on}", gap_in_words(&gap));
        figure(
            "Largest gap between groups",
            &SHARE.write_estimate(Some(gap.estimate().abs())),
            note,
        )
    }

    fn facts(&self) -> Vec<Fact> {
        let (about, schema) = (&self.file.about, self.schema);
        let sensitive = &schema.sensitive;
        let names: Vec<String> = sensitive.groups.iter().map(|group| group.name.clone()).collect();
        let groups = match names.len() {
            n if n > MAX_GROUPS => format!("{n} groups, listed below"),
            _ => listed(&names),
        };
        let label = format!("{} = {}", schema.label.column, schema.label.positive);
        let mut facts = vec![
            Fact::new("The model predicts", label),
            Fact::new("Fair across", format!("{}: {groups}", sensitive.column_name())),
            Fact::new("Compared with", self.reference_group()),
            Fact::new("Fairness", self.outcome().settings.fairness.to_string()),
        ];
        if !sensitive.as_feature {
            let text = "The model does not see the group of a person.";
            facts.push(Fact::new("Blind", text));
        }
        let known = [("Round", &about.round), ("Date", &about.date), ("Run by", &about.run_by)];
        facts.extend(
            known.into_iter().filter_map(|(name, value)| Some(Fact::new(name, value.clone()?))),
        );
        // A schema's digest is that of its content, not of a file.
        let digests = [
            ("SHA-256 of model.json", &self.model_digest),
            ("Digest of the schema", &self.file.schema_digest),
        ];
        let digests = digests.into_iter().filter(|(_, digest)| !digest.is_empty());
        facts.extend(digests.map(|(name, digest)| Fact::code(name, digest)));
        facts
    }

    pub(super) fn n_weighted_clients(&self) -> usize {
        self.clients().iter().filter(|client| client.weight > super::clients::NEGLIGIBLE).count()
    }
}

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
    let deciding: Vec<String> =
        judgements.iter().filter(|j| j.verdict == deciding).map(explain).collect();
    let sentence = match outcome.verdict {
        Verdict::None => "Nobody said how large a gap between groups may be, or how accurate the model must be, so \
                          this page can only report the figures."
            .to_owned(),
        _ => deciding.join(" "),
    };
    Answer { tone, headline: headline.to_owned(), sentence }
}

/// A figure for each requirement, with its interval and the bound.
pub fn requirement_figures(outcome: &Outcome) -> Vec<Figure> {
    let on = format!("on the root, {}", counted(outcome.root_metrics.rows, "row", "rows"));
    let of = |judgement: &Judgement| {
        let (estimate, limit) = match judgement.requirement {
            Requirement::Gap => (judgement.figure.map(|figure| figure.abs()), "at most"),
            _ => (judgement.figure, "at least"),
        };
        let note = format!("required: {limit} {}; {on}", bound(judgement.bound));
        figure(name(judgement.requirement), &SHARE.write_estimate(estimate), note)
    };
    outcome.judgements.iter().map(of).collect()
}

/// One requirement and how it turned out, as a sentence.
fn explain(judgement: &Judgement) -> String {
    let (allowed, figure) = (bound(judgement.bound), judgement.figure);
    let what = match judgement.requirement {
        Requirement::Gap => "the gap between the groups",
        Requirement::Accuracy => "the share of correct decisions",
        Requirement::BalancedAccuracy => "the balanced accuracy",
    };
    let limit = if judgement.requirement == Requirement::Gap { "at most" } else { "at least" };
    let Some(figure) = figure else {
        return format!("On these rows, {what} cannot be measured; required is {limit} {allowed}.");
    };
    let figure = if judgement.requirement == Requirement::Gap { figure.abs() } else { figure };
    let [value, low, high] = [figure.value, figure.low, figure.high].map(|v| SHARE.write(Some(v)));
    let mut text = match (judgement.verdict, judgement.requirement) {
        (Verdict::Pass, Requirement::Gap) => {
            format!(
                "With 95\u{202f}% confidence {what} is at most {high}; up to {allowed} is allowed."
            )
        }
        (Verdict::Pass, _) => {
            format!("With 95\u{202f}% confidence {what} is at least {low}; {allowed} is required.")
        }
        (Verdict::Fail, Requirement::Gap) => {
            format!(
                "With 95\u{202f}% confidence {what} is at least {low}; only {allowed} is allowed."
            )
        }
        (Verdict::Fail, _) => {
            format!("With 95\u{202f}% confidence {what} is at most {high}; {allowed} is required.")
        }
        _ => format!(
            "On these rows {what} is {value}, but it may be anything from {low} to {high}; required is {limit} \
             {allowed}."
        ),
    };
    let missing = &judgement.unmeasured_groups;
    if !missing.is_empty() {
        text += &format!(" {} cannot be measured at all.", listed(missing));
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
    text.chars().take(1).flat_map(char::to_uppercase).chain(text.chars().skip(1)).collect()
}

/// Rounded up to two significant digits, because more would be false precision.
fn about(rows: usize) -> usize {
    let unit = 10usize.pow(rows.max(1).ilog10().saturating_sub(1));
    rows.div_ceil(unit) * unit
}

/// Which group has the higher rate.
pub(super) fn gap_in_words(gap: &Gap) -> String {
    let [first, second] = &gap.groups;
    let (high, low) = if gap.value < 0.0 { (second, first) } else { (first, second) };
    let rate = gap.condition.rate_name();
    if SHARE.write(Some(gap.size())) == SHARE.write(Some(0.0)) {
        format!("{first} and {second} have the same {rate}")
    } else {
        format!("the {rate} of {high} is higher than that of {low}")
    }
}

fn bound(bound: f64) -> String {
    let text = Format::Percent(2).write(Some(bound));
    text.replace(".00\u{202f}", "\u{202f}")
}

fn name(requirement: Requirement) -> &'static str {
    match requirement {
        Requirement::Gap => "Largest gap between groups",
        Requirement::Accuracy => "Correct decisions",
        Requirement::BalancedAccuracy => "Balanced accuracy",
    }
}

fn figure(label: &str, value: &str, note: String) -> Figure {
    Figure { label: label.to_owned(), value: value.to_owned(), note }
}
