//! Ablations: a table each, and what it says.

use equipoise_core::{Choice, RootWeighting};
use equipoise_report::{Block, Cell, Column, Format, Section, Table};

use super::Results;
use super::figures::{METHOD, Place};
use super::wording::{measure, place_words, share};
use crate::dataset::Preprocessing;
use crate::experiment::{Ablation, Change, Figures};
use crate::scenario::ProxySize;

impl Results<'_> {
    /// A table per ablation.
    pub(super) fn ablation_section(&self) -> Option<Section> {
        let ablations = Ablation::ALL.iter().copied();
        let asked = ablations.filter(|ablation| self.experiment.ablations.contains(ablation));
        if !self.experiment.settings.variants.contains(&METHOD) {
            return None;
        }
        let blocks: Vec<Block> =
            asked.flat_map(|ablation| self.ablation_blocks(ablation)).collect();
        if blocks.is_empty() {
            return None;
        }
        Some(Section {
            heading: "Ablations".to_owned(),
            lead:
                "The method on the same rounds with one thing changed; the value marked ◂ is the \
                   experiment's own. Means over the seeds, ± their standard deviation. A dash: there are \
                   too few rows for it."
                    .to_owned(),
            blocks,
        })
    }

    fn ablation_blocks(&self, ablation: Ablation) -> Vec<Block> {
        let (title, question) = words(ablation);
        let places = self.experiment.settings.combinations();
        let tables: Vec<Block> = places
            .into_iter()
            .filter_map(|place| self.ablation_table(title, ablation, place))
            .map(Block::Table)
            .collect();
        if tables.is_empty() {
            return Vec::new();
        }
        let conclusion = self.conclusion(ablation).map(Block::Paragraph);
        [Block::Paragraph(question.to_owned())]
            .into_iter()
            .chain(tables)
            .chain(conclusion)
            .collect()
    }

    /// None where only the experiment's own value was run.
    fn ablation_table(&self, title: &str, ablation: Ablation, place: Place<'_>) -> Option<Table> {
        let settings = &self.experiment.settings;
        let tried = |change: Change| {
            self.experiment.changed.iter().any(|cell| {
                (&*cell.key.dataset, cell.key.fairness) == place && cell.key.change == Some(change)
            })
        };
        let changes = ablation.changes().into_iter();
        let values: Vec<(Change, bool)> = changes
            .map(|change| (change, change.apply(settings) == *settings))
            .filter(|&(change, own)| own || tried(change))
            .collect();
        if values.iter().all(|&(_, own)| own) {
            return None;
        }
        let mut rows = Vec::new();
        for (change, own) in values {
            for &unreliable in &settings.unreliable {
                let figures = self.experiment.changed_figures(place, unreliable, change, METHOD);
                let mark = if own { "\u{a0}◂" } else { "" };
                rows.push(ablation_row(value_words(change) + mark, unreliable, figures.as_ref()));
            }
        }
        let numbers = [measure(place.1), "±", "Accuracy", "Balanced", "On unreliable"];
        let texts = ["Value", "Unreliable"].map(Column::text);
        Some(Table {
            caption: format!("{title}: {}", place_words(place)),
            columns: texts.into_iter().chain(numbers.map(Column::number)).collect(),
            rows,
        })
    }

    fn conclusion(&self, ablation: Ablation) -> Option<String> {
        if ablation == Ablation::RootWeighting {
            self.weighting_conclusion()
        } else {
            self.best_value(ablation)
        }
    }

    /// Pooled against client-weighted, round by round.
    fn weighting_conclusion(&self) -> Option<String> {
        let settings = &self.experiment.settings;
        let change = |weighting| Change::RootWeighting(weighting);
        let (mut pooled, mut client) = (Totals::default(), Totals::default());
        let (mut fairer, mut rounds) = (0, 0);
        for place in settings.combinations() {
            for &unreliable in &settings.unreliable {
                let of = |weighting| {
                    self.experiment.changed_figures(place, unreliable, change(weighting), METHOD)
                };
                let (p, c) = (of(RootWeighting::Pooled)?, of(RootWeighting::Client)?);
                pooled.add(&p);
                client.add(&c);
                fairer += usize::from(p.fairness.mean < c.fairness.mean);
                rounds += 1;
            }
        }
        // Clearly fairer: in most places, and by more than a fifth.
        let clear = 2 * fairer > rounds && pooled.fairness < 0.8 * client.fairness;
        let verdict = if clear {
            "Read literally, the formula lets the weights choose on which root rows fairness is measured, \
             and with a handful of root rows per client it is cheaper to choose rows that look fair than to \
             make the model fair. Conclusion: the pooled reading is the one to use, and is the default; the \
             client-weighted one is kept as --root-weighting client."
        } else {
            "Conclusion: on these rounds neither reading is clearly fairer; the default stays pooled because \
             there the weights cannot choose on which root rows fairness is measured."
        };
        Some(format!(
            "Pooled root terms are fairer in {fairer} of {rounds} places: {} against {} on average, with {} \
             against {} of the weight on unreliable clients, and {} % against {} % accuracy. {verdict}",
            fixed(pooled.mean(pooled.fairness), 3),
            fixed(client.mean(client.fairness), 3),
            fixed(pooled.mean(pooled.unreliable), 3),
            fixed(client.mean(client.unreliable), 3),
            fixed(pooled.mean(pooled.accuracy), 1),
            fixed(client.mean(client.accuracy), 1),
        ))
    }

    /// Mean unfairness of every value, over places and shares; and the fairest.
    fn best_value(&self, ablation: Ablation) -> Option<String> {
        let settings = &self.experiment.settings;
        let mut means = Vec::new();
        for change in ablation.changes() {
            let mut totals = Totals::default();
            for place in settings.combinations() {
                for &unreliable in &settings.unreliable {
                    let figures =
                        self.experiment.changed_figures(place, unreliable, change, METHOD);
                    figures.iter().for_each(|figures| totals.add(figures));
                }
            }
            if totals.n > 0.0 {
                means.push((change, totals));
            }
        }
        let (best, _) = means
            .iter()
            .min_by(|a, b| a.1.mean(a.1.fairness).total_cmp(&b.1.mean(b.1.fairness)))?;
        let written = means.iter().map(|(change, totals)| {
            format!(
                "{}: {} at {} % accuracy",
                value_words(*change),
                fixed(totals.mean(totals.fairness), 3),
                fixed(totals.mean(totals.accuracy), 1)
            )
        });
        Some(format!(
            "Unfairness of the method, averaged over all of these rounds: {}. Fairest: {}; differences well \
             below the ± of single places are noise.",
            written.collect::<Vec<_>>().join("; "),
            value_words(*best)
        ))
    }
}

