//! How bilevel converged, for the first seed.

use equipoise_report::{Block, Convergence, Section};

use super::Results;
use super::figures::{Combination, METHOD};
use super::wording::share;
use crate::scenario::ScenarioKind;

impl Results<'_> {
    /// Objective, violation and weights by step, for the largest share of unreliable clients.
    pub(super) fn convergence_section(&self) -> Option<Section> {
        let shares = self.experiment.settings.unreliable.iter();
        let unreliable = shares.copied().fold(f64::NAN, f64::max);
        let lead = format!(
            "Bilevel on the first seed, {} unreliable. The traces for all shares are in traces.csv in the experiment's folder.",
            share(unreliable)
        );
        self.section("Convergence", lead, |combination| {
            self.convergence_charts(combination, unreliable).into_iter().flatten()
        })
    }

    fn convergence_charts(
        &self,
        combination: Combination<'_>,
        unreliable: f64,
    ) -> Option<[Block; 3]> {
        let kinds = [ScenarioKind::Realistic, ScenarioKind::Ideal];
        let cell = kinds.into_iter().find_map(|kind| {
            self.experiment.cells_at(combination, kind, unreliable).first().copied()
        })?;
        let result = cell.results.iter().find(|result| result.variant == METHOD)?;
        if result.trace.is_empty() {
            return None;
        }
        let mark = |client| if cell.unreliable_clients.contains(client) { "*" } else { "" };
        let names: Vec<String> =
            cell.clients.iter().map(|client| format!("{client}{}", mark(client))).collect();
        let convergence = Convergence {
            trace: &result.trace,
            objective: result.objective,
            violation: result.violation,
            clients: names.iter().map(String::as_str).zip(result.weights.iter().copied()).collect(),
        };
        let [objective, violation, mut weights] = convergence.charts();
        weights.sentence += " Unreliable clients are marked *.";
        Some([objective, violation, weights].map(|mut chart| {
            chart.title = format!("{}: {}", self.title(combination), lower_first(&chart.title));
            Block::Chart(chart)
        }))
    }
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
