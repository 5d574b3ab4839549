//! How the default defense does under each attack, and every matchup that it loses.

use equipoise_core::Choice;
use equipoise_report::{
    Block, Cell, Column, Format, Matrix, MatrixCell, MatrixRow, Section, Table,
};

use super::{ArenaPage, attack_title};
use crate::arena::contender::Contender;
use crate::arena::losses::Loss;
use crate::arena::matchup::{Matchup, Place};
use crate::arena::settings::Context;
use crate::attack::Attack;
use crate::results::share;
use crate::source::dataset_title;

impl ArenaPage<'_> {
    /// `None` if the default defense takes no part.
    pub(super) fn losses_section(&self) -> Option<Section> {
        if !self.arena.settings.contenders.contains(&Contender::DEFAULT) {
            return None;
        }
        let losses = self.arena.losses();
        let mut blocks = vec![Block::Matrix(self.default_matrix())];
        blocks.extend((!losses.is_empty()).then(|| Block::Table(table(&losses))));
        let lead = format!(
            "Where {} is neither first nor tied, or has a larger gap than pooled.",
            Contender::DEFAULT.name()
        );
        Some(Section::new("What the default loses", lead, blocks))
    }

    /// The gap of the default defense: attacks by contexts and rates.
    fn default_matrix(&self) -> Matrix {
        let settings = &self.arena.settings;
        let matchups = self.arena.matchups();
        let columns = settings.contexts.iter().flat_map(|context| {
            settings.rates.iter().filter(|rate| **rate > 0.0).map(move |rate| (context, *rate))
        });
        let columns: Vec<_> = columns.collect();
        let row = |&attack: &Attack| MatrixRow {
            name: attack.name().to_owned(),
            strong: false,
            cells: columns
                .iter()
                .map(|(context, rate)| {
                    let is_it = |m: &&Matchup<'_>| {
                        (m.attack, m.rate, &m.context) == (Some(attack), *rate, *context)
                    };
                    let record =
                        matchups.iter().find(is_it).and_then(|m| m.record(Contender::DEFAULT));
                    match record {
                        None => MatrixCell::Missing,
                        Some(record) if !record.failures.is_empty() => MatrixCell::Failed,
                        Some(record) => MatrixCell::Value(100.0 * record.gap),
                    }
                })
                .collect(),
        };
        let name = |(context, rate): &(&Context, f64)| {
            format!("{} {}", short_title(context), share(*rate))
        };
        Matrix {
            caption: format!(
                "Gap of {} under each attack, in points, by dataset, criterion and rate. The stronger the shade, the worse.",
                Contender::DEFAULT.name()
            ),
            rows_title: "Attack".to_owned(),
            columns: columns.iter().map(name).collect(),
            rows: settings.attacks.iter().map(row).collect(),
            format: Format::Fixed(1),
            range: super::heatmaps::GAP_RANGE,
        }
    }
}

/// "Law School sp".
fn short_title(context: &Context) -> String {
    format!("{} {}", dataset_title(&context.dataset), context.fairness.name())
}

fn table(losses: &[Loss]) -> Table {
    let row = |loss: &Loss| {
        let how = match (loss.place, loss.worse_than_pooled) {
            (Place::Failed, _) => "failed",
            (_, true) => "worse than pooled",
            (Place::Inaccurate, _) => "not accurate enough",
            _ => "larger gap",
        };
        vec![
            Cell::text(short_title(&loss.context)),
            Cell::text(attack_title(loss.attack)),
            Cell::text(how),
            Cell::text(loss.winner.map_or("nobody", |winner| winner.name())),
            Cell::number(loss.rate, Format::Percent(0)),
            Cell::number(loss.gap, Format::Fixed(3)),
            Cell::number(loss.winner_gap, Format::Fixed(3)),
            Cell::number(loss.accuracy, Format::Percent(1)),
            Cell::number(loss.winner_accuracy, Format::Percent(1)),
            Cell::number(loss.unreliable_weight, Format::Percent(0)),
        ]
    };
    Table {
        caption: "Matchups lost".to_owned(),
        columns: Column::list(
            ["Dataset", "Attack", "How", "First"],
            ["Rate", "Gap", "Its gap", "Accuracy", "Its accuracy", "Unreliable weight"],
        ),
        rows: losses.iter().map(row).collect(),
    }
}
