//! Where and why our figures differ from the paper's.

use equipoise_report::{Block, Section};

use super::Results;

impl Results<'_> {
    /// Only where the paper has figures to differ from.
    pub(super) fn discussion_section(&self) -> Option<Section> {
        let settings = &self.experiment.settings;
        let known = crate::dataset::DATASETS.iter().map(|dataset| dataset.name);
        if !known.into_iter().any(|name| settings.datasets.iter().any(|dataset| dataset == name)) {
            return None;
        }
        Some(Section {
            heading: "Where and why the figures differ from the paper's".to_owned(),
            lead: String::new(),
            blocks: PARAGRAPHS.iter().map(|text| Block::Paragraph((*text).to_owned())).collect(),
        })
    }
}

const PARAGRAPHS: [&str; 0] = [];
