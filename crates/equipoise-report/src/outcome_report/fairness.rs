//! How fair the model is, compared with the pooled model if that was measured on the same rows.

use equipoise_core::{Choice, Defense, Gap, GroupMetrics, Metrics};

use super::key_figures::{eod, spd};
use super::{Measured, OutcomeReport, wording};
use crate::block::Block;
use crate::chart::{Axis, Chart, ChartKind, GroupedBars, Quantity};
use crate::format::{Format, count};
use crate::page::Section;
use crate::table::{Cell, Column, Table};

const RATE: Format = Format::Percent(1);
const DIFFERENCE: Format = Format::Fixed(3);

impl OutcomeReport<'_> {
    pub(super) fn fairness_section(&self) -> Option<Section> {
        let mut blocks: Vec<Block> = self
            .tables_measured()
            .into_iter()
            .map(|rows| Block::Chart(self.differences(rows)))
            .collect();
        if blocks.is_empty() {
            return None;
        }
        blocks.push(Block::Table(self.measured_table()));
        let lead = "Differences compare the privileged group with the other: 0 means that both are \
                    treated alike, and a positive value means that the privileged group fares better. Thin lines are \
                    95\u{202f}% confidence intervals: with few rows they are wide.";
        Some(Section::new("Fairness", lead, blocks))
    }

    pub(super) fn groups_section(&self) -> Option<Section> {
        let primary = self.primary()?;
        let pooled = self.on(&primary.rows).into_iter();
        let pooled = pooled.filter(|m| m.defense == Defense::Pooled && *m != primary);
        let charts = pooled.chain([primary]).map(|m| Block::Chart(rates(m)));
        let lead = "The selection rate is the share of rows that the model selects; the true positive rate \
                    is that share among rows labelled positive. Statistical parity requires equal selection \
                    rates; equal opportunity requires equal true positive rates.";
        Some(Section::new("Groups", lead, charts.collect()))
    }

    /// The tables on which models were measured, each once, in the order given.
    fn tables_measured(&self) -> Vec<&str> {
        let mut tables: Vec<&str> = Vec::new();
        for measured in &self.measured {
            if !tables.contains(&measured.rows.as_str()) {
                tables.push(&measured.rows);
            }
        }
        tables
    }

    fn on(&self, rows: &str) -> Vec<&Measured> {
        let mut on: Vec<&Measured> = self.measured.iter().filter(|m| m.rows == rows).collect();
        // Before the defense, then after.
        on.sort_by_key(|m| m.defense != Defense::Pooled);
        on
    }

    fn differences(&self, rows: &str) -> Chart {
        let models = self.on(rows);
        let spds = models.iter().map(|m| with_error(&m.metrics.gaps.sp));
        let eods = models.iter().map(|m| with_error(&m.metrics.gaps.eo));
        let groups = vec![
            ("Selection rates (SPD)".to_owned(), spds.collect()),
            ("True positive rates (EOD)".to_owned(), eods.collect()),
        ];
        Chart {
            title: format!("Differences between the groups on {rows}"),
            sentence: self.differences_sentence(rows, &models),
            kind: ChartKind::GroupedBars(GroupedBars {
                axis: Axis::new("Privileged group minus the other", DIFFERENCE),
                series: models.iter().map(|m| m.defense.to_string()).collect(),
                groups,
            }),
            table: differences_table(&models),
        }
    }

    fn differences_sentence(&self, rows: &str, models: &[&Measured]) -> String {
        let own = self.outcome().settings.defense;
        let find = |defense| models.iter().find(|m| m.defense == defense);
        let (sentence, last) = match (find(Defense::Pooled), find(own)) {
            (Some(pooled), Some(this)) if own != Defense::Pooled => (
                format!(
                    "On {rows}, SPD is {} with all proxies pooled and {} with {own}; EOD is {} and {}.",
                    spd(&pooled.metrics),
                    spd(&this.metrics),
                    eod(&pooled.metrics),
                    eod(&this.metrics)
                ),
                *this,
            ),
            (_, this) => {
                let Some(this) = this.copied().or(models.first().copied()) else {
                    return "Nothing was measured.".to_owned();
                };
                let (spd, eod) = (spd(&this.metrics), eod(&this.metrics));
                (
                    format!(
                        "On {rows}, the SPD of {} is {spd} and its EOD is {eod}.",
                        this.defense
                    ),
                    this,
                )
            }
        };
        let interval = last.metrics.gaps.sp.as_ref().map(|gap| {
            format!(
                " The SPD interval for {} {}",
                last.defense,
                wording::zero_in_interval(gap.value, 0.5 * (gap.high - gap.low))
            )
        });
        sentence + interval.as_deref().unwrap_or("")
    }

    fn measured_table(&self) -> Table {
        let row = |m: &Measured| {
            let metrics = &m.metrics;
            let name = Cell::text(m.to_string());
            vec![
                if Some(m) == self.primary() { name.strong() } else { name },
                Cell::text(count(metrics.rows)),
                Cell::number(metrics.accuracy.map(|e| e.value), RATE),
                Cell::number(metrics.balanced_accuracy.map(|e| e.value), RATE),
                Cell::number(metrics.auc.map(|e| e.value), DIFFERENCE),
                Cell::text(spd(metrics)),
                Cell::text(eod(metrics)),
            ]
        };
        Table {
            caption: "All measurements; ± is a 95\u{202f}% confidence interval".to_owned(),
            columns: Column::list(
                ["Model and rows"],
                ["Rows", "Accuracy", "Balanced accuracy", "AUC", "SPD", "EOD"],
            ),
            rows: self.measured.iter().map(row).collect(),
        }
    }
}

