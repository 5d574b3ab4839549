//! Table I: the weights in the ideal scenarios, ours beside the paper's.

use equipoise_report::{Block, Cell, Column, Format, Section, Table};

use super::Results;
use super::figures::{FEDASL, FEDNOLOWE, METHOD, Place};
use super::paper::{self, PublishedWeights};
use super::wording::{difference, place_words, share, variant_words};
use crate::experiment::{Figures, Variant, split_weights};
use crate::scenario::ScenarioKind;

impl Results<'_> {
    /// Table I.
    pub(super) fn weights_section(&self) -> Option<Section> {
        let tables: Vec<Block> = self
            .experiment
            .settings
            .combinations()
            .into_iter()
            .filter_map(|place| self.weights_table(place))
            .map(Block::Table)
            .collect();
        if tables.is_empty() {
            return None;
        }
        let lead = "Ideal scenarios: all reliable clients send the same fair proxy, so equal weights for \
                    them and none for the others is the right answer. Weights are those of seed 1: reliable \
                    clients first, then the unreliable ones with a *, each in the order of the clients; the \
                    paper's are put in the same order. Which clients are unreliable depends on the split, \
                    and ours is not the paper's. The sum of the unreliable clients' weights is the mean over all seeds, then the largest.";
        Some(Section {
            heading: "Table I: weights".to_owned(),
            lead: lead.to_owned(),
            blocks: tables,
        })
    }

    fn weights_table(&self, place: Place<'_>) -> Option<Table> {
        let shares = self.experiment.settings.unreliable.iter();
        let variants = [METHOD, FEDASL, FEDNOLOWE];
        let cases = shares.flat_map(|&share| variants.map(move |variant| (share, variant)));
        let rows: Vec<Vec<Cell>> = cases
            .filter_map(|(unreliable, variant)| self.weights_row(place, unreliable, variant))
            .collect();
        (!rows.is_empty()).then(|| Table { caption: place_words(place), columns: columns(), rows })
    }

    fn weights_row(
        &self,
        place: Place<'_>,
        unreliable: f64,
        variant: Variant,
    ) -> Option<Vec<Cell>> {
        let cells = self.experiment.cells_at(place, ScenarioKind::Ideal, unreliable, None);
        let figures = Figures::of(&cells, variant)?;
        let first = cells.first()?;
        let result = first.results.iter().find(|result| result.variant == variant)?;
        let same = self.experiment.settings.n_clients == paper::N_CLIENTS;
        let published =
            same.then(|| paper::weights(place.0, place.1, unreliable, variant)).flatten();
        let theirs = published.map(|published| published.split());
        let total = theirs.as_ref().map(|(_, others)| others.iter().sum::<f64>());
        let ours = figures.unreliable_weight.mean;
        let row = vec![
            Cell::text(share(unreliable)),
            Cell::text(variant_words(variant)),
            Cell::text(weight_list(&split_weights(first, &result.weights))),
            match &theirs {
                Some(theirs) => Cell::text(weight_list(theirs)),
                None => Cell::number(None, Format::Auto),
            },
            Cell::number(ours, Format::Fixed(3)),
            Cell::number(figures.largest_unreliable_weight, Format::Fixed(3)),
            Cell::number(total, Format::Fixed(3)),
            difference(ours, total, 3),
        ];
        Some(if variant == METHOD { row.into_iter().map(Cell::strong).collect() } else { row })
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

fn columns() -> Vec<Column> {
    let texts = ["Unreliable", "Defense", "Weights", "Paper's weights"];
    let numbers = ["Sum of *", "Largest", "Paper", "Diff."];
    texts.map(Column::text).into_iter().chain(numbers.map(Column::number)).collect()
}

/// ".50 .50 .00*", on one line.
fn weight_list((reliable, others): &(Vec<f64>, Vec<f64>)) -> String {
    let written = |weight: &f64| {
        let text = Format::Fixed(2).write(Some(*weight));
        text.strip_prefix('0').map(str::to_owned).unwrap_or(text)
    };
    let marked = others.iter().map(|weight| written(weight) + "*");
    reliable.iter().map(written).chain(marked).collect::<Vec<_>>().join("\u{a0}")
}
