//! The page about one outcome, for an auditor who is not a programmer.
//!
//! It answers "may we use it?" first. Then come the warnings, the weights, fairness, the groups, the audit of every
//! client and the model. What only a specialist needs, the solver, comes last and is folded away.

mod answer;
mod audit;
mod clients;
mod fairness;
mod gaps;
mod glossary;
mod groups;
mod look_closer;
mod model;
mod overlaps;
mod settings;
mod solver;
mod trade_off;
mod verdict;
mod warnings;
mod wording;

use equipoise_core::{ClientOutcome, Defense, Metrics, Outcome};
use equipoise_data::{Digest, Error, Model, Schema};

use crate::format::counted;
use crate::page::Page;

pub use answer::{answer, requirement_text, root_figures};
pub use verdict::groups_text;

/// Heading of the page about a round.
const TITLE: &str = "Outcome of a round";

/// An outcome and everything else that its page shows.
#[derive(Debug, Clone)]
pub struct OutcomePage<'a> {
    /// The outcome.
    pub outcome: &'a Outcome,
    /// The schema of its rows.
    pub schema: &'a Schema,
    /// Digest of `model.json`.
    pub model_digest: String,
    /// Ids of clients known to be unreliable: in a demo, never in a real round.
    pub unreliable: &'a [&'a str],
    /// Models measured on tables. The first measurement of the outcome's own defense gives the key figures.
    pub measured: Vec<Measured>,
}

/// Figures of a model on a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The defense whose model was measured.
    pub defense: Defense,
    /// The rows it was measured on, such as "the test rows". Models on the same rows are compared.
    pub rows: String,
    /// The figures.
    pub metrics: Metrics,
}

impl std::fmt::Display for Measured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} on {}", self.defense, self.rows)
    }
}

impl<'a> OutcomePage<'a> {
    /// The page of an outcome and its schema: all figures are those of the outcome.
    pub fn new(outcome: &'a Outcome, schema: &'a Schema) -> Result<Self, Error> {
        let model = Model::of(outcome, schema)?;
        Ok(Self {
            outcome,
            schema,
            model_digest: Digest::of(model.to_json().as_bytes()).to_string(),
            unreliable: &[],
            measured: Measured::on_root(outcome),
        })
    }
}

impl Measured {
    /// The defense and the pooled model on the root, as the outcome records them.
    pub fn on_root(outcome: &Outcome) -> Vec<Self> {
        let on_root = |defense, metrics: &Metrics| Self {
            defense,
            rows: "the root".to_owned(),
            metrics: metrics.clone(),
        };
        let own = on_root(outcome.settings.defense, &outcome.root_metrics);
        let pooled = outcome.pooled_root_metrics.as_ref();
        [own].into_iter().chain(pooled.map(|metrics| on_root(Defense::Pooled, metrics))).collect()
    }
}

impl OutcomePage<'_> {
    /// The page.
    pub fn page(&self) -> Page {
        let mut sections = vec![self.verdict_section()];
        sections.extend(self.warnings_section());
        sections.push(self.clients_section());
        sections.extend(self.fairness_section());
        sections.extend(self.groups_section());
        sections.extend(self.trade_off_section());
        sections.extend(self.audit_section());
        sections.push(self.model_section());
        sections.push(glossary::section(self.outcome.settings.defense));
        sections.push(self.solver_section());
        Page { title: TITLE.to_owned(), subtitle: self.subtitle(), sections }
    }

    /// The page as HTML.
    pub fn render(&self) -> String {
        self.page().render()
    }

    fn clients(&self) -> &[ClientOutcome] {
        &self.outcome.clients
    }

    fn subtitle(&self) -> String {
        let about = &self.outcome.about;
        let known = [&about.round, &about.date].into_iter().flatten().cloned();
        let clients = counted(self.clients().len(), "client", "clients");
        known.chain([clients]).collect::<Vec<_>>().join(" · ")
    }

    /// The measurement that gives the key figures.
    fn primary(&self) -> Option<&Measured> {
        let defense = self.outcome.settings.defense;
        self.measured.iter().find(|m| m.defense == defense).or(self.measured.first())
    }

    /// The name of an encoded feature. The entry of a group is named after the group for which it is 1: outcome files
    /// name it after the column if there are only two groups. A feature without a name is numbered.
    fn feature(&self, column: usize) -> String {
        let sensitive = &self.schema.sensitive;
        let Some(name) = self.outcome.features.get(column) else {
            return format!("coefficient {}", column + 1);
        };
        let is_group = sensitive.as_feature && sensitive.columns[..] == [name.clone()];
        match &sensitive.groups[..] {
            [_, encoded_as_1] if is_group => encoded_as_1.name.clone(),
            _ => name.clone(),
        }
    }

    /// The name of the group that reports compare the others with.
    fn reference_group(&self) -> &str {
        let sensitive = &self.schema.sensitive;
        sensitive.groups.get(sensitive.reference).map_or("", |group| &group.name)
    }
}

/// With a capital letter and a full stop.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let end = if text.ends_with(['.', '?', '!']) { None } else { Some('.') };
    first.chain(letters).chain(end).collect()
}

/// Maximum number of bars in a chart; tables list all values.
const MAX_BARS: usize = 30;
