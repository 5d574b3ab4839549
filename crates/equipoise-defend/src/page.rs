//! report.html: the outcome for people who were not there.

use equipoise_core::{
    Criterion, Defense, Fairness, Metrics, NoopObserver, Outcome, Round, Rows, Settings, solve,
};
use equipoise_data::OutcomeFile;
use equipoise_report::{Measured, OutcomeReport, ReportClient, ReportOverlap};

use crate::{Error, Timing};

/// What the page is about, besides the outcome itself.
pub struct PageContext<'a> {
    /// Ids of clients that are known to be unreliable: in a demo, never in a real round.
    pub unreliable: &'a [&'a str],
    /// Models measured on rows, named `defense on rows`.
    pub measured: Vec<Measured>,
    /// What the reader must know beside the warnings of outcome and tables.
    pub notes: Vec<String>,
    /// Whether the page tells how long the solve took.
    pub timing: Timing,
}

/// The page.
pub fn render(file: &OutcomeFile, outcome: &Outcome, context: PageContext<'_>) -> String {
    let clients = file.clients.iter().map(|client| ReportClient {
        id: client.id.clone(),
        weight: client.weight,
        proxy_rows: client.proxy_rows,
        root_rows: client.root_rows,
        tag: context.unreliable.contains(&client.id.as_str()).then(|| "unreliable".to_owned()),
    });
    let overlaps = file.overlaps.iter().map(|overlap| ReportOverlap {
        clients: overlap.clients.clone(),
        shared_rows: overlap.shared_rows as usize,
        share: overlap.share,
        estimated: overlap.estimated,
    });
    let settings = &file.settings;
    OutcomeReport {
        title: "Outcome of a round".to_owned(),
        round: format!(
            "{} clients, defense {}, {}",
            file.clients.len(),
            settings.defense,
            fairness_in_words(settings.fairness)
        ),
        clients: clients.collect(),
        overlaps: overlaps.collect(),
        more_overlaps: file.more_overlaps,
        outcome,
        features: &file.features,
        measured: context.measured,
        // The outcome's own warnings are added by the page.
        warnings: file
            .warnings
            .iter()
            .filter(|warning| warning.table.is_some())
            .map(|warning| warning.message.clone())
            .chain(context.notes)
            .collect(),
        seconds: (context.timing == Timing::Recorded).then_some(file.seconds),
    }
    .render()
}

/// The model and, as what it is compared with, the pooled one, both on the root.
pub fn measured_on_root(round: &Round, file: &OutcomeFile) -> Result<Vec<Measured>, Error> {
    let named =
        |defense: Defense, metrics| Measured { name: format!("{defense} on the root"), metrics };
    let settings = file.settings;
    let mut measured = vec![named(settings.defense, file.root_metrics.clone())];
    if settings.defense != Defense::Pooled {
        let pooled = Settings { defense: Defense::Pooled, ..settings }.validate()?;
        let theta = solve(round, &pooled, &mut NoopObserver)?.theta;
        let root = Rows::concat(round.root().tables())?;
        measured.push(named(Defense::Pooled, Metrics::of(&theta, &root)?));
    }
    Ok(measured)
}

/// The fairness in words.
pub fn fairness_in_words(fairness: Fairness) -> String {
    match fairness.criterion() {
        Criterion::Sp => "statistical parity".to_string(),
        Criterion::Eo => "equal opportunity".to_string(),
        Criterion::Both => {
            format!("statistical parity and equal opportunity, ν = {}", fairness.nu())
        }
    }
}
