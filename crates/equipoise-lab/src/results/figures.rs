//! A defense at a place of the grid, over its seeds.

use equipoise_core::{Criterion, Defense};

use crate::experiment::{Cell, Change, DefenseResult, Experiment, Spread, Variant};
use crate::scenario::ScenarioKind;

/// The method.
pub(super) const METHOD: Variant = Variant::Defense(Defense::Bilevel);
/// All proxies together, the paper's baseline.
pub(super) const POOLED: Variant = Variant::Defense(Defense::Pooled);
/// FedASL.
pub(super) const FEDASL: Variant = Variant::Defense(Defense::Fedasl);
/// FedNolowe.
pub(super) const FEDNOLOWE: Variant = Variant::Defense(Defense::Fednolowe);

/// A defense over the seeds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    /// In percent.
    pub(super) accuracy: Spread,
    /// In percent.
    pub(super) balanced: Spread,
    /// |SPD| or |EOD|.
    pub(super) fairness: Spread,
    /// Sum of the weights of unreliable clients.
    pub(super) unreliable_weight: Spread,
    /// The largest such sum among the seeds.
    pub(super) largest_unreliable_weight: f64,
}

/// Dataset and fairness.
pub(super) type Place<'a> = (&'a str, Criterion);

impl Experiment {
    /// Cells, seed by seed.
    pub(super) fn cells_at(
        &self,
        (dataset, fairness): Place<'_>,
        scenario: ScenarioKind,
        unreliable: f64,
        change: Option<Change>,
    ) -> Vec<&Cell> {
        let cells = if change.is_none() { &self.grid } else { &self.changed };
        let here = |cell: &&Cell| {
            let key = &cell.key;
            (&*key.dataset, key.fairness, key.scenario, key.unreliable, key.change)
                == (dataset, fairness, scenario, unreliable, change)
        };
        cells.iter().filter(here).collect()
    }

    /// A defense in the grid.
    pub(super) fn figures(
        &self,
        place: Place<'_>,
        scenario: ScenarioKind,
        unreliable: f64,
        variant: Variant,
    ) -> Option<Figures> {
        Figures::of(&self.cells_at(place, scenario, unreliable, None), variant)
    }

    /// A defense with one thing changed; the experiment's own value is the grid's.
    pub(super) fn changed_figures(
        &self,
        place: Place<'_>,
        unreliable: f64,
        change: Change,
        variant: Variant,
    ) -> Option<Figures> {
        let scenario = self.settings.ablation_scenario();
        let own = change.apply(&self.settings) == self.settings;
        let cells = self.cells_at(place, scenario, unreliable, (!own).then_some(change));
        Figures::of(&cells, variant)
    }
}

impl Figures {
    /// `None` where the defense was not run, or could not be for one of the seeds.
    pub(super) fn of(cells: &[&Cell], variant: Variant) -> Option<Self> {
        if cells.iter().any(|cell| cell.problem.is_some()) {
            return None;
        }
        let results: Vec<(&Cell, &DefenseResult)> = cells
            .iter()
            .filter_map(|cell| {
                Some((*cell, cell.results.iter().find(|result| result.variant == variant)?))
            })
            .collect();
        if results.is_empty() {
            return None;
        }
        let spread = |value: &dyn Fn(&Cell, &DefenseResult) -> f64| {
            Spread::of(
                &results.iter().map(|(cell, result)| value(cell, result)).collect::<Vec<_>>(),
            )
        };
        let percent = |value: Option<f64>| 100.0 * value.unwrap_or(f64::NAN);
        let weight = |cell: &Cell, result: &DefenseResult| unreliable_weight(cell, &result.weights);
        Some(Self {
            accuracy: spread(&|_, result| percent(result.accuracy)),
            balanced: spread(&|_, result| percent(result.balanced_accuracy)),
            fairness: spread(&|cell, result| {
                result.difference(cell.key.fairness).unwrap_or(f64::NAN).abs()
            }),
            unreliable_weight: spread(&weight),
            largest_unreliable_weight: results
                .iter()
                .map(|(cell, result)| weight(cell, result))
                .fold(0.0, f64::max),
        })
    }
}

/// Sum of the weights of unreliable clients.
pub(super) fn unreliable_weight(cell: &Cell, weights: &[f64]) -> f64 {
    // The sum of nothing is −0, which would be printed so.
    split_weights(cell, weights).1.iter().sum::<f64>() + 0.0
}

/// Weights of the reliable clients, then of the others, each in the order of the clients.
pub(super) fn split_weights(cell: &Cell, weights: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (unreliable, reliable): (Vec<_>, Vec<_>) = cell
        .clients
        .iter()
        .zip(weights)
        .partition(|(client, _)| cell.unreliable_clients.contains(client));
    let weights = |side: Vec<(&String, &f64)>| side.into_iter().map(|(_, &w)| w).collect();
    (weights(reliable), weights(unreliable))
}
