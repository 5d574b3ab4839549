//! What the reader must know before using the figures.

use equipoise_core::Warning;

use super::{Measured, OutcomePage, sentence};
use crate::block::{Block, NoticeKind};
use crate::format::counted;
use crate::page::Section;

/// More warnings than this are folded away.
const MAX_SHOWN: usize = 12;

impl OutcomePage<'_> {
    /// `None` if there is nothing to warn about.
    pub(super) fn warnings_section(&self) -> Option<Section> {
        let warnings = self.outcome.warnings.iter().map(Warning::to_string);
        let notice =
            |text: String| Block::Notice { kind: NoticeKind::Warning, text: sentence(&text) };
        let mut blocks: Vec<Block> = warnings.chain(self.missing_figures()).map(notice).collect();
        if blocks.is_empty() {
            return None;
        }
        if blocks.len() > MAX_SHOWN {
            let rest = blocks.split_off(MAX_SHOWN);
            let summary = format!("Show {}", counted(rest.len(), "more warning", "more warnings"));
            blocks.push(Block::Details { summary, blocks: rest });
        }
        Some(Section::new("Warnings", "", blocks))
    }

    /// Figures that cannot be measured, and why.
    fn missing_figures(&self) -> impl Iterator<Item = String> + '_ {
        let of = |measured: &Measured| {
            let missing = measured.metrics.missing().into_iter();
            missing.map(|reason| format!("{measured}: {reason}")).collect::<Vec<_>>()
        };
        self.measured.iter().flat_map(of)
    }
}
