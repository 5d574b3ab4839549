//! The figures of a defense in a cell of the grid, over its seeds.

use equipoise_core::{Criterion, Defense};

use super::Results;
use crate::experiment::{Cell, Change, Experiment, Figures, Variant};
use crate::scenario::ScenarioKind;

/// The paper's method.
pub(super) const METHOD: Variant = Variant::Defense(Defense::Bilevel);
/// All proxies together, the paper's baseline.
pub(super) const POOLED: Variant = Variant::Defense(Defense::Pooled);
pub(super) const FEDASL: Variant = Variant::Defense(Defense::Fedasl);
pub(super) const FEDNOLOWE: Variant = Variant::Defense(Defense::Fednolowe);

/// Dataset and fairness.
pub(super) type Combination<'a> = (&'a str, Criterion);

impl<'a> Results<'a> {
    /// Every combination with every share of unreliable clients.
    pub(super) fn cases(&self) -> impl Iterator<Item = (Combination<'a>, f64)> {
        let settings = &self.experiment.settings;
        let combinations = settings.combinations().into_iter();
        combinations.flat_map(|c| settings.unreliable.iter().map(move |&share| (c, share)))
    }
}

impl Experiment {
    /// One cell per seed.
    pub(super) fn cells_at(
        &self,
        (dataset, fairness): Combination<'_>,
        scenario: ScenarioKind,
        unreliable: f64,
        change: Option<Change>,
    ) -> Vec<&Cell> {
        let cells = if change.is_none() { &self.grid } else { &self.ablation_cells };
        let matches = |cell: &&Cell| {
            let key = &cell.key;
            (&*key.dataset, key.fairness, key.scenario, key.unreliable, key.change)
                == (dataset, fairness, scenario, unreliable, change)
        };
        cells.iter().filter(matches).collect()
    }

    /// A defense in the grid's realistic scenario, over the seeds that could be run.
    pub(super) fn realistic(
        &self,
        combination: Combination<'_>,
        unreliable: f64,
        variant: Variant,
    ) -> Option<Figures> {
        let cells = self.cells_at(combination, ScenarioKind::Realistic, unreliable, None);
        Figures::of(&cells, variant)
    }

    /// The profile's defense with one setting changed. The experiment's own value is in the grid.
    pub(super) fn changed_figures(
        &self,
        combination: Combination<'_>,
        unreliable: f64,
        change: Change,
    ) -> Option<Figures> {
        let scenario = self.settings.ablation_scenario();
        let own = change.apply(&self.settings) == self.settings;
        let cells = self.cells_at(combination, scenario, unreliable, (!own).then_some(change));
        over_all_seeds(&cells, self.settings.method())
    }
}

/// `None` if the defense failed for one of the seeds.
fn over_all_seeds(cells: &[&Cell], variant: Variant) -> Option<Figures> {
    let all = cells.iter().all(|cell| cell.problem.is_none());
    all.then(|| Figures::of(cells, variant)).flatten()
}
