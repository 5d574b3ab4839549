//! Every matchup that the default defense loses.

use equipoise_core::Choice;
use equipoise_report::{Block, Cell, Column, Format, Section, Table};

use super::{ArenaPage, attack_title};
use crate::arena::contender::Contender;
use crate::arena::losses::Loss;
use crate::arena::matchup::Place;
use crate::arena::settings::Context;
use crate::source::dataset_title;

impl ArenaPage<'_> {
    /// `None` if the default defense takes no part.
    pub(super) fn losses_section(&self) -> Option<Section> {
        if !self.arena.settings.contenders.contains(&Contender::DEFAULT) {
            return None;
        }
        let losses = self.arena.losses();
        let blocks = (!losses.is_empty()).then(|| Block::Table(table(&losses)));
        let lead = format!(
            "Where {} is neither first nor tied, or has a larger gap than pooled.",
            Contender::DEFAULT.name()
        );
        Some(Section::new("What the default loses", lead, blocks.into_iter().collect()))
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
