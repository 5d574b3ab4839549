//! Heatmaps: methods by attacks, for each figure.

use equipoise_core::Choice;
use equipoise_report::{Block, Format, Matrix, MatrixCell, MatrixRow, Section};

use super::{ArenaPage, attack_title};
use crate::arena::contender::Contender;
use crate::arena::matchup::{Matchup, Record, mean};
use crate::arena::summary::MAX_RANKED_RATE;
use crate::attack::Attack;
use crate::results::share;

/// Gaps in points, from the palest to the darkest shade.
const GAP_RANGE: (f64, f64) = (0.0, 20.0);
/// Points of accuracy below the best in a heatmap that give the darkest shade.
const ACCURACY_SPAN: f64 = 10.0;

/// A figure of a method.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Metric {
    Gap,
    Accuracy,
    UnreliableWeight,
}

const METRICS: [Metric; 3] = [Metric::Gap, Metric::Accuracy, Metric::UnreliableWeight];

impl Metric {
    fn heading(self) -> &'static str {
        match self {
            Self::Gap => "Gaps",
            Self::Accuracy => "Accuracy",
            Self::UnreliableWeight => "Weight of unreliable clients",
        }
    }

    fn lead(self) -> &'static str {
        match self {
            Self::Gap => {
                "Size of the gap between the groups, in points. The stronger the shade, the worse, up to 20 points."
            }
            Self::Accuracy => {
                "Share of labels predicted, in percent. The stronger the shade, the worse, up to ten points below the \
                 best in a heatmap. Labels carry bias, so unfair models can be the most accurate."
            }
            Self::UnreliableWeight => {
                "Total weight of the unreliable clients, in percent. The stronger the shade, the worse. A dash: the model is not a \
                 weighted combination of clients."
            }
        }
    }

    /// In points or percent.
    fn value(self, record: &Record) -> Option<f64> {
        let value = match self {
            Self::Gap => Some(record.gap),
            Self::Accuracy => Some(record.accuracy),
            Self::UnreliableWeight => record.unreliable_weight,
        };
        value.filter(|value| value.is_finite()).map(|value| 100.0 * value)
    }

    fn format(self) -> Format {
        match self {
            Self::UnreliableWeight => Format::Fixed(0),
            _ => Format::Fixed(1),
        }
    }

    fn range(self, rows: &[MatrixRow]) -> (f64, f64) {
        match self {
            Self::Gap => GAP_RANGE,
            Self::UnreliableWeight => (0.0, 100.0),
            Self::Accuracy => {
                let values = rows.iter().flat_map(|row| &row.cells).filter_map(|cell| match cell {
                    MatrixCell::Value(value) => Some(*value),
                    _ => None,
                });
                let best = values.fold(0.0, f64::max);
                (best, best - ACCURACY_SPAN)
            }
        }
    }
}

impl ArenaPage<'_> {
    pub(super) fn heatmap_sections(&self) -> Vec<Section> {
        let matchups = self.arena.matchups();
        let section = |metric: Metric| {
            let ranked: Vec<&Matchup<'_>> =
                matchups.iter().filter(|m| m.rate <= MAX_RANKED_RATE).collect();
            let n = self.arena.settings.contexts.len();
            let over =
                if n > 1 { format!(" over {n} datasets and criteria") } else { String::new() };
            let caption = format!("Mean{over}, rates up to {}", share(MAX_RANKED_RATE));
            let mut blocks = vec![Block::Matrix(self.matrix(metric, &caption, &ranked))];
            blocks.extend(self.arena.settings.contexts.iter().map(|context| {
                let own = matchups.iter().filter(|m| m.context == *context);
                self.details(metric, &context.title(), &own.collect::<Vec<_>>())
            }));
            Section::new(metric.heading(), metric.lead(), blocks)
        };
        METRICS.into_iter().map(section).collect()
    }

    /// One heatmap per rate, folded away. The column without an attack is in each.
    fn details(&self, metric: Metric, title: &str, matchups: &[&Matchup<'_>]) -> Block {
        let rates = self.arena.settings.rates.iter();
        let blocks = rates
            .filter_map(|&rate| {
                let at: Vec<&Matchup<'_>> = matchups
                    .iter()
                    .copied()
                    .filter(|m| m.attack.is_none() || m.rate == rate)
                    .collect();
                let any = at.iter().any(|m| m.rate == rate && m.attack.is_some());
                let caption = format!("{title}, rate {}", share(rate));
                any.then(|| Block::Matrix(self.matrix(metric, &caption, &at)))
            })
            .collect();
        Block::Details { summary: format!("{title}, rate by rate"), blocks }
    }

    /// Methods by attacks: means over the matchups given.
    fn matrix(&self, metric: Metric, caption: &str, matchups: &[&Matchup<'_>]) -> Matrix {
        let settings = &self.arena.settings;
        let columns: Vec<Option<Attack>> = [None]
            .into_iter()
            .chain(settings.attacks.iter().copied().map(Some))
            .filter(|attack| matchups.iter().any(|m| m.attack == *attack))
            .collect();
        let cell = |contender: Contender, attack: Option<Attack>| {
            let own = matchups.iter().filter(|m| m.attack == attack);
            let records: Vec<Record> = own.filter_map(|m| m.record(contender)).collect();
            if records.iter().any(|record| !record.failures.is_empty()) {
                return MatrixCell::Failed;
            }
            let value = mean(records.iter().filter_map(|record| metric.value(record)));
            value.map_or(MatrixCell::Missing, MatrixCell::Value)
        };
        let row = |contender: Contender| MatrixRow {
            name: contender.name().to_owned(),
            strong: contender == Contender::DEFAULT,
            cells: columns.iter().map(|&attack| cell(contender, attack)).collect(),
        };
        let mut rows: Vec<MatrixRow> = settings.entries().map(row).collect();
        // References do not weight clients.
        rows.retain(|row| row.cells.iter().any(|cell| *cell != MatrixCell::Missing));
        Matrix {
            caption: caption.to_owned(),
            rows_title: "Method".to_owned(),
            columns: columns.iter().map(|&attack| attack_title(attack).to_owned()).collect(),
            format: metric.format(),
            range: metric.range(&rows),
            rows,
        }
    }
}
