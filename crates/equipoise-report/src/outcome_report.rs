//! The page about one outcome, for a reader who audits and does not program.

mod clients;
mod convergence;
mod fairness;
mod glossary;
mod key_figures;
mod model;
mod overlaps;
mod settings;
mod wording;

use equipoise_core::{Metrics, Outcome};

use crate::block::{Block, NoticeKind};
use crate::format::{count, counted};
use crate::page::{Page, Section};

/// What is known about one outcome.
#[derive(Debug, Clone)]
pub struct OutcomeReport<'a> {
    /// Heading of the page.
    pub title: String,
    /// Which round it was, in a few words; may be empty.
    pub round: String,
    /// The clients, in the order of the outcome's weights.
    pub clients: Vec<ReportClient>,
    /// Clients whose proxies have rows in common, largest share first.
    pub overlaps: Vec<ReportOverlap>,
    /// Pairs of such clients beyond those.
    pub more_overlaps: usize,
    /// What the defense gave.
    pub outcome: &'a Outcome,
    /// Names of the coefficients, in the order of the outcome's θ.
    pub features: &'a [String],
    /// Figures of models on tables. The first of the outcome's own defense gives the key figures.
    pub measured: Vec<Measured>,
    /// What the caller wants the reader to know, beside the outcome's own warnings.
    pub warnings: Vec<String>,
    /// How long the solve took.
    pub seconds: Option<f64>,
}

/// A client, as the page shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportClient {
    /// Its id.
    pub id: String,
    /// Its weight.
    pub weight: f64,
    /// Rows of its proxy.
    pub proxy_rows: usize,
    /// Rows of its root.
    pub root_rows: usize,
    /// A remark, such as "unreliable" where an experiment knows; `None` where there is nothing to say.
    pub tag: Option<String>,
}

/// Two clients whose proxies have rows in common, as the page shows them.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportOverlap {
    /// Their ids.
    pub clients: [String; 2],
    /// Different rows that both have.
    pub shared_rows: usize,
    /// The same as a share of the different rows of the client that has fewer.
    pub share: f64,
    /// Whether the numbers are estimates.
    pub estimated: bool,
}

/// Figures of a model on a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// `<defense> on <rows>`, such as "bilevel on the test rows". Models on the same rows are compared.
    pub name: String,
    /// The figures.
    pub metrics: Metrics,
}

impl Measured {
    /// The name's two halves: whose model, on which rows.
    fn parts(&self) -> (&str, &str) {
        self.name.split_once(" on ").unwrap_or((&self.name, ""))
    }
}

impl OutcomeReport<'_> {
    /// The page, to be changed or rendered.
    pub fn page(&self) -> Page {
        let mut sections = vec![self.summary()];
        sections.push(self.clients_section());
        sections.extend(self.fairness_section());
        sections.extend(self.groups_section());
        sections.push(self.convergence_section());
        sections.push(self.model_section());
        sections.push(self.settings_section());
        sections.push(glossary::section());
        Page { title: self.title.clone(), subtitle: self.subtitle(), sections }
    }

    /// The page as HTML.
    pub fn render(&self) -> String {
        self.page().render()
    }

    fn subtitle(&self) -> String {
        let defense = format!("Defense: {}", self.outcome.settings.defense);
        if self.round.is_empty() { defense } else { format!("Round: {} · {defense}", self.round) }
    }

    fn summary(&self) -> Section {
        let proxy_rows: usize = self.clients.iter().map(|client| client.proxy_rows).sum();
        let root_rows: usize = self.clients.iter().map(|client| client.root_rows).sum();
        let lead = format!(
            "{} sent one proxy dataset each, {} rows in all, and the server held {} trusted root rows; \
             from these the defense “{}” ({}) made one model. This page assesses how accurate and how fair \
             that model is, how much each client counted, and how far the result can be relied on.",
            counted(self.clients.len(), "client", "clients"),
            count(proxy_rows),
            count(root_rows),
            self.outcome.settings.defense,
            wording::defense(self.outcome.settings.defense),
        );
        let mut blocks = vec![Block::Figures(self.key_figures())];
        let own = self.outcome.warnings.iter().map(|warning| capitalised(&warning.to_string()));
        blocks.extend(
            own.chain(self.warnings.iter().cloned())
                .chain(self.gaps())
                .map(|text| Block::Notice { kind: NoticeKind::Warning, text }),
        );
        Section { heading: "Summary".to_owned(), lead, blocks }
    }

    /// The figures that could not be given, and why.
    fn gaps(&self) -> Vec<String> {
        let sentence = |measured: &Measured, gap: String| format!("{}: {gap}.", measured.name);
        let gaps = |measured: &Measured| {
            measured
                .metrics
                .gaps()
                .into_iter()
                .map(|gap| sentence(measured, gap))
                .collect::<Vec<_>>()
        };
        self.measured.iter().flat_map(gaps).collect()
    }

    /// What the key figures are taken from.
    fn primary(&self) -> Option<&Measured> {
        let defense = self.outcome.settings.defense.name();
        self.measured.iter().find(|m| m.parts().0 == defense).or(self.measured.first())
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).chain(['.']).collect(),
        None => String::new(),
    }
}

/// Charts show this many bars at most; tables show all.
const MAX_BARS: usize = 30;

/// `z` of a 95 % interval.
const Z95: f64 = 1.96;
