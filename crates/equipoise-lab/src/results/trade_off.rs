//! Figure 3: accuracy against fairness, one point per defense.

use equipoise_core::Choice;
use equipoise_report::{
    Axis, Block, Cell, Chart, ChartKind, Column, Format, Point, Scatter, ScatterSeries, Section,
    Table,
};

use super::Results;
use super::figures::{Combination, POOLED};
use super::paper::Published;
use super::wording::{fixed, measure, number, share, variant_name, without_missing_paper};
use crate::experiment::{Figures, Variant};

type Row = (Variant, Figures, Option<Published>);

impl Results<'_> {
    pub(super) fn trade_off_section(&self) -> Option<Section> {
        self.section(
            self.heading("Figure 3: accuracy against fairness", "Accuracy against fairness"),
            "Realistic scenarios. Points are means over the seeds, and bars are one standard deviation. The best \
             models are in the top left corner: accurate and fair.",
            |combination| {
                let shares = self.experiment.settings.unreliable.iter();
                let charts = shares.filter_map(move |&share| self.trade_off_chart(combination, share));
                charts.map(Block::Chart)
            },
        )
    }

    fn trade_off_chart(&self, combination: Combination<'_>, unreliable: f64) -> Option<Chart> {
        let found: Vec<Row> = Variant::ALL
            .iter()
            .copied()
            .filter(|variant| self.experiment.settings.variants.contains(variant))
            .filter_map(|variant| {
                let figures = self.experiment.realistic(combination, unreliable, variant)?;
                Some((variant, figures, self.published(combination, unreliable, variant)))
            })
            .collect();
        if found.is_empty() {
            return None;
        }
        let ours = found.iter().map(|(variant, figures, _)| Point {
            label: variant_name(*variant).to_owned(),
            x: figures.gap.mean,
            y: figures.accuracy.mean,
            x_interval: around(figures.gap.mean, figures.gap.deviation()),
            y_interval: around(figures.accuracy.mean, figures.accuracy.deviation()),
        });
        let papers = found.iter().filter_map(|(variant, _, published)| {
            let published = (*published)?;
            Some(Point {
                label: variant_name(*variant).to_owned(),
                x: published.fairness,
                y: published.accuracy,
                x_interval: None,
                y_interval: None,
            })
        });
        let series = [("this experiment", ours.collect()), ("the paper", papers.collect())];
        let of = |variant: Variant| found.iter().find(|row| row.0 == variant).map(|row| &row.1);
        let measure = measure(combination.1);
        let method = self.experiment.settings.method();
        Some(Chart {
            title: format!("{}, {} unreliable", self.title(combination), share(unreliable)),
            sentence: match (of(method), of(POOLED)) {
                (Some(ours), Some(pooled)) => format!(
                    "With {}, {measure} is {}, compared with {} for pooling. Accuracy is {} %, compared with {} %.",
                    variant_name(method),
                    fixed(ours.gap.mean, 3),
                    fixed(pooled.gap.mean, 3),
                    fixed(ours.accuracy.mean, 1),
                    fixed(pooled.accuracy.mean, 1),
                ),
                _ => "The defenses of this experiment.".to_owned(),
            },
            kind: ChartKind::Scatter(Scatter {
                x: Axis::new(format!("{measure} (0 is parity)"), Format::Auto),
                y: Axis::new("Accuracy in percent", Format::Auto),
                series: series
                    .into_iter()
                    .filter(|(_, points): &(_, Vec<Point>)| !points.is_empty())
                    .map(|(name, points)| ScatterSeries { name: name.to_owned(), points })
                    .collect(),
                is_path: false,
            }),
            table: without_missing_paper(trade_off_table(measure, &found)),
        })
    }
}

fn trade_off_table(measure: &str, found: &[Row]) -> Table {
    let rows = found.iter().map(|(variant, figures, published)| {
        vec![
            Cell::text(variant_name(*variant)),
            number(Some(figures.gap.mean), 4),
            number(figures.gap.deviation(), 4),
            number(published.map(|p| p.fairness), 4),
            number(Some(figures.accuracy.mean), 2),
            number(figures.accuracy.deviation(), 2),
            number(published.map(|p| p.accuracy), 2),
        ]
    });
    Table {
        caption: "Means over the seeds and their standard deviations".to_owned(),
        columns: Column::list(
            ["Defense"],
            [measure, "±", "Paper", "Accuracy in percent", "± ", "Paper: accuracy"],
        ),
        rows: rows.collect(),
    }
}

/// The mean with its standard deviation to both sides.
fn around(mean: f64, deviation: Option<f64>) -> Option<[f64; 2]> {
    deviation.map(|deviation| [mean - deviation, mean + deviation])
}
