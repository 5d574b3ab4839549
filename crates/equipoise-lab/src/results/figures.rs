//! The figures of a defense in a cell of the grid, over its seeds.

use equipoise_core::{Criterion, Defense};

use crate::experiment::{Cell, Experiment, Figures, Variant};
use crate::scenario::ScenarioKind;

/// The paper's method.
pub(super) const METHOD: Variant = Variant::Defense(Defense::Bilevel);
/// All proxies together, the paper's baseline.
pub(super) const POOLED: Variant = Variant::Defense(Defense::Pooled);
pub(super) const FEDASL: Variant = Variant::Defense(Defense::Fedasl);
pub(super) const FEDNOLOWE: Variant = Variant::Defense(Defense::Fednolowe);

/// Dataset and fairness.
pub(super) type Combination<'a> = (&'a str, Criterion);

impl Experiment {
    /// One cell per seed.
    pub(super) fn cells_at(
        &self,
        (dataset, fairness): Combination<'_>,
        scenario: ScenarioKind,
        unreliable: f64,
    ) -> Vec<&Cell> {
        let matches = |cell: &&Cell| {
            let key = &cell.key;
            (&*key.dataset, key.fairness, key.scenario, key.unreliable)
                == (dataset, fairness, scenario, unreliable)
        };
        self.grid.iter().filter(matches).collect()
    }

    /// A defense in the grid's realistic scenario, over the seeds that could be run.
    pub(super) fn realistic(
        &self,
        combination: Combination<'_>,
        unreliable: f64,
        variant: Variant,
    ) -> Option<Figures> {
        let cells = self.cells_at(combination, ScenarioKind::Realistic, unreliable);
        Figures::of(&cells, variant)
    }
}