fn with_error(gap: &Option<Gap>) -> Quantity {
    let gap = gap.as_ref();
    Quantity { value: gap.map(|g| g.value), error: gap.map(|g| 0.5 * (g.high - g.low)) }
}

fn differences_table(models: &[&Measured]) -> Table {
    let row = |m: &&Measured| {
        vec![Cell::text(m.defense.name()), Cell::text(spd(&m.metrics)), Cell::text(eod(&m.metrics))]
    };
    Table {
        caption: "Differences and their standard errors".to_owned(),
        columns: Column::list(["Model"], ["SPD", "EOD"]),
        rows: models.iter().map(row).collect(),
    }
}

type Rate = (&'static str, fn(&GroupMetrics) -> Option<f64>);

const RATES: [Rate; 5] = [
    ("Selection rate", |group| group.selection_rate.map(|e| e.value)),
    ("True positive rate", |group| group.true_positive_rate.map(|e| e.value)),
    ("False positive rate", |group| group.false_positive_rate.map(|e| e.value)),
    ("Accuracy", |group| group.accuracy.map(|e| e.value)),
    ("Base rate", |group| group.base_rate.map(|e| e.value)),
];

fn rates(measured: &Measured) -> Chart {
    let groups = &measured.metrics.groups;
    let each = |rate: fn(&GroupMetrics) -> Option<f64>| -> Vec<Option<f64>> {
        groups.iter().map(rate).collect()
    };
    Chart {
        title: format!("Rates by group: {measured}"),
        sentence: rates_sentence(&measured.metrics),
        kind: ChartKind::GroupedBars(GroupedBars {
            axis: Axis::new("Share of rows", RATE),
            series: groups.iter().map(|group| group.name.clone()).collect(),
            groups: RATES
                .map(|(name, rate)| {
                    (name.to_owned(), each(rate).into_iter().map(Quantity::new).collect())
                })
                .to_vec(),
        }),
        table: Table {
            caption: "Rates of each group".to_owned(),
            columns: std::iter::once(Column::text("Rate"))
                .chain(groups.iter().map(|group| Column::number(&group.name)))
                .collect(),
            rows: RATES
                .iter()
                .map(|&(name, rate)| {
                    let values = each(rate).into_iter().map(|value| Cell::number(value, RATE));
                    std::iter::once(Cell::text(name)).chain(values).collect()
                })
                .collect(),
        },
    }
}

fn rates_sentence(metrics: &Metrics) -> String {
    let rate = |group: &GroupMetrics| {
        let selected = RATE.write(group.selection_rate.map(|e| e.value));
        format!("{selected} of {} ({} rows)", group.name, count(group.rows))
    };
    let rates: Vec<String> = metrics.groups.iter().map(rate).collect();
    format!("The model selects {}.", rates.join(", "))
}
