//! The results page of an experiment: the paper's tables and figures with ours beside them, and a discussion.
//!
//! The page is built once, then written as HTML, as Markdown, and each table as CSV.

mod ablations;
mod claims;
mod convergence;
mod discussion;
mod failed;
mod figures;
mod files;
mod nine_cells;
mod paper;
mod performance;
mod proxy_fairness;
mod trade_off;
mod weights;
mod wording;

pub(crate) use wording::share;

use equipoise_report::{Block, Figure, Page, Section, count};

use crate::experiment::Experiment;
use crate::source::OWN_TABLE;
use figures::Combination;
use wording::{describe_distribution, describe_generator, describe_preprocessing, measure};

/// The results of an experiment.
#[derive(Debug, Clone, Copy)]
pub struct Results<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// The command line that reproduces it.
    pub command: &'a str,
}

impl<'a> Results<'a> {
    /// The page.
    pub fn page(&self) -> Page {
        let sections = [
            Some(self.setup_section()),
            self.failed_section(),
            self.nine_cells_section(),
            self.claims_section(),
            self.weights_section(),
            self.baseline_section(),
            self.robust_section(),
            self.proxy_fairness_section(),
            self.trade_off_section(),
            self.convergence_section(),
            self.ablation_section(),
            self.discussion_section(),
        ];
        let combinations = self.experiment.settings.combinations();
        let combinations = combinations.iter().map(|&(dataset, fairness)| {
            format!("{} ({})", self.experiment.dataset_title(dataset), measure(fairness))
        });
        Page {
            title: "Fair collaborative learning against unreliable clients: results".to_owned(),
            subtitle: format!(
                "{}, {} clients",
                combinations.collect::<Vec<_>>().join(", "),
                self.experiment.settings.n_clients
            ),
            sections: sections.into_iter().flatten().collect(),
        }
    }

    /// A section with some blocks per combination. `None` if there are no blocks.
    fn section<B: IntoIterator<Item = Block>>(
        &self,
        heading: &str,
        lead: impl Into<String>,
        blocks: impl FnMut(Combination<'a>) -> B,
    ) -> Option<Section> {
        let combinations = self.experiment.settings.combinations();
        let blocks: Vec<Block> = combinations.into_iter().flat_map(blocks).collect();
        (!blocks.is_empty()).then(|| Section::new(heading, lead, blocks))
    }

    fn setup_section(&self) -> Section {
        let settings = &self.experiment.settings;
        let shares: Vec<String> = settings.unreliable.iter().map(|&u| share(u)).collect();
        let lead = format!(
            "Each dataset is split {} among {} clients. The clients whose own models are the most \
             unfair are unreliable: they send their training rows unchanged. The others send fair proxies. Every \
             defense turns the same proxies into one model, which is evaluated on the test rows of the reliable \
             clients only. Figures are {}.",
            describe_distribution(settings.distribution),
            settings.n_clients,
            match settings.seeds {
                1 => format!("from seed {}", settings.first_seed),
                n => format!(
                    "means over {n} seeds from {}, and ± is the standard deviation",
                    settings.first_seed
                ),
            },
        );
        let figure = |label: &str, value: String, note: &str| Figure {
            label: label.to_owned(),
            value,
            note: note.to_owned(),
        };
        let mut figures = vec![
            figure("Rounds", count(self.experiment.grid.len()), "in the grid, over all seeds"),
            figure("Unreliable clients", shares.join(", "), "shares tried"),
            figure("Root", share(settings.root_share), "of each client's training rows"),
        ];
        if let Some(held) = self.claims_held() {
            figures.push(figure("Checks passed", held, "of the paper's findings, see below"));
        }
        let has_own = settings.datasets.iter().any(|dataset| dataset == OWN_TABLE);
        let encoding = match (has_own, settings.datasets.len()) {
            (true, 1) => "The table is encoded by its schema".to_owned(),
            (true, _) => format!(
                "{}; your own table is encoded by its schema",
                describe_preprocessing(settings.preprocessing)
            ),
            (false, _) => describe_preprocessing(settings.preprocessing).to_owned(),
        };
        if let Some(people) = settings.n_people {
            figures.push(figure(
                "People",
                people.to_string(),
                "of each dataset, drawn by the seed",
            ));
        }
        let blocks = vec![
            Block::Figures(figures),
            Block::Paragraph("This page was generated by:".to_owned()),
            Block::Code(self.command.to_owned()),
            Block::Paragraph(format!(
                "{encoding}. Fair proxies are generated {}. λ = {}.",
                describe_generator(settings.generator),
                settings.lambda,
            )),
        ];
        Section::new("Setup", lead, blocks)
    }
}
