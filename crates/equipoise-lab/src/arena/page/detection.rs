//! What the root can tell: the gaps below which nobody could detect unfairness, and how close the default comes.

use equipoise_report::{Block, Cell, Column, Format, Section, Table};

use super::ArenaPage;
use crate::arena::contender::Contender;
use crate::arena::matchup::{Matchup, mean};
use crate::arena::settings::Context;

impl ArenaPage<'_> {
    pub(super) fn detection_section(&self) -> Section {
        let matchups = self.arena.matchups();
        let row = |context: &Context| {
            let own: Vec<&Matchup<'_>> =
                matchups.iter().filter(|matchup| matchup.context == *context).collect();
            detection_row(context, &own)
        };
        let numbers = [
            "Root rows per group",
            "Detectable gap, decisions",
            "Detectable gap, soft",
            "Excess of the default",
            "Largest excess",
            "Excess above the detectable gap",
        ];
        let table = Table {
            caption: "Means over seeds; a detectable gap is two standard errors".to_owned(),
            columns: Column::list(["Dataset and criterion"], numbers),
            rows: self.arena.settings.contexts.iter().map(row).collect(),
        };
        let lead = "The root is a small sample, so every gap measured on it has a standard error. A gap below two standard \
                    errors cannot be distinguished from zero with this root alone. Soft decisions \
                    have the smaller error. The excess is the default's gap minus that of the reliable clients' average, \
                    and the last column counts the matchups in which it is so large that the root could have shown it.";
        Section::new("What this root can detect", lead, vec![Block::Table(table)])
    }
}

fn detection_row(context: &Context, matchups: &[&Matchup<'_>]) -> Vec<Cell> {
    let errors = || matchups.iter().flat_map(|m| &m.cells).filter_map(|cell| cell.root.as_ref());
    let rows = |at: usize| mean(errors().map(|root| root.rows[at] as f64));
    let whole = |value: Option<f64>| Format::Fixed(0).write(value);
    let excesses: Vec<(f64, Option<f64>)> = matchups
        .iter()
        .filter_map(|matchup| {
            let own = matchup.record(Contender::DEFAULT)?.gap;
            let bound = matchup.record(Contender::RELIABLE_MEAN)?.gap;
            let excess = own - bound;
            excess.is_finite().then(|| (excess, matchup.detectable_gap()))
        })
        .collect();
    let above = excesses.iter().filter(|(excess, gap)| gap.is_some_and(|gap| *excess > gap));
    let largest = excesses.iter().map(|(excess, _)| *excess).reduce(f64::max);
    let three = Format::Fixed(3);
    vec![
        Cell::text(context.title()),
        Cell::text(format!("{} and {}", whole(rows(0)), whole(rows(1)))),
        Cell::number(mean(matchups.iter().filter_map(|m| m.detectable_hard_gap())), three),
        Cell::number(mean(matchups.iter().filter_map(|m| m.detectable_gap())), three),
        Cell::number(mean(excesses.iter().map(|(excess, _)| *excess)), three),
        Cell::number(largest, three),
        Cell::text(format!("{} of {}", above.count(), excesses.len())),
    ]
}
