//! Tables II and III: accuracy and fairness in the realistic scenarios, ours beside the paper's.

use equipoise_core::Choice;
use equipoise_report::{Block, Cell, Column, Format, Section, Table};

use super::Results;
use super::figures::{METHOD, POOLED, Place};
use super::paper::{self, Published};
use super::wording::{difference, measure, place_words, share, variant_words};
use crate::experiment::{Figures, Variant};
use crate::scenario::ScenarioKind;

impl Results<'_> {
    /// Table II.
    pub(super) fn baseline_section(&self) -> Option<Section> {
        let variants = [POOLED, Variant::BilevelWithoutPenalty, METHOD];
        self.performance_section(
            "Table II: the method against pooling",
            "Realistic scenarios. Pooling trains on all proxies as they come. With ρ = 0 the weights are \
             learned for accuracy on the root alone; the method itself lets ρ grow until unfairness on \
             the root is what counts most.",
            &variants,
        )
    }

    /// Table III.
    pub(super) fn robust_section(&self) -> Option<Section> {
        let in_table_ii =
            |variant: &Variant| matches!(variant, &POOLED | Variant::BilevelWithoutPenalty);
        let defenses: Vec<Variant> =
            Variant::ALL.iter().copied().filter(|v| !in_table_ii(v)).collect();
        self.performance_section(
            "Table III: the method against robust averaging",
            "Realistic scenarios. FedASL and FedNolowe weigh clients by the loss of their local models and \
             average these models; neither looks at fairness. “Root only” trains on the few root rows and \
             uses no proxy; the paper does not have it.",
            &defenses,
        )
    }

    fn performance_section(
        &self,
        heading: &str,
        lead: &str,
        variants: &[Variant],
    ) -> Option<Section> {
        let tables: Vec<Block> = self
            .experiment
            .settings
            .combinations()
            .into_iter()
            .filter_map(|place| self.performance_table(place, variants))
            .map(Block::Table)
            .collect();
        if tables.is_empty() {
            return None;
        }
        let lead = format!(
            "{lead} Fairness is |SPD| or |EOD|, 0 is parity; accuracies are in percent; a difference is ours \
             minus the paper's."
        );
        Some(Section { heading: heading.to_owned(), lead, blocks: tables })
    }

    fn performance_table(&self, place: Place<'_>, variants: &[Variant]) -> Option<Table> {
        let shares = self.experiment.settings.unreliable.iter();
        let cases = shares.flat_map(|&share| variants.iter().map(move |&variant| (share, variant)));
        let rows: Vec<Vec<Cell>> = cases
            .filter_map(|(unreliable, variant)| {
                let scenario = ScenarioKind::Realistic;
                let figures = self.experiment.figures(place, scenario, unreliable, variant)?;
                let published = self.published(place, unreliable, variant);
                Some(performance_row(unreliable, variant, &figures, published))
            })
            .collect();
        (!rows.is_empty()).then(|| Table {
            caption: place_words(place),
            columns: columns(place),
            rows,
        })
    }

    /// The paper's figures, where the experiment has as many clients as the paper.
    pub(super) fn published(
        &self,
        (dataset, fairness): Place<'_>,
        unreliable: f64,
        variant: Variant,
    ) -> Option<Published> {
        let same = self.experiment.settings.n_clients == paper::N_CLIENTS;
        same.then(|| paper::performance(dataset, fairness, unreliable, variant)).flatten()
    }
}

fn columns(place: Place<'_>) -> Vec<Column> {
    let texts = ["Unreliable", "Defense"].map(Column::text);
    let numbers =
        [measure(place.1), "±", "Paper", "Diff.", "Accuracy", "±", "Paper", "Diff.", "Balanced"];
    texts.into_iter().chain(numbers.map(Column::number)).collect()
}

fn performance_row(
    unreliable: f64,
    variant: Variant,
    figures: &Figures,
    published: Option<Published>,
) -> Vec<Cell> {
    let number = |value: Option<f64>, decimals| Cell::number(value, Format::Fixed(decimals));
    let accuracy = published.map(|p| p.accuracy);
    let fairness = published.map(|p| p.fairness);
    let row = vec![
        Cell::text(share(unreliable)),
        Cell::text(variant_words(variant)),
        number(Some(figures.fairness.mean), 4),
        number(figures.fairness.deviation(), 4),
        number(fairness, 4),
        difference(figures.fairness.mean, fairness, 4),
        number(Some(figures.accuracy.mean), 2),
        number(figures.accuracy.deviation(), 2),
        number(accuracy, 2),
        difference(figures.accuracy.mean, accuracy, 2),
        number(Some(figures.balanced.mean), 2),
    ];
    if variant == METHOD { row.into_iter().map(Cell::strong).collect() } else { row }
}
