//! The trade-off between accuracy and fairness, if it was computed.

use equipoise_core::{Defense, Estimate, SweepPoint};

use super::OutcomePage;
use super::gaps::{POINTS, size};
use crate::block::Block;
use crate::chart::{Axis, Chart, ChartKind, Point, Scatter, ScatterSeries};
use crate::format::Format;
use crate::page::Section;
use crate::table::{Cell, Column, Table};

const RATE: Format = Format::Percent(1);

impl OutcomePage<'_> {
    pub(super) fn trade_off_section(&self) -> Option<Section> {
        let sweep = &self.outcome.sweep;
        let (first, last) = (sweep.first()?, sweep.last()?);
        let start = match self.outcome.settings.defense {
            Defense::Tilt => "equal weights for all clients",
            _ => "accuracy alone",
        };
        let chart = Chart {
            title: "Accuracy against fairness on the root".to_owned(),
            sentence: self.trade_off_sentence(first, last, start),
            kind: ChartKind::Scatter(Scatter {
                x: Axis::new("Worst gap (0 is fair)", POINTS).from_zero(),
                y: Axis::new("Accuracy", RATE),
                series: vec![ScatterSeries {
                    name: self.outcome.settings.defense.to_string(),
                    points: sweep.iter().map(|point| self.point(point, last)).collect(),
                }],
                is_path: true,
            }),
            table: Table {
                caption: "The trade-off, with 95\u{202f}% confidence intervals".to_owned(),
                columns: Column::list(
                    [],
                    ["Fairness", "Accuracy", "Balanced accuracy", "Worst gap"],
                ),
                rows: sweep.iter().map(|point| self.row(point)).collect(),
            },
        };
        let lead = format!(
            "How much accuracy does fairness cost? Each point is a model; its number says how much fairness counted, \
             from 0, {start}, to 1, the model of this report. The best models are in the top left corner. The thin lines \
             are the 95\u{202f}% intervals of the first and the last model; the table has those of all. All models are \
             measured on the same rows, so their differences are known better than the intervals suggest."
        );
        Some(Section::new("Trade-off", lead, vec![Block::Chart(chart)]))
    }

    fn gap_size(&self, point: &SweepPoint) -> Option<Estimate> {
        point.root_metrics.gap(self.outcome.settings.fairness).as_ref().map(size)
    }

    fn point(&self, point: &SweepPoint, last: &SweepPoint) -> Point {
        let (gap, accuracy) = (self.gap_size(point), point.root_metrics.accuracy);
        let strength = point.strength_text();
        let is_last = std::ptr::eq(point, last);
        Point {
            label: if is_last { format!("{strength}: this model") } else { strength },
            x: gap.map_or(f64::NAN, |e| e.value),
            y: accuracy.map_or(f64::NAN, |e| e.value),
            x_interval: gap.map(|e| [e.low, e.high]),
            y_interval: accuracy.map(|e| [e.low, e.high]),
        }
    }

    fn row(&self, point: &SweepPoint) -> Vec<Cell> {
        let (accuracy, balanced) =
            (point.root_metrics.accuracy, point.root_metrics.balanced_accuracy);
        vec![
            Cell::text(point.strength_text()),
            Cell::text(RATE.write_estimate(accuracy)),
            Cell::text(RATE.write_estimate(balanced)),
            Cell::text(POINTS.write_estimate(self.gap_size(point))),
        ]
    }

    /// What changes from the first model to the last, and whether it was worth it.
    fn trade_off_sentence(&self, first: &SweepPoint, last: &SweepPoint, start: &str) -> String {
        let figures = |point: &SweepPoint| {
            let gap = self.gap_size(point).map(|e| e.value);
            (gap, point.root_metrics.accuracy.map(|e| e.value))
        };
        let (before, after) = (figures(first), figures(last));
        let text = format!(
            "From {start} to this model, the gap on the root goes from {} to {}, and the accuracy from {} to {}.",
            POINTS.write(before.0),
            POINTS.write(after.0),
            RATE.write(before.1),
            RATE.write(after.1),
        );
        let is_worse_on_both = after.0 > before.0 && after.1 < before.1;
        match before.0.is_some() && before.1.is_some() && is_worse_on_both {
            true => format!(
                "{text} On these rows, this model is therefore worse in both: {start} would have been fairer and more \
                 accurate. The intervals say how much of that may be chance."
            ),
            false => text,
        }
    }
}
