//! Clients whose proxies have rows in common.

use super::{OutcomeReport, ReportOverlap};
use crate::block::{Block, NoticeKind};
use crate::format::{Format, count, counted};
use crate::table::{Cell, Column, Table};

impl OutcomeReport<'_> {
    /// What clients share; nothing where they share nothing.
    pub(super) fn overlap_blocks(&self) -> Vec<Block> {
        if self.overlaps.is_empty() {
            return Vec::new();
        }
        let n_pairs = self.overlaps.len() + self.more_overlaps;
        let mut text = format!(
            "{} at least a tenth of the different rows of the one that has fewer. \
             Where all columns hold categories, rows of honest clients are often alike; where some hold measured numbers, that \
             is rare. Why rows are alike, and who had them first, the tables do not tell.",
            counted(n_pairs, "pair of clients has in common", "pairs of clients have in common"),
        );
        if self.overlaps.iter().any(|overlap| overlap.estimated) {
            text += " Numbers with “about” are estimates, from a sample of the rows.";
        }
        if self.more_overlaps > 0 {
            text += &format!(
                " Shown are the {} with the largest shares; there are {} more.",
                count(self.overlaps.len()),
                count(self.more_overlaps)
            );
        }
        let table = Table {
            caption: "Clients whose proxies have rows in common".to_owned(),
            columns: vec![
                Column::text("Clients"),
                Column::number("Different rows in common"),
                Column::number("Share of the smaller client's"),
            ],
            rows: self.overlaps.iter().map(row).collect(),
        };
        vec![Block::Notice { kind: NoticeKind::Info, text }, Block::Table(table)]
    }
}

fn row(overlap: &ReportOverlap) -> Vec<Cell> {
    let [first, second] = &overlap.clients;
    let about = |text: String| if overlap.estimated { format!("about {text}") } else { text };
    vec![
        Cell::text(format!("{first} and {second}")),
        Cell::text(about(count(overlap.shared_rows))),
        Cell::text(about(Format::Percent(1).write(Some(overlap.share)))),
    ]
}
