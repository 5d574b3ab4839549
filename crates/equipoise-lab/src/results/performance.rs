//! Tables II and III: accuracy and fairness in the realistic scenarios, ours beside the paper's.

use equipoise_report::{Block, Cell, Column, Format, Section, Table};

use super::Results;
use super::figures::{FEDASL, FEDNOLOWE, Figures, METHOD, POOLED, Place};
use super::paper::{self, Published};
use super::wording::{measure, share, signed, variant_words};
use crate::experiment::Variant;
use crate::scenario::ScenarioKind;
use crate::source::dataset_title;

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
        self.performance_section(
            "Table III: the method against robust averaging",
            "Realistic scenarios. FedASL and FedNolowe weigh clients by the loss of their local models and \
             average these models; neither looks at fairness. “Root only” trains on the few root rows and \
             uses no proxy; the paper does not have it.",
            &[METHOD, FEDASL, FEDNOLOWE, Variant::Defense(equipoise_core::Defense::RootOnly)],
        )
    }

    fn performance_section(
        &self,
        heading: &str,
        lead: &str,
        variants: &[Variant],
    ) -> Option<Section> {
        let settings = &self.experiment.settings;
        let mut rows = Vec::new();
        for place in settings.combinations() {
            for &unreliable in &settings.unreliable {
                for &variant in variants {
                    let scenario = ScenarioKind::Realistic;
                    let figures = self.experiment.figures(place, scenario, unreliable, variant);
                    let Some(figures) = figures else { continue };
                    rows.push(performance_row(
                        place,
                        unreliable,
                        variant,
                        &figures,
                        self.published(place, unreliable, variant),
                    ));
                }
            }
        }
        if rows.is_empty() {
            return None;
        }
        let caption = "Accuracy and balanced accuracy in percent; fairness is |SPD| or |EOD|, 0 is parity. \
                       Difference: ours minus the paper's";
        let table = Table { caption: caption.to_owned(), columns: columns(), rows };
        Some(Section {
            heading: heading.to_owned(),
            lead: lead.to_owned(),
            blocks: vec![Block::Table(table)],
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

fn columns() -> Vec<Column> {
    let texts = ["Dataset", "Measure", "Unreliable", "Defense"].map(Column::text);
    let numbers = [
        "Accuracy",
        "±",
        "Paper: accuracy",
        "Difference",
        "Balanced accuracy",
        "Fairness",
        "± ",
        "Paper: fairness",
        "Difference ",
    ];
    texts.into_iter().chain(numbers.map(Column::number)).collect()
}

fn performance_row(
    (dataset, fairness): Place<'_>,
    unreliable: f64,
    variant: Variant,
    figures: &Figures,
    published: Option<Published>,
) -> Vec<Cell> {
    let difference = |ours: f64, theirs: Option<f64>, decimals: usize| match theirs {
        Some(theirs) => {
            Cell { number: Some(ours - theirs), ..Cell::text(signed(ours - theirs, decimals)) }
        }
        None => Cell::number(None, Format::Auto),
    };
    let accuracy = published.map(|p| p.accuracy);
    let fair = published.map(|p| p.fairness);
    let number = |value: Option<f64>, decimals| Cell::number(value, Format::Fixed(decimals));
    let row = vec![
        Cell::text(dataset_title(dataset)),
        Cell::text(measure(fairness)),
        Cell::text(share(unreliable)),
        Cell::text(variant_words(variant)),
        number(Some(figures.accuracy.mean), 2),
        number(Some(figures.accuracy.std), 2),
        number(accuracy, 2),
        difference(figures.accuracy.mean, accuracy, 2),
        number(Some(figures.balanced.mean), 2),
        number(Some(figures.fairness.mean), 4),
        number(Some(figures.fairness.std), 4),
        number(fair, 4),
        difference(figures.fairness.mean, fair, 4),
    ];
    if variant == METHOD { row.into_iter().map(Cell::strong).collect() } else { row }
}
