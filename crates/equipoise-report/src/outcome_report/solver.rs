//! How the solver got there: convergence, settings and cost, for specialists.

use super::{OutcomePage, wording};
use crate::block::Block;
use crate::convergence::Convergence;
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
        let mut blocks = Vec::new();
        if outcome.trace.is_empty() {
            let text = "This defense does not iterate, so there is no trajectory to show.";
            blocks.push(Block::Paragraph(text.to_owned()));
        } else {
            let clients = outcome.clients.iter().map(|client| (&*client.id, client.weight));
            let convergence = Convergence {
                trace: &outcome.trace,
                objective: outcome.objective,
                violation: outcome.violation,
                clients: clients.collect(),
            };
            blocks.extend(convergence.charts().map(Block::Chart));
        }
        blocks.extend(self.settings_blocks());
        let summary = "Show settings, cost and convergence".to_owned();
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
