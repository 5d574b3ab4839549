//! The answer to "may we use it?", and what it is about.

use equipoise_data::{Group, Sensitive};

use super::OutcomePage;
use super::answer::{
    accuracy_figure, answer, figure, gap_figure, on_rows, requirement_figures, root_figures,
};
use crate::block::{Block, Fact, Figure};
use crate::format::{count, counted};
use crate::page::Section;

/// Maximum number of groups that a sentence names.
const MAX_GROUPS: usize = 8;

impl OutcomePage<'_> {
    pub(super) fn verdict_section(&self) -> Section {
        let proxy_rows: usize = self.clients().iter().map(|client| client.proxy_rows).sum();
        let lead = format!(
            "{} sent one dataset each, {} rows in all. From these, one model was made and checked against {} trusted \
             rows. This is what those rows say about it.",
            counted(self.clients().len(), "client", "clients"),
            count(proxy_rows),
            count(self.outcome.root_metrics.rows),
        );
        let mut blocks = vec![Block::Answer(answer(self.outcome))];
        blocks.push(Block::Figures(self.first_figures()));
        blocks.push(Block::Facts(self.facts()));
        Section::new("May we use it?", lead, blocks)
    }

    /// The figures on the root. If others were measured on more rows, only the required ones are the root's.
    fn first_figures(&self) -> Vec<Figure> {
        let outcome = self.outcome;
        let elsewhere = self.primary().filter(|primary| primary.metrics != outcome.root_metrics);
        let mut figures = match elsewhere {
            None => root_figures(outcome),
            Some(primary) => {
                let on = on_rows(&primary.rows, primary.metrics.rows);
                let gap = primary.metrics.gap(outcome.settings.fairness);
                let others =
                    [gap_figure(gap.as_ref(), &on), accuracy_figure(&primary.metrics, &on)];
                requirement_figures(outcome).into_iter().chain(others).collect()
            }
        };
        let weighted = self.n_weighted_clients();
        let of_all = |n: usize| format!("{} of {}", count(n), count(self.clients().len()));
        let (value, note) = match outcome.tilt.as_ref().map(|tilt| tilt.counted) {
            Some([full, less, not]) => {
                (of_all(full), format!("counted in full, {less} less, {not} not"))
            }
            None => (of_all(weighted), "with more than 1\u{202f}% of the weight".to_owned()),
        };
        figures.push(figure("Clients in the model", value, note));
        figures
    }

    fn facts(&self) -> Vec<Fact> {
        let (about, schema) = (&self.outcome.about, self.schema);
        let sensitive = &schema.sensitive;
        let label = format!("{} = {}", schema.label.column, schema.label.positive);
        let mut facts = vec![
            Fact::new("The model predicts", label),
            Fact::new("Groups compared", groups_text(sensitive)),
            Fact::new("Reference group", self.reference_group()),
            Fact::new("Fairness criterion", self.outcome.settings.fairness.to_string()),
        ];
        if !sensitive.as_feature {
            let text = "The model does not see the group of a person.";
            facts.push(Fact::new("Blind", text));
        }
        let known = [("Round", &about.round), ("Date", &about.date), ("Run by", &about.run_by)];
        facts.extend(
            known.into_iter().filter_map(|(name, value)| Some(Fact::new(name, value.clone()?))),
        );
        if about.round.is_some() && about.date.is_none() {
            // A published report has no date, so that anyone can compute it again from the outcome.
            let text = "in the audit log of the round, audit.jsonl, and on the round's page";
            facts.push(Fact::new("Date", text));
        }
        // A schema's digest is that of its content, not of a file.
        let digests = [
            ("SHA-256 of model.json", &self.model_digest),
            ("Digest of the schema", &self.outcome.schema_digest),
        ];
        let digests = digests.into_iter().filter(|(_, digest)| !digest.is_empty());
        facts.extend(digests.map(|(name, digest)| Fact::code(name, digest)));
        facts
    }

    pub(super) fn n_weighted_clients(&self) -> usize {
        self.clients().iter().filter(|client| client.weight > super::clients::NEGLIGIBLE).count()
    }
}

/// The groups between separators that no name contains: "sex & ethnicity: F/Asian · F/Black", or their names.
pub fn groups_text(sensitive: &Sensitive) -> String {
    let groups = &sensitive.groups;
    if groups.len() > MAX_GROUPS {
        return format!("{}: {} groups", sensitive.column_name(), groups.len());
    }
    let values = |group: &Group| match &group.members[..] {
        [values] if values.len() > 1 => Some(values.join("/")),
        _ => None,
    };
    let short: Option<Vec<String>> = groups.iter().map(values).collect();
    match short {
        Some(short) => format!("{}: {}", sensitive.column_name(), short.join(" · ")),
        None => groups.iter().map(|group| &*group.name).collect::<Vec<_>>().join(" · "),
    }
}
