//! Ablations: a table each, and a conclusion.

use equipoise_core::{Choice, RootWeighting};
use equipoise_report::{Block, Cell, Column, Section, Table, count};

use super::Results;
use super::figures::Combination;
use super::wording::{fixed, measure, number, share, variant_name};
use crate::dataset::Preprocessing;
use crate::experiment::{Ablation, Change, Figures};
use crate::scenario::ProxySize;

impl Results<'_> {
    /// A table per ablation and combination.
    pub(super) fn ablation_section(&self) -> Option<Section> {
        let method = self.experiment.settings.method();
        if !self.experiment.settings.variants.contains(&method) {
            return None;
        }
        let ablations = Ablation::ALL.iter().copied();
        let requested = ablations.filter(|ablation| self.experiment.ablations.contains(ablation));
        let blocks: Vec<Block> =
            requested.flat_map(|ablation| self.ablation_blocks(ablation)).collect();
        let lead = format!(
            "The same rounds with one setting changed, defended by {}. ◂ marks the experiment's own value. Figures are \
             means over the seeds, and ± is the standard deviation. A dash means that there are too few rows.",
            variant_name(method)
        );
        (!blocks.is_empty()).then(|| Section::new("Ablations", lead, blocks))
    }

    fn ablation_blocks(&self, ablation: Ablation) -> Vec<Block> {
        let (name, question) = name_and_question(ablation);
        let combinations = self.experiment.settings.combinations().into_iter();
        let tables: Vec<Block> = combinations
            .filter_map(|combination| self.ablation_table(name, ablation, combination))
            .map(Block::Table)
            .collect();
        if tables.is_empty() {
            return tables;
        }
        let conclusion = match ablation {
            Ablation::RootWeighting => self.weighting_conclusion(),
            _ => self.fairest_value(ablation),
        };
        let question = [Block::Paragraph(question.to_owned())];
        question.into_iter().chain(tables).chain(conclusion.map(Block::Paragraph)).collect()
    }

    /// `None` if only the experiment's own value was run.
    fn ablation_table(
        &self,
        name: &str,
        ablation: Ablation,
        combination: Combination<'_>,
    ) -> Option<Table> {
        let settings = &self.experiment.settings;
        let was_run = |change: Change| {
            self.experiment.ablation_cells.iter().any(|cell| {
                (&*cell.key.dataset, cell.key.fairness) == combination
                    && cell.key.change == Some(change)
            })
        };
        let changes = ablation.changes().into_iter();
        let values: Vec<(Change, bool)> = changes
            .map(|change| (change, change.apply(settings) == *settings))
            .filter(|&(change, own)| own || was_run(change))
            .collect();
        if values.iter().all(|&(_, own)| own) {
            return None;
        }
        let mut rows = Vec::new();
        for (change, own) in values {
            let mark = if own { "\u{a0}◂" } else { "" };
            for &unreliable in &settings.unreliable {
                let figures = self.experiment.changed_figures(combination, unreliable, change);
                rows.push(ablation_row(value_name(change) + mark, unreliable, figures.as_ref()));
            }
        }
        let numbers =
            [measure(combination.1), "±", "Accuracy", "Balanced", "Unreliable clients' weight"];
        Some(Table {
            caption: format!("{name}: {}", self.title(combination)),
            columns: Column::list(["Value", "Unreliable"], numbers),
            rows,
        })
    }

    /// The profile's defense with a setting changed, for every combination and share of unreliable clients.
    fn with_change(&self, change: Change) -> Vec<Option<Figures>> {
        let cases = self.cases();
        cases.map(|(c, share)| self.experiment.changed_figures(c, share, change)).collect()
    }

    /// Compares pooled and client-weighted root terms.
    fn weighting_conclusion(&self) -> Option<String> {
        let [pooled, client] = [RootWeighting::Pooled, RootWeighting::Client].map(|weighting| {
            self.with_change(Change::RootWeighting(weighting))
                .into_iter()
                .collect::<Option<Vec<_>>>()
        });
        let (pooled, client) = (pooled?, client?);
        let pairs = pooled.iter().zip(&client);
        let fairer = pairs.filter(|(p, c)| p.fairness.mean < c.fairness.mean).count();
        let [fair, accurate, unreliable] =
            MEASURES.map(|of| (mean(&pooled, of), mean(&client, of)));
        // Clearly fairer: in most cases, and by more than a fifth.
        let clear = 2 * fairer > pooled.len() && fair.0 < 0.8 * fair.1;
        let verdict = if clear {
            "Read literally, the formula lets the weights choose the root rows on which fairness is measured, and with \
             only a few root rows per client it is cheaper to choose rows that look fair than to make the model fair. \
             Conclusion: use the pooled reading, which is the default. The client-weighted reading is available as \
             --root-weighting client."
        } else {
            "Conclusion: on these rounds neither reading is clearly fairer. The default is the pooled reading, in which \
             the weights cannot choose the root rows on which fairness is measured."
        };
        Some(format!(
            "Pooling the root rows is fairer in {fairer} of {} cases: {} compared with {} on average, with {} compared with \
             {} of the weight on unreliable clients, and {} % compared with {} % accuracy. {verdict}",
            pooled.len(),
            fixed(fair.0, 3),
            fixed(fair.1, 3),
            fixed(unreliable.0, 3),
            fixed(unreliable.1, 3),
            fixed(accurate.0, 1),
            fixed(accurate.1, 1),
        ))
    }

    /// The mean unfairness for every value, and the fairest value.
    fn fairest_value(&self, ablation: Ablation) -> Option<String> {
        let mut means = Vec::new();
        for change in ablation.changes() {
            let figures: Vec<Figures> = self.with_change(change).into_iter().flatten().collect();
            if !figures.is_empty() {
                let [fairness, accuracy, _] = MEASURES.map(|of| mean(&figures, of));
                means.push((value_name(change), fairness, accuracy));
            }
        }
        let (fairest, ..) = means.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let list = means.iter().map(|(value, fairness, accuracy)| {
            format!("{value}: {} at {} % accuracy", fixed(*fairness, 3), fixed(*accuracy, 1))
        });
        Some(format!(
            "Mean unfairness over all these rounds: {}. The fairest value is {fairest}. Differences well \
             below the ± of a single row are noise.",
            list.collect::<Vec<_>>().join("; "),
        ))
    }
}

