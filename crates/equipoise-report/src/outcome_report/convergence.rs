//! How the solver got there.

use super::{OutcomeReport, wording};
use crate::block::Block;
use crate::convergence::Convergence;
use crate::format::Format;
use crate::page::Section;

impl OutcomeReport<'_> {
    pub(super) fn convergence_section(&self) -> Section {
        let (stopped, how) = wording::termination(self.outcome.termination);
        let mut lead = format!("{stopped}. {how}");
        if let Some(gap) = self.outcome.gap {
            lead += &format!(
                " To first order, what is left to gain is at most {} of the objective.",
                Format::Percent(4).write(Some(gap))
            );
        }
        let blocks = if self.outcome.trace.is_empty() {
            let text = "This defense does not search step by step, so there is no path to show.";
            vec![Block::Paragraph(text.to_owned())]
        } else {
            let convergence = Convergence {
                trace: &self.outcome.trace,
                objective: self.outcome.objective,
                violation: self.outcome.violation,
                clients: self.clients.iter().map(|client| (&*client.id, client.weight)).collect(),
            };
            convergence.charts().map(Block::Chart).to_vec()
        };
        Section { heading: "How the solver got there".to_owned(), lead, blocks }
    }
}
