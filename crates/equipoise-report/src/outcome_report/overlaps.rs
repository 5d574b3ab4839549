//! Clients whose proxies have rows in common.

use equipoise_core::Overlap;

use super::OutcomePage;
use crate::block::{Block, NoticeKind};
use crate::format::{Format, count, counted};
use crate::table::{Cell, Column, Table};

impl OutcomePage<'_> {
    /// Pairs of clients that share rows; empty if none do.
    pub(super) fn overlap_blocks(&self) -> Vec<Block> {
        let (overlaps, more) = (&self.outcome.overlaps, self.outcome.more_overlaps);
        if overlaps.is_empty() {
            return Vec::new();
        }
        let mut text = format!(
            "{} at least a tenth of the distinct rows of the smaller client. If all columns are categorical, honest \
             clients often share rows; if some are measured numbers, that is rare. The tables cannot show why rows \
             are the same, or who had them first.",
            counted(overlaps.len() + more, "pair of clients shares", "pairs of clients share"),
        );
        if overlaps.iter().any(|overlap| overlap.estimated) {
            text += " Numbers marked “about” are estimated from a sample of the rows.";
        }
        if more > 0 {
            text += &format!(
                " The table lists the {} with the largest shares; there are {} more.",
                count(overlaps.len()),
                count(more)
            );
        }
        let table = Table {
            caption: "Clients whose proxies have rows in common".to_owned(),
            columns: Column::list(
                ["Clients"],
                ["Distinct rows in common", "Share of the smaller client"],
            ),
            rows: overlaps.iter().map(row).collect(),
        };
        vec![Block::Notice { kind: NoticeKind::Info, text }, Block::Table(table)]
    }
}

fn row(overlap: &Overlap) -> Vec<Cell> {
    let [first, second] = &overlap.clients;
    let about = |text: String| if overlap.estimated { format!("about {text}") } else { text };
    vec![
        Cell::text(format!("{first} and {second}")),
        Cell::text(about(count(overlap.shared_rows as usize))),
        Cell::text(about(Format::Percent(1).write(Some(overlap.share)))),
    ]
}
