//! report.html: the outcome for people who were not there.

use equipoise_core::{Defense, Metrics, Outcome, Round, Rows, Settings, Unobserved, solve};
use equipoise_data::OutcomeFile;
use equipoise_report::{Measured, OutcomeReport, ReportClient};

use crate::fairness_args;

/// What the page is about, besides the outcome itself.
pub(crate) struct PageContext<'a> {
    /// Ids of clients that are known to be unreliable: in a demo, never in a real round.
    pub(crate) unreliable: &'a [&'a str],
    /// Models measured on rows, named `defense on rows`.
    pub(crate) measured: Vec<Measured>,
}

/// The page.
pub(crate) fn render(file: &OutcomeFile, outcome: &Outcome, context: PageContext<'_>) -> String {
    let clients = file.clients.iter().map(|client| ReportClient {
        id: client.id.clone(),
        weight: client.weight,
        proxy_rows: client.proxy_rows,
        root_rows: client.root_rows,
        tag: context.unreliable.contains(&client.id.as_str()).then(|| "unreliable".to_owned()),
    });
    let settings = &file.settings;
    OutcomeReport {
        title: "Outcome of a round".to_owned(),
        round: format!(
            "{} clients, defense {}, {}",
            file.clients.len(),
            settings.defense,
            fairness_args::in_words(settings.fairness)
        ),
        clients: clients.collect(),
        outcome,
        features: &file.features,
        measured: context.measured,
        // The outcome's own warnings are added by the page.
        warnings: file
            .warnings
            .iter()
            .filter(|warning| warning.table.is_some())
            .map(|warning| warning.message.clone())
            .collect(),
        seconds: Some(file.seconds),
    }
    .render()
}

/// The model and, as what it is compared with, the pooled one, both on the root.
pub(crate) fn measured_on_root(round: &Round, file: &OutcomeFile) -> anyhow::Result<Vec<Measured>> {
    let named =
        |defense: Defense, metrics| Measured { name: format!("{defense} on the root"), metrics };
    let settings = file.settings;
    let mut measured = vec![named(settings.defense, file.root_metrics.clone())];
    if settings.defense != Defense::Pooled {
        let pooled = Settings { defense: Defense::Pooled, ..settings }.validate()?;
        let theta = solve(round, &pooled, &mut Unobserved)?.theta;
        let root = Rows::concat(&round.root().rows().clients().iter().collect::<Vec<_>>())?;
        measured.push(named(Defense::Pooled, Metrics::of(&theta, &root)?));
    }
    Ok(measured)
}
