//! The default defense in the cells of the paper's Table III, beside the paper and beside what could be reached at best.

use equipoise_report::{Block, Cell, Column, Section, Table};

use super::Results;
use super::figures::{Combination, METHOD};
use super::wording::{measure, number, share, variant_name};
use crate::experiment::{Figures, Reference, Spread};
use crate::scenario::ScenarioKind;

/// A line of the table: who, accuracy, balanced accuracy and unfairness, and weights if it has some.
struct Line {
    name: String,
    accuracy: Option<f64>,
    balanced: Option<f64>,
    fairness: Option<f64>,
    deviation: Option<f64>,
    weights: Option<(f64, f64)>,
}

impl Results<'_> {
    /// Only if the profile's defense is not the paper's: then there are two methods to compare.
    pub(super) fn nine_cells_section(&self) -> Option<Section> {
        if self.experiment.settings.method() == METHOD {
            return None;
        }
        self.section(
            self.heading("Ours beside the paper", "The default defense"),
            "Realistic scenarios. “Reliable mean” averages the models of the truly reliable clients, whom no server \
             knows, and “central fair” is a fair model of all clients' raw rows, which no server has: a defense can \
             hardly be better than these. “Unreliable” is the weight of the unreliable clients, and “effective” the \
             number of reliable clients that count.",
            |combination| self.cells_table(combination).map(Block::Table),
        )
    }

    fn cells_table(&self, combination: Combination<'_>) -> Option<Table> {
        let shares = &self.experiment.settings.unreliable;
        let rows: Vec<Vec<Cell>> = shares
            .iter()
            .flat_map(|&unreliable| {
                let lines = self.cell_lines(combination, unreliable).into_iter();
                lines.map(move |line| line.row(unreliable))
            })
            .collect();
        let numbers =
            [measure(combination.1), "±", "Accuracy", "Balanced", "Unreliable", "Effective"];
        let columns = Column::list(["Share", "Model"], numbers);
        (!rows.is_empty()).then(|| Table { caption: self.title(combination), columns, rows })
    }

    fn cell_lines(&self, combination: Combination<'_>, unreliable: f64) -> Vec<Line> {
        let ours = self.experiment.settings.method();
        let published = self.published(combination, unreliable, METHOD).map(|paper| Line {
            name: "paper".to_owned(),
            accuracy: Some(paper.accuracy),
            balanced: None,
            fairness: Some(paper.fairness),
            deviation: None,
            weights: None,
        });
        let measured = [ours, METHOD].into_iter().filter_map(|variant| {
            let figures = self.experiment.realistic(combination, unreliable, variant)?;
            Some(Line::of(variant_name(variant), &figures))
        });
        let references = [
            (Reference::ReliableMean, "reliable\u{a0}mean"),
            (Reference::CentralFair, "central\u{a0}fair"),
        ];
        let references = references.into_iter().filter_map(|(reference, name)| {
            self.reference(combination, unreliable, reference, name)
        });
        published.into_iter().chain(measured).chain(references).collect()
    }

    fn reference(
        &self,
        combination: Combination<'_>,
        unreliable: f64,
        reference: Reference,
        name: &str,
    ) -> Option<Line> {
        let cells = self.experiment.cells_at(combination, ScenarioKind::Realistic, unreliable);
        let found = cells.iter().flat_map(|cell| &cell.references);
        let found: Vec<_> = found.filter(|result| result.reference == reference).collect();
        if found.is_empty() {
            return None;
        }
        let spread = |values: Vec<Option<f64>>| {
            Spread::of(&values.into_iter().map(|v| v.unwrap_or(f64::NAN)).collect::<Vec<_>>())
        };
        let percent = |value: Option<f64>| value.map(|v| 100.0 * v);
        let fairness =
            spread(found.iter().map(|r| r.difference(combination.1).map(f64::abs)).collect());
        Some(Line {
            name: name.to_owned(),
            accuracy: Some(spread(found.iter().map(|r| percent(r.accuracy)).collect()).mean),
            balanced: Some(
                spread(found.iter().map(|r| percent(r.balanced_accuracy)).collect()).mean,
            ),
            fairness: Some(fairness.mean),
            deviation: fairness.deviation(),
            weights: None,
        })
    }
}

impl Line {
    fn of(name: &str, figures: &Figures) -> Self {
        Self {
            name: name.to_owned(),
            accuracy: Some(figures.accuracy.mean),
            balanced: Some(figures.balanced.mean),
            fairness: Some(figures.gap.mean),
            deviation: figures.gap.deviation(),
            weights: Some((figures.unreliable_weight.mean, figures.effective_reliable.mean)),
        }
    }

    fn row(self, unreliable: f64) -> Vec<Cell> {
        vec![
            Cell::text(share(unreliable)),
            Cell::text(self.name),
            number(self.fairness, 4),
            number(self.deviation, 4),
            number(self.accuracy, 2),
            number(self.balanced, 2),
            number(self.weights.map(|(unreliable, _)| unreliable), 3),
            number(self.weights.map(|(_, effective)| effective), 2),
        ]
    }
}
