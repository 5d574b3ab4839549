//! The page about one outcome, for an auditor who is not a programmer.

mod clients;
mod convergence;
mod fairness;
mod glossary;
mod key_figures;
mod model;
mod overlaps;
mod settings;
mod wording;

use equipoise_core::{Choice, ClientOutcome, Defense, Metrics, Outcome, Warning};
use equipoise_data::OutcomeFile;

use crate::block::{Block, NoticeKind};
use crate::format::{count, counted};
use crate::page::{Page, Section};

pub use wording::termination_label;

/// Heading of the page about a round.
const TITLE: &str = "Outcome of a round";

/// An outcome and everything else that its page shows.
#[derive(Debug, Clone)]
pub struct OutcomeReport<'a> {
    /// Heading of the page.
    pub title: &'a str,
    /// The outcome.
    pub file: &'a OutcomeFile,
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

impl<'a> OutcomeReport<'a> {
    /// The report on a round, in which all figures are those of the outcome file.
    pub fn of_file(file: &'a OutcomeFile) -> Self {
        Self { title: TITLE, file, unreliable: &[], measured: Measured::on_root(file) }
    }
}

impl Measured {
    /// The defense and the pooled model on the root, as the outcome file records them.
    pub fn on_root(file: &OutcomeFile) -> Vec<Self> {
        let on_root = |defense, metrics: &Metrics| Self {
            defense,
            rows: "the root".to_owned(),
            metrics: metrics.clone(),
        };
        let own = on_root(file.outcome.settings.defense, &file.outcome.root_metrics);
        let pooled = file.pooled_root_metrics.as_ref();
        [own].into_iter().chain(pooled.map(|metrics| on_root(Defense::Pooled, metrics))).collect()
    }
}

impl OutcomeReport<'_> {
    /// The page.
    pub fn page(&self) -> Page {
        let mut sections = vec![self.summary(), self.clients_section()];
        sections.extend(self.fairness_section());
        sections.extend(self.groups_section());
        sections.push(self.convergence_section());
        sections.push(self.model_section());
        sections.push(self.settings_section());
        sections.push(glossary::section());
        Page { title: self.title.to_owned(), subtitle: self.subtitle(), sections }
    }

    /// The page as HTML.
    pub fn render(&self) -> String {
        self.page().render()
    }

    fn outcome(&self) -> &Outcome {
        &self.file.outcome
    }

    fn clients(&self) -> &[ClientOutcome] {
        &self.file.outcome.clients
    }

    fn subtitle(&self) -> String {
        let settings = &self.outcome().settings;
        format!(
            "{} · defense: {} · fairness: {}",
            counted(self.clients().len(), "client", "clients"),
            settings.defense,
            settings.fairness
        )
    }

    fn summary(&self) -> Section {
        let proxy_rows: usize = self.clients().iter().map(|client| client.proxy_rows).sum();
        let root_rows: usize = self.clients().iter().map(|client| client.root_rows).sum();
        let defense = self.outcome().settings.defense;
        let lead = format!(
            "{} sent one proxy dataset each, {} rows in total, and the server held {} trusted root rows. The \
             defense “{defense}” ({}) turned them into one model. This page shows how accurate and how fair that \
             model is, how much weight each client has, and how far the result can be trusted.",
            counted(self.clients().len(), "client", "clients"),
            count(proxy_rows),
            count(root_rows),
            lower_first(defense.description()),
        );
        let mut blocks = vec![Block::Figures(self.key_figures())];
        let warnings = self.outcome().warnings.iter().map(Warning::to_string);
        blocks.extend(
            warnings
                .chain(self.missing_figures())
                .map(|text| Block::Notice { kind: NoticeKind::Warning, text: sentence(&text) }),
        );
        Section::new("Summary", lead, blocks)
    }

    /// Figures that cannot be measured, and why.
    fn missing_figures(&self) -> impl Iterator<Item = String> + '_ {
        let of = |measured: &Measured| {
            let gaps = measured.metrics.missing().into_iter();
            gaps.map(|gap| format!("{measured}: {gap}")).collect::<Vec<_>>()
        };
        self.measured.iter().flat_map(of)
    }

    /// The measurement that gives the key figures.
    fn primary(&self) -> Option<&Measured> {
        let defense = self.outcome().settings.defense;
        self.measured.iter().find(|m| m.defense == defense).or(self.measured.first())
    }
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

/// Maximum number of bars in a chart; tables list all values.
const MAX_BARS: usize = 30;
