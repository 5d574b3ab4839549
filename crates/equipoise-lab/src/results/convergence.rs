//! How the method got to its weights, for seed 1.

use equipoise_report::{Block, Convergence, Section};

use super::Results;
use super::figures::{METHOD, Place};
use super::wording::{place_words, share};
use crate::scenario::ScenarioKind;

impl Results<'_> {
    /// Objective, violation and weights, step by step, where most clients are unreliable.
    pub(super) fn convergence_section(&self) -> Option<Section> {
        let settings = &self.experiment.settings;
        let unreliable = settings.unreliable.iter().copied().fold(f64::NAN, f64::max);
        let places = settings.combinations();
        let blocks: Vec<Block> = places
            .into_iter()
            .filter_map(|place| self.convergence_charts(place, unreliable))
            .flatten()
            .collect();
        if blocks.is_empty() {
            return None;
        }
        Some(Section {
            heading: "How the method converges".to_owned(),
            lead: format!(
                "Seed 1, {} unreliable. The experiment's folder has all of it, and other shares, in traces.csv.",
                share(unreliable)
            ),
            blocks,
        })
    }

    fn convergence_charts(&self, place: Place<'_>, unreliable: f64) -> Option<Vec<Block>> {
        let kinds = [ScenarioKind::Realistic, ScenarioKind::Ideal];
        let mut cells = kinds.into_iter().filter_map(|kind| {
            self.experiment.cells_at(place, kind, unreliable, None).first().copied()
        });
        let cell = cells.next()?;
        let result = cell.results.iter().find(|result| result.variant == METHOD)?;
        if result.trace.is_empty() {
            return None;
        }
        let names: Vec<String> = cell
            .clients
            .iter()
            .map(|client| match cell.unreliable_clients.contains(client) {
                true => format!("{client}*"),
                false => client.clone(),
            })
            .collect();
        let convergence = Convergence {
            trace: &result.trace,
            objective: result.objective,
            violation: result.violation,
            clients: names.iter().map(String::as_str).zip(result.weights.iter().copied()).collect(),
        };
        let [objective, violation, mut weights] = convergence.charts();
        weights.sentence += " Unreliable clients are marked *.";
        let charts = [objective, violation, weights].map(|mut chart| {
            chart.title = format!("{}: {}", place_words(place), lower_first(&chart.title));
            Block::Chart(chart)
        });
        Some(charts.into())
    }
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
