//! How the default defense does under each attack, and every matchup that it loses.

use equipoise_core::Choice;
use equipoise_report::{
    Block, Cell, Column, Format, Matrix, MatrixCell, MatrixRow, Section, Table,
};

use super::{ArenaPage, attack_title, counted};
use crate::arena::contender::Contender;
use crate::arena::losses::Loss;
use crate::arena::matchup::{AccuracyBar, Matchup, Place};
use crate::arena::settings::Context;
use crate::arena::summary::MAX_RANKED_RATE;
use crate::attack::Attack;
use crate::results::share;
use crate::source::dataset_title;

impl ArenaPage<'_> {
    /// `None` if the default defense takes no part.
    pub(super) fn losses_section(&self) -> Option<Section> {
        let settings = &self.arena.settings;
        if !settings.contenders.contains(&Contender::DEFAULT) {
            return None;
        }
        let losses = self.arena.losses();
        let name = Contender::DEFAULT.title();
        let (ranked, higher): (Vec<&Loss>, Vec<&Loss>) =
            losses.iter().partition(|loss| loss.rate <= MAX_RANKED_RATE);
        let mut blocks = vec![Block::Matrix(self.default_matrix())];
        blocks.extend((!ranked.is_empty()).then(|| {
            let caption = format!("Matchups lost at rates up to {}", share(MAX_RANKED_RATE));
            Block::Table(table(&caption, &ranked))
        }));
        if !higher.is_empty() {
            let limit = share(MAX_RANKED_RATE);
            let summary = format!("{} at rates above {limit}", counted(higher.len(), "more loss"));
            let caption = format!("Matchups lost at rates above {limit}");
            let table = Block::Table(table(&caption, &higher));
            blocks.push(Block::Details { summary, blocks: vec![table] });
        }
        blocks.extend(self.strict_block());
        let lead = format!(
            "Where {name} is neither first nor tied, or has a larger gap than pooled. The reasons follow from the \
             figures: the weights, the gaps of the clients' own models on the test rows, and what the root can detect, \
             which is two standard errors of a gap, or of a difference between two models' gaps, in soft decisions.",
        );
        Some(Section::new("What the default loses, and why", lead, blocks))
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
            name: attack.title().to_owned(),
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
                Contender::DEFAULT.title()
            ),
            rows_title: "Attack".to_owned(),
            columns: columns.iter().map(name).collect(),
            rows: settings.attacks.iter().map(row).collect(),
            format: Format::Fixed(1),
            range: super::heatmaps::GAP_RANGE,
        }
    }

    /// Matchups in which a more accurate, unfair model keeps the default from winning under the strict rule.
    fn strict_block(&self) -> Option<Block> {
        let contenders = &self.arena.settings.contenders;
        let mut rows = Vec::new();
        for matchup in self.arena.matchups() {
            let records = matchup.records(contenders);
            let at = records.iter().position(|r| r.contender == Contender::DEFAULT)?;
            let lenient = matchup.places(&records, AccuracyBar::ReliableMean)[at];
            let strict = matchup.places(&records, AccuracyBar::BestContender)[at];
            let ranked = matchup.rate <= MAX_RANKED_RATE;
            if !ranked || !lenient.wins() || strict != Place::Inaccurate {
                continue;
            }
            let best = records.iter().filter(|r| r.failures.is_empty());
            let Some(best) = best.max_by(|a, b| a.accuracy.total_cmp(&b.accuracy)) else {
                continue;
            };
            rows.push(vec![
                Cell::text(short_title(&matchup.context)),
                Cell::text(attack_title(matchup.attack)),
                Cell::text(share(matchup.rate)),
                Cell::number(records[at].accuracy, Format::Percent(1)),
                Cell::number(records[at].gap, Format::Fixed(3)),
                Cell::text(best.contender.title()),
                Cell::number(best.accuracy, Format::Percent(1)),
                Cell::number(best.gap, Format::Fixed(3)),
            ]);
        }
        if rows.is_empty() {
            return None;
        }
        let summary = format!(
            "{} that it wins, but not among the methods within a point of the most accurate one",
            counted(rows.len(), "matchup")
        );
        let note = "Labels carry the bias that fairness removes, so a fair model predicts them less well. In these \
                    matchups the most accurate method is an unfair one, and no method that is as fair as the default \
                    comes within a point of its accuracy.";
        let table = Table {
            caption: "The default and the most accurate method".to_owned(),
            columns: Column::list(
                ["Dataset", "Attack", "Rate"],
                ["Accuracy", "Gap", "Most accurate", "Its accuracy", "Its gap"],
            ),
            rows,
        };
        let blocks = vec![Block::Paragraph(note.to_owned()), Block::Table(table)];
        Some(Block::Details { summary, blocks })
    }
}

/// "Law School sp".
fn short_title(context: &Context) -> String {
    format!("{} {}", dataset_title(&context.dataset), context.fairness.name())
}

fn table(caption: &str, losses: &[&Loss]) -> Table {
    let row = |loss: &&Loss| {
        let winner = loss.winner.map_or("nobody", |winner| winner.title());
        let why = match loss.worse_than_pooled {
            true => format!("{} It is also worse than pooled.", loss.reason),
            false => loss.reason.clone(),
        };
        vec![
            Cell::text(short_title(&loss.context)),
            Cell::text(attack_title(loss.attack)),
            Cell::text(share(loss.rate)),
            Cell::number(loss.gap, Format::Fixed(3)),
            Cell::text(winner),
            Cell::number(loss.winner_gap, Format::Fixed(3)),
            Cell::text(why),
        ]
    };
    let column = |name: &str| match name {
        "Gap" | "Its gap" => Column::number(name),
        _ => Column::text(name),
    };
    let names = ["Dataset", "Attack", "Rate", "Gap", "First", "Its gap", "Why"];
    Table {
        caption: caption.to_owned(),
        columns: names.map(column).to_vec(),
        rows: losses.iter().map(row).collect(),
    }
}
