//! Table I: the weights in the ideal scenarios, ours beside the paper's.

use equipoise_report::{Block, Cell, Column, Section, Table};

use super::Results;
use super::figures::{Combination, FEDASL, FEDNOLOWE, METHOD};
use super::paper::{self, PublishedWeights};
use super::wording::{difference, fixed, number, share, variant_name, without_missing_paper};
use crate::experiment::{Figures, Variant, split_weights};
use crate::scenario::ScenarioKind;

impl Results<'_> {
    pub(super) fn weights_section(&self) -> Option<Section> {
        self.section(
            self.heading("Table I: client weights", "Client weights"),
            "Ideal scenarios: all reliable clients send the same fair proxy, so the right answer is equal weights for them \
             and none for the others. “Weights” are from the first seed, reliable clients first, then the unreliable \
             ones, marked *. “Sum of *” is the total weight of the unreliable clients, as the mean over all seeds, and \
             “Largest” is its largest value.",
            |combination| self.weights_table(combination),
        )
    }

    fn weights_table(&self, combination: Combination<'_>) -> Option<Block> {
        let shares = self.experiment.settings.unreliable.iter();
        let mut variants = vec![METHOD, FEDASL, FEDNOLOWE];
        if self.experiment.settings.method() != METHOD {
            variants.insert(0, self.experiment.settings.method());
        }
        let variants = &variants;
        let cases = shares.flat_map(|&share| variants.iter().map(move |&v| (share, v)));
        let rows: Vec<Vec<Cell>> = cases
            .filter_map(|(unreliable, variant)| self.weights_row(combination, unreliable, variant))
            .collect();
        let texts = ["Unreliable", "Defense", "Weights", "Paper's weights"];
        let columns = Column::list(texts, ["Sum of *", "Largest", "Paper", "Diff."]);
        let table = Table { caption: self.title(combination), columns, rows };
        (!table.rows.is_empty()).then(|| Block::Table(without_missing_paper(table)))
    }

    fn weights_row(
        &self,
        combination: Combination<'_>,
        unreliable: f64,
        variant: Variant,
    ) -> Option<Vec<Cell>> {
        let cells = self.experiment.cells_at(combination, ScenarioKind::Ideal, unreliable);
        let figures = Figures::of(&cells, variant)?;
        let first = cells.iter().find(|cell| cell.problem.is_none())?;
        let result = first.results.iter().find(|result| result.variant == variant)?;
        let same = self.experiment.settings.n_clients == paper::N_CLIENTS;
        let (dataset, fairness) = combination;
        let published =
            same.then(|| paper::weights(dataset, fairness, unreliable, variant)).flatten();
        let papers = published.map(|published| published.split());
        let papers_sum = papers.as_ref().map(|(_, others)| others.iter().sum::<f64>());
        let sum = figures.unreliable_weight.mean;
        let row = vec![
            Cell::text(share(unreliable)),
            Cell::text(variant_name(variant)),
            Cell::text(weight_list(&split_weights(first, &result.weights))),
            papers.map_or_else(|| number(None, 2), |papers| Cell::text(weight_list(&papers))),
            number(Some(sum), 3),
            number(Some(figures.largest_unreliable_weight), 3),
            number(papers_sum, 3),
            difference(sum, papers_sum, 3),
        ];
        let strong = variant == self.experiment.settings.method();
        Some(if strong { row.into_iter().map(Cell::strong).collect() } else { row })
    }
}

impl PublishedWeights {
    /// Reliable clients' weights, then the others'.
    fn split(&self) -> (Vec<f64>, Vec<f64>) {
        let side = |unreliable: bool| {
            let both = self.weights.iter().zip(self.unreliable);
            both.filter(|(_, marked)| *marked == unreliable).map(|(&w, _)| w).collect()
        };
        (side(false), side(true))
    }
}

/// ".50 .50 .00*", on one line.
fn weight_list((reliable, others): &(Vec<f64>, Vec<f64>)) -> String {
    let written = |weight: &f64| {
        let text = fixed(*weight, 2);
        text.strip_prefix('0').map(str::to_owned).unwrap_or(text)
    };
    let marked = others.iter().map(|weight| written(weight) + "*");
    reliable.iter().map(written).chain(marked).collect::<Vec<_>>().join("\u{a0}")
}
