//! Methods that failed, and rounds that could not be run.

use equipoise_core::Choice;
use equipoise_report::{Block, Cell, Column, Format, Section, Table};
use std::collections::BTreeMap;

use super::{ArenaPage, attack_title};

impl ArenaPage<'_> {
    /// `None` if nothing failed.
    pub(super) fn failures_section(&self) -> Option<Section> {
        // By what failed, attack and message: how often, and where first.
        let mut failures: BTreeMap<(&str, &str, &str), (usize, String)> = BTreeMap::new();
        for cell in &self.arena.cells {
            let attack = attack_title(cell.key.attack);
            let whole = cell.problem.iter().map(|problem| ("the round", problem));
            let results = cell.results.iter();
            let single = results
                .filter_map(|result| Some((result.contender.name(), result.problem.as_ref()?)));
            for (what, problem) in whole.chain(single) {
                let entry = failures.entry((what, attack, problem)).or_default();
                if entry.0 == 0 {
                    entry.1 = cell.key.to_string();
                }
                entry.0 += 1;
            }
        }
        if failures.is_empty() {
            return None;
        }
        let row =
            |((what, attack, problem), (n, first)): (&(&str, &str, &str), &(usize, String))| {
                vec![
                    Cell::text(*what),
                    Cell::text(*attack),
                    Cell::text(*problem),
                    Cell::text(first),
                    Cell::number(*n as f64, Format::Fixed(0)),
                ]
            };
        let table = Table {
            caption: "Failures, the same ones together".to_owned(),
            columns: Column::list(["What", "Attack", "Message", "First in"], ["Times"]),
            rows: failures.iter().map(row).collect(),
        };
        let lead = "A method that fails for any seed loses the matchup (✕ in heatmaps). A round that cannot be run at all \
                    counts for nobody.";
        Some(Section::new("Failures", lead, vec![Block::Table(table)]))
    }
}
