//! Texts and cells that several sections use.

use equipoise_core::Criterion;
use equipoise_report::{Cell, Format, Table};

use super::Results;
use super::figures::Combination;
use crate::experiment::Variant;

/// "|SPD|" or "|EOD|".
pub(super) fn measure(fairness: Criterion) -> &'static str {
    if fairness == Criterion::Eo { "|EOD|" } else { "|SPD|" }
}

impl Results<'_> {
    /// "Law School, |SPD|".
    pub(super) fn title(&self, (dataset, fairness): Combination<'_>) -> String {
        format!("{}, {}", self.experiment.dataset_title(dataset), measure(fairness))
    }

    /// The heading of a section: as in the paper if its datasets are shown, otherwise without the paper's numbering.
    pub(super) fn heading<'a>(&self, papers: &'a str, own: &'a str) -> &'a str {
        if self.experiment.settings.has_papers_datasets() { papers } else { own }
    }
}

/// The columns with the paper's figures.
const PAPER_COLUMNS: [&str; 4] = ["Paper", "Diff.", "Paper's weights", "Paper: accuracy"];

/// The table without the paper's columns, if it has no figure of the paper.
pub(super) fn without_missing_paper(mut table: Table) -> Table {
    let missing = Format::Auto.write(None);
    let is_missing = |column: usize| {
        PAPER_COLUMNS.contains(&table.columns[column].name.as_str())
            && table.rows.iter().all(|row| row[column].text == missing)
    };
    let kept: Vec<bool> = (0..table.columns.len()).map(|column| !is_missing(column)).collect();
    keep(&mut table.columns, &kept);
    table.rows.iter_mut().for_each(|row| keep(row, &kept));
    table
}

fn keep<T>(items: &mut Vec<T>, kept: &[bool]) {
    let mut at = kept.iter();
    items.retain(|_| at.next().copied().unwrap_or(true));
}

/// "20 %", "0.25 %".
pub(crate) fn share(share: f64) -> String {
    let percent = 100.0 * share;
    let decimals = (0..4).find(|&d| {
        let scaled = percent * 10f64.powi(d);
        (scaled - scaled.round()).abs() < 1e-6
    });
    Format::Percent(decimals.unwrap_or(4) as usize).write(Some(share))
}

/// The name of a variant in tables.
pub(super) fn variant_name(variant: Variant) -> &'static str {
    match variant {
        Variant::BilevelWithoutPenalty => "bilevel, ρ\u{a0}=\u{a0}0",
        Variant::Defense(defense) => defense.title(),
    }
}

pub(super) fn fixed(value: f64, decimals: usize) -> String {
    Format::Fixed(decimals).write(Some(value))
}

/// Smallest and largest value: "0.10 to 0.20".
pub(super) fn range(values: &[f64], decimals: usize) -> String {
    if values.is_empty() {
        return "no value".to_owned();
    }
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{} to {}", fixed(smallest, decimals), fixed(largest, decimals))
}

/// A numeric cell with this many decimals, or a dash if the value is missing.
pub(super) fn number(value: Option<f64>, decimals: usize) -> Cell {
    Cell::number(value, Format::Fixed(decimals))
}

/// Ours minus the paper's, with its sign. A dash if the paper has no figure.
pub(super) fn difference(ours: f64, papers: Option<f64>, decimals: usize) -> Cell {
    let Some(value) = papers.map(|papers| ours - papers) else { return number(None, decimals) };
    let text = fixed(value, decimals);
    let is_zero = !text.bytes().any(|b| (b'1'..=b'9').contains(&b));
    let sign = if value > 0.0 && !is_zero { "+" } else { "" };
    Cell::text(format!("{sign}{text}"))
}
