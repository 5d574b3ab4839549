//! Table I: the weights in the ideal scenarios, ours beside the paper's.

use equipoise_report::{Block, Cell, Column, Format, Section, Table};

use super::Results;
use super::figures::{FEDASL, FEDNOLOWE, Figures, METHOD, Place, split_weights};
use super::paper::{self, PublishedWeights};
use super::wording::{measure, share, signed, variant_words};
use crate::experiment::Variant;
use crate::scenario::ScenarioKind;
use crate::source::dataset_title;

impl Results<'_> {
    /// Table I.
    pub(super) fn weights_section(&self) -> Option<Section> {
        let settings = &self.experiment.settings;
        let mut rows = Vec::new();
        for place in settings.combinations() {
            for &unreliable in &settings.unreliable {
                for variant in [METHOD, FEDASL, FEDNOLOWE] {
                    rows.extend(self.weights_row(place, unreliable, variant));
                }
            }
        }
        if rows.is_empty() {
            return None;
        }
        let lead = "Ideal scenarios: all reliable clients send the same fair proxy, so equal weights for \
                    them and none for the others is the right answer. Weights of reliable clients stand \
                    first, then those of unreliable ones, each in the order of the clients; the paper's \
                    weights are put in the same order. Which clients are unreliable depends on the split, \
                    and ours is not the paper's.";
        let table = Table {
            caption:
                "Weights for seed 1, and the sum of unreliable clients' weights over all seeds"
                    .to_owned(),
            columns: columns(),
            rows,
        };
        Some(Section {
            heading: "Table I: weights".to_owned(),
            lead: lead.to_owned(),
            blocks: vec![Block::Table(table)],
        })
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
        let (reliable, others) = split_weights(first, &result.weights);
        let same = self.experiment.settings.n_clients == paper::N_CLIENTS;
        let published =
            same.then(|| paper::weights(place.0, place.1, unreliable, variant)).flatten();
        let theirs = published.map(|published| published.split());
        let total = theirs.as_ref().map(|(_, others)| others.iter().sum::<f64>());
        let ours = figures.unreliable_weight.mean;
        let difference = match total {
            Some(total) => {
                Cell { number: Some(ours - total), ..Cell::text(signed(ours - total, 3)) }
            }
            None => Cell::number(None, Format::Auto),
        };
        let texts = |side: Option<&Vec<f64>>| match side {
            Some(weights) => Cell::text(weight_list(weights)),
            None => Cell::number(None, Format::Auto),
        };
        let row = vec![
            Cell::text(format!(
                "{}, {}, {}",
                dataset_title(place.0),
                measure(place.1),
                share(unreliable)
            )),
            Cell::text(variant_words(variant)),
            texts(Some(&reliable)),
            texts(Some(&others)),
            texts(theirs.as_ref().map(|(reliable, _)| reliable)),
            texts(theirs.as_ref().map(|(_, others)| others)),
            Cell::number(ours, Format::Fixed(3)),
            Cell::number(figures.largest_unreliable_weight, Format::Fixed(3)),
            Cell::number(total, Format::Fixed(3)),
            difference,
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
    let texts = [
        "Scenario",
        "Defense",
        "Reliable clients",
        "Unreliable clients",
        "Paper: reliable",
        "Paper: unreliable",
    ];
    let numbers =
        ["Unreliable in all, mean", "… largest of the seeds", "Paper: in all", "Difference"];
    texts.map(Column::text).into_iter().chain(numbers.map(Column::number)).collect()
}

fn weight_list(weights: &[f64]) -> String {
    let written: Vec<String> =
        weights.iter().map(|&weight| Format::Fixed(2).write(Some(weight))).collect();
    written.join(" ")
}
