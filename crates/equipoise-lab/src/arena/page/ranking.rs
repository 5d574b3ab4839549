//! The answer in large print, and the ranking.

use equipoise_core::Choice;
use equipoise_report::{
    Answer, Block, Cell, Column, Figure, Format, NoticeKind, Section, Table, Tone,
};

use super::{ArenaPage, counted};
use crate::arena::contender::Contender;
use crate::arena::ranking::Standing;
use crate::arena::summary::MAX_RANKED_RATE;
use crate::results::share;

/// What the default defense should reach: first or tied in this share of the matchups, and worse than pooled in at
/// most that share.
const MIN_WIN_SHARE: f64 = 0.85;
const MAX_WORSE_SHARE: f64 = 0.03;

impl ArenaPage<'_> {
    pub(super) fn ranking_section(&self) -> Section {
        let standings = self.arena.ranking(MAX_RANKED_RATE);
        let references = self.arena.references(MAX_RANKED_RATE);
        let mut blocks = Vec::new();
        let default = standings.iter().find(|standing| standing.contender == Contender::DEFAULT);
        if let Some(default) = default {
            blocks.push(Block::Answer(answer(default)));
            blocks.push(Block::Figures(figures(default, &references)));
        }
        if self.arena.settings.seeds == 1 {
            let text = "With one seed there are no intervals: a difference of more than .005 decides, however uncertain \
                        it is. Use at least five seeds for a ranking.";
            blocks.push(Block::Notice { kind: NoticeKind::Warning, text: text.to_owned() });
        }
        let limit = format!("Rates up to {}", share(MAX_RANKED_RATE));
        blocks.extend(tables(&limit, &standings, &references));
        if self.arena.settings.rates.iter().any(|rate| *rate > MAX_RANKED_RATE) {
            let summary = "The ranking over all rates".to_owned();
            let (standings, references) = (self.arena.ranking(1.0), self.arena.references(1.0));
            let blocks_of_all = tables("All rates", &standings, &references).to_vec();
            blocks.push(Block::Details { summary, blocks: blocks_of_all });
        }
        let lead = "A matchup is one dataset, fairness criterion, attack and rate (the share of unreliable clients), over \
                    all seeds. A method is first if it has the smallest gap among those that are accurate enough, and \
                    tied if the seeds cannot tell its gap from the smallest. The last section defines every figure.";
        Section::new("Ranking", lead, blocks)
    }
}

fn answer(default: &Standing) -> Answer {
    let part = |n: usize| n as f64 / default.matchups.max(1) as f64;
    let percent = Format::Percent(0);
    let good =
        part(default.wins) >= MIN_WIN_SHARE && part(default.worse_than_pooled) <= MAX_WORSE_SHARE;
    let Standing { contender, matchups, wins, useful_wins, .. } = default;
    let Standing { worse_than_pooled, worse_than_useful_pooled, .. } = default;
    let lost = matchups - wins;
    Answer {
        tone: if good { Tone::Good } else { Tone::Bad },
        headline: format!(
            "{} is first or tied for first in {} of the matchups",
            contender.name(),
            percent.write(Some(part(*wins)))
        ),
        sentence: format!(
            "It wins or ties {wins} of {}, loses {lost}, and has a larger gap than pooling all proxies in \
             {worse_than_pooled}. Among models that are better than a constant, it wins or ties {useful_wins}, and has a \
             larger gap than pooling in {worse_than_useful_pooled}. The aim is at least {} and at most {}.",
            counted(*matchups, "matchup"),
            percent.write(Some(MIN_WIN_SHARE)),
            percent.write(Some(MAX_WORSE_SHARE)),
        ),
    }
}

fn figures(default: &Standing, references: &[Standing]) -> Vec<Figure> {
    let figure = |label: &str, value: String, note: &str| Figure {
        label: label.to_owned(),
        value,
        note: note.to_owned(),
    };
    let mut figures = vec![
        figure("Gap of the default", gap(default), "mean, with its 95 % interval over seeds"),
        figure("Accuracy", percent(default.accuracy), "of the default defense"),
        figure("Balanced accuracy", percent(default.balanced_accuracy), "of the default defense"),
        figure(
            "Unreliable weight",
            percent(default.unreliable_weight),
            "given to unreliable clients, where there are any",
        ),
    ];
    let bound = references.iter().find(|s| s.contender == Contender::RELIABLE_MEAN);
    if let Some(bound) = bound {
        let note = "their average model, which nobody knows in practice";
        figures.insert(1, figure("Gap of the reliable clients", gap(bound), note));
    }
    figures
}

/// Who comes first how often, and the figures of all methods.
fn tables(caption: &str, standings: &[Standing], references: &[Standing]) -> [Block; 2] {
    let places = [
        "First or tied (95 %)",
        "Better than a constant",
        "Worse than pooled",
        "Worse than useful pooled",
        "Not accurate enough",
        "Failed",
    ];
    let figures =
        ["Mean gap (95 %)", "Accuracy", "Balanced", "Unreliable weight", "Effective clients"];
    let matchups = standings.first().map_or(0, |standing| standing.matchups);
    let places = Table {
        caption: format!("{caption}: places in {}", counted(matchups, "matchup")),
        columns: Column::list(["Method"], places),
        rows: standings.iter().map(|s| named(s, place_cells(s))).collect(),
    };
    let figures = Table {
        caption: format!(
            "{caption}: means. The last rows are models that no server could compute."
        ),
        columns: Column::list(["Method"], figures),
        rows: standings.iter().chain(references).map(|s| named(s, figure_cells(s))).collect(),
    };
    [Block::Table(places), Block::Table(figures)]
}

fn named<const N: usize>(standing: &Standing, cells: [Cell; N]) -> Vec<Cell> {
    let row = [Cell::text(standing.contender.name())].into_iter().chain(cells);
    let is_default = standing.contender == Contender::DEFAULT;
    row.map(|cell| Cell { strong: is_default, ..cell }).collect()
}

fn place_cells(standing: &Standing) -> [Cell; 6] {
    let count = |n: usize| Cell::number(n as f64, Format::Fixed(0));
    let wins = Format::Percent(0).write_estimate(standing.win_share);
    [
        Cell::text(wins),
        count(standing.useful_wins),
        count(standing.worse_than_pooled),
        count(standing.worse_than_useful_pooled),
        count(standing.inaccurate),
        count(standing.failed),
    ]
}

fn figure_cells(standing: &Standing) -> [Cell; 5] {
    [
        Cell::text(gap(standing)),
        Cell::number(standing.accuracy, Format::Percent(1)),
        Cell::number(standing.balanced_accuracy, Format::Percent(1)),
        Cell::number(standing.unreliable_weight, Format::Percent(0)),
        Cell::number(standing.effective_share, Format::Percent(0)),
    ]
}

fn gap(standing: &Standing) -> String {
    let ends = standing.gap_low.zip(standing.gap_high).map(|(low, high)| [low.max(0.0), high]);
    Format::Fixed(3).write_interval(standing.gap, ends)
}

fn percent(value: Option<f64>) -> String {
    Format::Percent(1).write(value)
}
