//! How the solver converged.

use super::{OutcomeReport, wording};
use crate::block::Block;
use crate::convergence::Convergence;
use crate::format::Format;
use crate::page::Section;

impl OutcomeReport<'_> {
    pub(super) fn convergence_section(&self) -> Section {
        let outcome = self.outcome();
        let (stopped, how) = wording::termination(outcome.termination);
        let mut lead = format!("{stopped}. {how}");
        if let Some(gap) = outcome.gap {
            lead += &format!(
                " To first order, the objective can be lowered by at most {} of its value.",
                Format::Percent(4).write(Some(gap))
            );
        }
        let blocks = if outcome.trace.is_empty() {
            let text = "This defense does not iterate, so there is no trajectory to show.";
            vec![Block::Paragraph(text.to_owned())]
        } else {
            let convergence = Convergence {
                trace: &outcome.trace,
                objective: outcome.objective,
                violation: outcome.violation,
                clients: outcome
                    .clients
                    .iter()
                    .map(|client| (&*client.id, client.weight))
                    .collect(),
            };
            convergence.charts().map(Block::Chart).to_vec()
        };
        Section::new("Convergence", lead, blocks)
    }
}
