//! Figure 3: accuracy against fairness, one point per defense.

use equipoise_core::Choice;
use equipoise_report::{
    Axis, Block, Cell, Chart, ChartKind, Column, Format, Point, Scatter, ScatterSeries, Section,
    Table,
};

use super::Results;
use super::figures::{METHOD, POOLED, Place};
use super::paper::Published;
use super::wording::{measure, place_words, share, variant_words};
use crate::experiment::{Figures, Variant};
use crate::scenario::ScenarioKind;

impl Results<'_> {
    /// Figure 3.
    pub(super) fn trade_off_section(&self) -> Option<Section> {
        let settings = &self.experiment.settings;
        let charts: Vec<Block> = settings
            .combinations()
            .into_iter()
            .flat_map(|place| settings.unreliable.iter().map(move |&share| (place, share)))
            .filter_map(|(place, unreliable)| self.trade_off_chart(place, unreliable))
            .map(Block::Chart)
            .collect();
        if charts.is_empty() {
            return None;
        }
        Some(Section {
            heading: "Figure 3: accuracy against fairness".to_owned(),
            lead: "Realistic scenarios; means over the seeds, the arms are one standard deviation. The top \
                   left corner is best: accurate and fair."
                .to_owned(),
            blocks: charts,
        })
    }

    fn trade_off_chart(&self, place: Place<'_>, unreliable: f64) -> Option<Chart> {
        let settings = &self.experiment.settings;
        let found: Vec<(Variant, Figures, Option<Published>)> = Variant::ALL
            .iter()
            .copied()
            .filter(|variant| settings.variants.contains(variant))
            .filter_map(|variant| {
                let scenario = ScenarioKind::Realistic;
                let figures = self.experiment.figures(place, scenario, unreliable, variant)?;
                Some((variant, figures, self.published(place, unreliable, variant)))
            })
            .collect();
        if found.is_empty() {
            return None;
        }
        let ours = found.iter().map(|(variant, figures, _)| Point {
            label: variant_words(*variant).to_owned(),
            x: figures.fairness.mean,
            y: figures.accuracy.mean,
            x_error: figures.fairness.deviation(),
            y_error: figures.accuracy.deviation(),
        });
        let theirs = found.iter().filter_map(|(variant, _, published)| {
            let published = (*published)?;
            Some(Point {
                label: variant_words(*variant).to_owned(),
                x: published.fairness,
                y: published.accuracy,
                x_error: None,
                y_error: None,
            })
        });
        let series = [("measured here", ours.collect()), ("the paper's", theirs.collect())];
        let of = |wanted: Variant| found.iter().find(|(v, _, _)| *v == wanted).map(|(_, f, _)| f);
        Some(Chart {
            title: format!("{}, {} unreliable", place_words(place), share(unreliable)),
            sentence: match (of(METHOD), of(POOLED)) {
                (Some(method), Some(pooled)) => compare(place, method, pooled),
                _ => "The defenses that were run.".to_owned(),
            },
            kind: ChartKind::Scatter(Scatter {
                x: Axis::new(format!("{} (0 is parity)", measure(place.1)), Format::Auto),
                y: Axis::new("Accuracy in percent", Format::Auto),
                series: series
                    .into_iter()
                    .filter(|(_, points): &(_, Vec<Point>)| !points.is_empty())
                    .map(|(name, points)| ScatterSeries { name: name.to_owned(), points })
                    .collect(),
            }),
            table: trade_off_table(place, &found),
        })
    }
}

fn compare(place: Place<'_>, method: &Figures, pooled: &Figures) -> String {
    let fixed = |value: f64, decimals| Format::Fixed(decimals).write(Some(value));
    format!(
        "The method's {} is {} where pooling has {}; its accuracy is {} % where pooling has {} %.",
        measure(place.1),
        fixed(method.fairness.mean, 3),
        fixed(pooled.fairness.mean, 3),
        fixed(method.accuracy.mean, 1),
        fixed(pooled.accuracy.mean, 1),
    )
}

fn trade_off_table(place: Place<'_>, found: &[(Variant, Figures, Option<Published>)]) -> Table {
    let rows = found.iter().map(|(variant, figures, published)| {
        let number = |value: Option<f64>, decimals| Cell::number(value, Format::Fixed(decimals));
        vec![
            Cell::text(variant_words(*variant)),
            number(Some(figures.fairness.mean), 4),
            number(figures.fairness.deviation(), 4),
            number(published.map(|p| p.fairness), 4),
            number(Some(figures.accuracy.mean), 2),
            number(figures.accuracy.deviation(), 2),
            number(published.map(|p| p.accuracy), 2),
        ]
    });
    let numbers = [measure(place.1), "±", "Paper", "Accuracy in percent", "± ", "Paper: accuracy"];
    Table {
        caption: "Means over the seeds, and their standard deviations".to_owned(),
        columns: [Column::text("Defense")].into_iter().chain(numbers.map(Column::number)).collect(),
        rows: rows.collect(),
    }
}
