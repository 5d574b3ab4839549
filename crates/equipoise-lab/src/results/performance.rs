//! Tables II and III: accuracy and fairness in the realistic scenarios, ours beside the paper's.

use equipoise_core::Choice;
use equipoise_report::{Block, Cell, Column, Section, Table};

use super::Results;
use super::figures::{Combination, METHOD, POOLED};
use super::paper::{self, Published};
use super::wording::{difference, measure, number, share, variant_name, without_missing_paper};
use crate::experiment::{Figures, Variant};

impl Results<'_> {
    pub(super) fn baseline_section(&self) -> Option<Section> {
        self.performance_section(
            self.heading("Table II: bilevel against pooling", "Bilevel against pooling"),
            "Realistic scenarios. Pooling trains on all proxies as they are. With ρ = 0 the weights are learned for \
             accuracy on the root alone. Bilevel increases ρ until unfairness on the root dominates the objective.",
            &[POOLED, Variant::BilevelWithoutPenalty, METHOD],
        )
    }

    pub(super) fn robust_section(&self) -> Option<Section> {
        let in_table_ii =
            |variant: &Variant| matches!(variant, &POOLED | Variant::BilevelWithoutPenalty);
        let defenses: Vec<Variant> =
            Variant::ALL.iter().copied().filter(|v| !in_table_ii(v)).collect();
        self.performance_section(
            self.heading(
                "Table III: bilevel and robust averaging",
                "Tilt, bilevel and robust averaging",
            ),
            "Realistic scenarios. Tilt is the default of `equipoise defend`. FedASL and FedNolowe weight clients by the \
             loss of their local models and average these models; neither considers fairness. “Root only” trains on the \
             few root rows without any proxy.",
            &defenses,
        )
    }

    fn performance_section(
        &self,
        heading: &str,
        lead: &str,
        variants: &[Variant],
    ) -> Option<Section> {
        let lead = format!(
            "{lead} Fairness is |SPD| or |EOD|, where 0 is parity. Accuracies are in percent."
        );
        self.section(heading, lead, |combination| self.performance_table(combination, variants))
    }

    fn performance_table(
        &self,
        combination: Combination<'_>,
        variants: &[Variant],
    ) -> Option<Block> {
        let shares = self.experiment.settings.unreliable.iter();
        let cases = shares.flat_map(|&share| variants.iter().map(move |&variant| (share, variant)));
        let rows: Vec<Vec<Cell>> = cases
            .filter_map(|(unreliable, variant)| {
                let figures = self.experiment.realistic(combination, unreliable, variant)?;
                let published = self.published(combination, unreliable, variant);
                let strong = variant == self.experiment.settings.method();
                Some(performance_row(unreliable, variant, &figures, published, strong))
            })
            .collect();
        let measure = measure(combination.1);
        let numbers =
            [measure, "±", "Paper", "Diff.", "Accuracy", "±", "Paper", "Diff.", "Balanced"];
        let columns = Column::list(["Unreliable", "Defense"], numbers);
        let table = Table { caption: self.title(combination), columns, rows };
        (!table.rows.is_empty()).then(|| Block::Table(without_missing_paper(table)))
    }

    /// The paper's figures, if the experiment has as many clients as the paper.
    pub(super) fn published(
        &self,
        (dataset, fairness): Combination<'_>,
        unreliable: f64,
        variant: Variant,
    ) -> Option<Published> {
        let same = self.experiment.settings.n_clients == paper::N_CLIENTS;
        same.then(|| paper::performance(dataset, fairness, unreliable, variant)).flatten()
    }
}

fn performance_row(
    unreliable: f64,
    variant: Variant,
    figures: &Figures,
    published: Option<Published>,
    strong: bool,
) -> Vec<Cell> {
    let accuracy = published.map(|p| p.accuracy);
    let fairness = published.map(|p| p.fairness);
    let row = vec![
        Cell::text(share(unreliable)),
        Cell::text(variant_name(variant)),
        number(Some(figures.gap.mean), 4),
        number(figures.gap.deviation(), 4),
        number(fairness, 4),
        difference(figures.gap.mean, fairness, 4),
        number(Some(figures.accuracy.mean), 2),
        number(figures.accuracy.deviation(), 2),
        number(accuracy, 2),
        difference(figures.accuracy.mean, accuracy, 2),
        number(Some(figures.balanced.mean), 2),
    ];
    if strong { row.into_iter().map(Cell::strong).collect() } else { row }
}
