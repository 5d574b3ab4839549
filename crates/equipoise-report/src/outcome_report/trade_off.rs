//! The trade-off between accuracy and fairness, if it was computed.

use equipoise_core::SweepPoint;

use super::OutcomeReport;
use crate::block::Block;
use crate::chart::{Axis, Chart, ChartKind, Point, Scatter, ScatterSeries};
use crate::format::Format;
use crate::page::Section;
use crate::table::{Cell, Column, Table};

const RATE: Format = Format::Percent(1);

impl OutcomeReport<'_> {
    pub(super) fn trade_off_section(&self) -> Option<Section> {
        let sweep = &self.file.sweep;
        let (first, last) = (sweep.first()?, sweep.last()?);
        let accuracy = |point: &SweepPoint| point.root_metrics.accuracy;
        let gap = |point: &SweepPoint| {
            let gap = point.root_metrics.gap(self.outcome().settings.fairness);
            gap.map(|gap| gap.estimate().abs())
        };
        let value = |estimate: Option<equipoise_core::Estimate>| estimate.map(|e| e.value);
        let point = |point: &SweepPoint| Point {
            label: point.strength_text(),
            x: value(gap(point)).unwrap_or(f64::NAN),
            y: value(accuracy(point)).unwrap_or(f64::NAN),
            x_interval: gap(point).map(|e| [e.low, e.high]),
            y_interval: accuracy(point).map(|e| [e.low, e.high]),
        };
        let row = |point: &SweepPoint| {
            let balanced = point.root_metrics.balanced_accuracy;
            let cells = [accuracy(point), balanced, gap(point)];
            let cells = cells.map(|estimate| Cell::text(RATE.write_estimate(estimate)));
            let strength = Cell::text(point.strength_text());
            [strength].into_iter().chain(cells).collect()
        };
        let sentence = format!(
            "From accuracy alone to this model, the gap on the root goes from {} to {}, and the accuracy from {} to {}.",
            RATE.write(value(gap(first))),
            RATE.write(value(gap(last))),
            RATE.write(value(accuracy(first))),
            RATE.write(value(accuracy(last))),
        );
        let chart = Chart {
            title: "Accuracy against fairness on the root".to_owned(),
            sentence,
            kind: ChartKind::Scatter(Scatter {
                x: Axis::new("Worst gap (0 is fair)", RATE).from_zero(),
                y: Axis::new("Accuracy", RATE),
                series: vec![ScatterSeries {
                    name: self.outcome().settings.defense.to_string(),
                    points: sweep.iter().map(point).collect(),
                }],
            }),
            table: Table {
                caption: "The trade-off, with 95\u{202f}% confidence intervals".to_owned(),
                columns: Column::list([], ["Fairness", "Accuracy", "Balanced accuracy", "Gap"]),
                rows: sweep.iter().map(row).collect(),
            },
        };
        let lead = "How much accuracy does fairness cost? Each point is a model; its number says how much fairness \
                    counted, from 0, accuracy alone, to 1, the model of this report. The best models are in the top \
                    left corner. The lines are 95\u{202f}% intervals on the root. All models are measured on the same rows, so \
                    their differences are known better than the lines suggest.";
        Some(Section::new("Trade-off", lead, vec![Block::Chart(chart)]))
    }
}