/// Sums over places.
#[derive(Default)]
struct Totals {
    n: f64,
    fairness: f64,
    accuracy: f64,
    unreliable: f64,
}

impl Totals {
    fn add(&mut self, figures: &Figures) {
        self.n += 1.0;
        self.fairness += figures.fairness.mean;
        self.accuracy += figures.accuracy.mean;
        self.unreliable += figures.unreliable_weight.mean;
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / self.n
    }
}

fn ablation_row(value: String, unreliable: f64, figures: Option<&Figures>) -> Vec<Cell> {
    let number =
        |of: fn(&Figures) -> f64, decimals| Cell::number(figures.map(of), Format::Fixed(decimals));
    vec![
        Cell::text(value),
        Cell::text(share(unreliable)),
        number(|figures| figures.fairness.mean, 3).strong(),
        Cell::number(figures.and_then(|figures| figures.fairness.deviation()), Format::Fixed(3)),
        number(|figures| figures.accuracy.mean, 1),
        number(|figures| figures.balanced.mean, 1),
        number(|figures| figures.unreliable_weight.mean, 2),
    ]
}

fn words(ablation: Ablation) -> (&'static str, &'static str) {
    match ablation {
        Ablation::RootWeighting => (
            "Root rows pooled, or weighted by their client's weight",
            "How do root rows count? The paper's formula, read literally, weighs each client's root rows by \
             that client's weight, in the loss and in the penalty; the pooled reading counts all alike.",
        ),
        Ablation::Intercept => (
            "Without and with an intercept",
            "Does an intercept matter? Without one, the threshold of a decision is tied to the features. \
             Balanced accuracy stands beside accuracy, for where nearly all labels are positive a model that \
             says yes to everyone is accurate and fair, and useless.",
        ),
        Ablation::RootShare => (
            "Size of the root",
            "How large must the root be? Shares of each client's training rows.",
        ),
        Ablation::ProxySize => (
            "Size of fair proxies",
            "How large must a fair proxy be? In multiples of the client's training rows. Unreliable clients \
             send all of their rows each time, so small fair proxies are also a small minority of rows.",
        ),
        Ablation::Lambda => ("Regulariser", "Does λ matter? It is used in every fit."),
    }
}

fn value_words(change: Change) -> String {
    match change {
        Change::RootWeighting(RootWeighting::Pooled) => "pooled".to_owned(),
        Change::RootWeighting(RootWeighting::Client) => "client-weighted".to_owned(),
        Change::Preprocessing(Preprocessing::Paper) => "no intercept".to_owned(),
        Change::Preprocessing(Preprocessing::Intercept) => "intercept".to_owned(),
        Change::Preprocessing(Preprocessing::OneHot) => "intercept, one-hot codes".to_owned(),
        Change::RootShare(root) => share(root),
        Change::ProxySize(ProxySize::Rows(rows)) => format!("{rows} rows"),
        Change::ProxySize(ProxySize::Share(times)) => format!("{times} ×"),
        Change::Lambda(lambda) => format!("λ = {lambda}"),
    }
}

fn fixed(value: f64, decimals: usize) -> String {
    Format::Fixed(decimals).write(Some(value))
}