/// Unfairness, accuracy and weight of unreliable clients.
const MEASURES: [fn(&Figures) -> f64; 3] =
    [|f| f.fairness.mean, |f| f.accuracy.mean, |f| f.unreliable_weight.mean];

fn mean(figures: &[Figures], of: fn(&Figures) -> f64) -> f64 {
    figures.iter().map(of).sum::<f64>() / figures.len() as f64
}

fn ablation_row(value: String, unreliable: f64, figures: Option<&Figures>) -> Vec<Cell> {
    vec![
        Cell::text(value),
        Cell::text(share(unreliable)),
        number(figures.map(|f| f.fairness.mean), 3).strong(),
        number(figures.and_then(|f| f.fairness.deviation()), 3),
        number(figures.map(|f| f.accuracy.mean), 1),
        number(figures.map(|f| f.balanced.mean), 1),
        number(figures.map(|f| f.unreliable_weight.mean), 2),
    ]
}

fn name_and_question(ablation: Ablation) -> (&'static str, &'static str) {
    match ablation {
        Ablation::RootWeighting => (
            "Root rows pooled or weighted by client",
            "How should root rows count? Read literally, the paper's formula weights each client's root rows by that \
             client's weight, in both the loss and the penalty. The pooled reading counts all root rows equally.",
        ),
        Ablation::Intercept => (
            "Intercept",
            "Does an intercept matter? Without one, the decision threshold is tied to the features. Balanced accuracy \
             is shown because if nearly all labels are positive, a model that says yes to everyone is accurate and \
             fair, but useless.",
        ),
        Ablation::RootShare => (
            "Root size",
            "How large must the root be? Values are shares of each client's training rows.",
        ),
        Ablation::ProxySize => (
            "Size of fair proxies",
            "How large must a fair proxy be? Values are multiples of the client's training rows. Unreliable clients \
             always send all their rows, so small fair proxies are also a small minority of the rows.",
        ),
        Ablation::Lambda => ("Regulariser", "Does λ matter? The same λ is used in every fit."),
    }
}

fn value_name(change: Change) -> String {
    match change {
        Change::RootWeighting(RootWeighting::Pooled) => "pooled".to_owned(),
        Change::RootWeighting(RootWeighting::Client) => "client-weighted".to_owned(),
        Change::Preprocessing(Preprocessing::Paper) => "no intercept".to_owned(),
        Change::Preprocessing(Preprocessing::Intercept) => "intercept".to_owned(),
        Change::Preprocessing(Preprocessing::OneHot) => "intercept, one-hot codes".to_owned(),
        Change::Preprocessing(Preprocessing::Inferred) => "as inferred".to_owned(),
        Change::RootShare(root) => share(root),
        Change::ProxySize(ProxySize::Rows(rows)) => format!("{} rows", count(rows)),
        Change::ProxySize(ProxySize::Share(times)) => format!("{times} ×"),
        Change::Lambda(lambda) => format!("λ = {lambda}"),
    }
}
