//! How the solver stopped, and its settings, for specialists.

use super::{OutcomePage, wording};
use crate::block::Block;
use crate::format::Format;
use crate::page::Section;

impl OutcomePage<'_> {
    pub(super) fn solver_section(&self) -> Section {
        let outcome = self.outcome;
        let (stopped, how) = wording::termination(outcome.termination);
        let mut lead = format!("{stopped}. {how}");
        if let Some(gap) = outcome.gap {
            lead += &format!(
                " To first order, the objective can be lowered by {} of its value.",
                describe_gap(gap)
            );
        }
        let summary = "Show settings".to_owned();
        let blocks = vec![Block::Table(self.settings_table())];
        Section::new("Solver", lead, vec![Block::Details { summary, blocks }])
    }
}

/// The most by which the objective can be lowered. A gap that would round to 0 is not 0.
fn describe_gap(gap: f64) -> String {
    const SMALLEST: f64 = 1e-6;
    match gap {
        gap if gap.abs() < SMALLEST => format!("less than {}", PERCENT.write(Some(SMALLEST))),
        gap => format!("at most {}", PERCENT.write(Some(gap))),
    }
}

const PERCENT: Format = Format::Percent(4);
