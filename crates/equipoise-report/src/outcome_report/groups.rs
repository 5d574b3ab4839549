//! The figures of each group.

use equipoise_core::{Estimate, GroupMetrics, Metrics};

use super::gaps::{POINTS, quoted};
use super::{MAX_BARS, Measured, OutcomePage};
use crate::block::Block;
use crate::chart::{Axis, Chart, ChartKind, GroupedBars, Quantity};
use crate::format::{Format, count, counted};
use crate::page::Section;
use crate::table::{Cell, Column, Table};

const RATE: Format = Format::Percent(1);

/// Up to this many groups have a column each; more have a row each.
const MAX_COLUMNS: usize = 3;

/// A figure of a group: its name, its format and its value.
type GroupFigure = (&'static str, Format, fn(&GroupMetrics) -> Option<Estimate>);

const FIGURES: [GroupFigure; 8] = [
    ("Selection rate", RATE, |group| group.selection_rate),
    ("Base rate", RATE, |group| group.base_rate),
    ("True positive rate", RATE, |group| group.true_positive_rate),
    ("False positive rate", RATE, |group| group.false_positive_rate),
    ("Accuracy", RATE, |group| group.accuracy),
    ("Balanced accuracy", RATE, |group| group.balanced_accuracy),
    ("AUC", Format::Fixed(3), |group| group.auc),
    ("Calibration", POINTS, |group| group.calibration),
];

/// The figures in the chart.
const N_DRAWN: usize = 3;
/// The rates come first. With many groups, the other figures have a table of their own, so that neither is too wide.
const N_RATES: usize = 4;

impl OutcomePage<'_> {
    pub(super) fn groups_section(&self) -> Option<Section> {
        let primary = self.primary()?;
        let lead = "The selection rate is the share of people whom the model selects; the true positive rate is that \
                    share among people labelled positive. The base rate is the share of positive labels. Calibration \
                    is the mean predicted probability minus the base rate: 0 is ideal.";
        let tables = figures_tables(primary).into_iter().map(Block::Table);
        let blocks = [Block::Chart(rates(primary))].into_iter().chain(tables);
        Some(Section::new("Groups", lead, blocks.collect()))
    }
}

fn rates(measured: &Measured) -> Chart {
    let groups = &measured.metrics.groups;
    let mut shown: Vec<&GroupMetrics> = groups.iter().collect();
    if groups.len() > MAX_BARS {
        shown.sort_by_key(|group| std::cmp::Reverse(group.rows));
        shown.truncate(MAX_BARS);
    }
    let drawn = &FIGURES[..N_DRAWN];
    let bars = |group: &&GroupMetrics| {
        let quantities = drawn.iter().map(|(_, _, figure)| Quantity::estimate(figure(group)));
        (group.name.clone(), quantities.collect())
    };
    Chart {
        title: format!("Rates of each group: {measured}"),
        sentence: rates_sentence(&measured.metrics),
        kind: ChartKind::GroupedBars(GroupedBars {
            axis: Axis::new("Share of rows", RATE),
            series: drawn.iter().map(|(name, ..)| (*name).to_owned()).collect(),
            groups: shown.iter().map(bars).collect(),
            reference: None,
        }),
        table: counts_table(&measured.metrics),
    }
}

fn rates_sentence(metrics: &Metrics) -> String {
    let with_rate = metrics.groups.iter().filter_map(|g| Some((g, g.selection_rate?.value)));
    let lowest = with_rate.clone().min_by(|a, b| a.1.total_cmp(&b.1));
    let highest = with_rate.max_by(|a, b| a.1.total_cmp(&b.1));
    let mut text = match (lowest, highest) {
        (Some((low, low_rate)), Some((high, high_rate))) => format!(
            "The model selects {} of {} and {} of {}: the lowest and the highest rate of {}.",
            RATE.write(Some(low_rate)),
            quoted(&low.name),
            RATE.write(Some(high_rate)),
            quoted(&high.name),
            counted(metrics.groups.len(), "group", "groups")
        ),
        _ => "No group has any rows.".to_owned(),
    };
    if metrics.groups.len() > MAX_BARS {
        text += &format!(" The chart shows the {MAX_BARS} largest groups; the tables list all.");
    }
    text
}

/// The counts that the rates follow from.
fn counts_table(metrics: &Metrics) -> Table {
    let row = |group: &GroupMetrics| {
        let counts = [group.rows, group.positives, group.selected, group.true_positives];
        let cells = counts.map(|n| Cell::text(count(n)));
        [Cell::text(&group.name)].into_iter().chain(cells).collect()
    };
    Table {
        caption: "Rows of each group".to_owned(),
        columns: Column::list(
            ["Group"],
            ["Rows", "Labelled positive", "Selected", "Positive and selected"],
        ),
        rows: metrics.groups.iter().map(row).collect(),
    }
}

/// All figures with their intervals. Few groups stand side by side; many stand below each other, in two tables.
fn figures_tables(measured: &Measured) -> Vec<Table> {
    let groups = &measured.metrics.groups;
    let text = |(_, format, figure): &GroupFigure, group: &GroupMetrics| {
        Cell::text(format.write_estimate(figure(group)))
    };
    let caption =
        |what| format!("{what} of each group with 95\u{202f}% confidence intervals: {measured}");
    if groups.len() <= MAX_COLUMNS {
        let row = |figure: &GroupFigure| {
            let cells = groups.iter().map(|group| text(figure, group));
            [Cell::text(figure.0)].into_iter().chain(cells).collect()
        };
        let names = groups.iter().map(|group| Column::number(&group.name));
        let columns = [Column::text("Figure")].into_iter().chain(names).collect();
        let rows = FIGURES.iter().map(row).collect();
        return vec![Table { caption: caption("Figures"), columns, rows }];
    }
    let table = |what, figures: &[GroupFigure]| {
        let row = |group: &GroupMetrics| {
            let cells = figures.iter().map(|figure| text(figure, group));
            [Cell::text(&group.name)].into_iter().chain(cells).collect()
        };
        let names = figures.iter().map(|(name, ..)| Column::number(*name));
        let columns = [Column::text("Group")].into_iter().chain(names).collect();
        Table { caption: caption(what), columns, rows: groups.iter().map(row).collect() }
    };
    let (rates, others) = FIGURES.split_at(N_RATES);
    vec![table("Rates", rates), table("Accuracy", others)]
}
