//! A defense at a place of the grid, over its seeds.

use equipoise_core::{Criterion, Defense};

use crate::experiment::{Cell, Change, Experiment, Figures, Variant};
use crate::scenario::ScenarioKind;

/// The method.
pub(super) const METHOD: Variant = Variant::Defense(Defense::Bilevel);
/// All proxies together, the paper's baseline.
pub(super) const POOLED: Variant = Variant::Defense(Defense::Pooled);
/// FedASL.
pub(super) const FEDASL: Variant = Variant::Defense(Defense::Fedasl);
/// FedNolowe.
pub(super) const FEDNOLOWE: Variant = Variant::Defense(Defense::Fednolowe);

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
        over_all_seeds(&self.cells_at(place, scenario, unreliable, None), variant)
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
        over_all_seeds(&cells, variant)
    }
}

/// `None` also where the defense could not be run for one of the seeds.
fn over_all_seeds(cells: &[&Cell], variant: Variant) -> Option<Figures> {
    let all = cells.iter().all(|cell| cell.problem.is_none());
    all.then(|| Figures::of(cells, variant)).flatten()
}
