//! An experiment as a page: the paper's tables and figures, ours beside its own, and what to make of them.
//!
//! The page is composed once; it is then written as HTML, as Markdown, and table by table as CSV.

mod ablations;
mod claims;
mod convergence;
mod discussion;
mod figures;
mod files;
mod paper;
mod performance;
mod proxy_fairness;
mod trade_off;
mod weights;
mod wording;

use equipoise_report::{Block, Figure, Page, Section};

use crate::experiment::Experiment;
use crate::source::{OWN_TABLE, dataset_title};
use wording::{measure, preprocessing_words, share};

/// What an experiment gave, to be read.
#[derive(Debug, Clone, Copy)]
pub struct Results<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// The command line that reproduces it.
    pub command: &'a str,
}

impl Results<'_> {
    /// The page.
    pub fn page(&self) -> Page {
        let sections = [
            Some(self.opening()),
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
        Page {
            title: "Fair collaborative learning against unreliable clients: results".to_owned(),
            subtitle: self.subtitle(),
            sections: sections.into_iter().flatten().collect(),
        }
    }

    fn subtitle(&self) -> String {
        let places = self.experiment.settings.combinations();
        let places = places.iter().map(|&(dataset, fairness)| {
            format!("{} ({})", dataset_title(dataset), measure(fairness))
        });
        format!(
            "{}, {} clients",
            places.collect::<Vec<_>>().join(", "),
            self.experiment.settings.n_clients
        )
    }

    fn opening(&self) -> Section {
        let settings = &self.experiment.settings;
        let shares: Vec<String> = settings.unreliable.iter().map(|&u| share(u)).collect();
        let lead = format!(
            "A dataset is shared out evenly and at random among {} clients. The clients whose own models \
             are the most unfair are unreliable: they send their training rows as they are. The others send \
             fair proxies. Each defense turns the same proxies into one model, which is judged on test \
             rows of the reliable clients alone. Figures are {}.",
            settings.n_clients,
            match settings.seeds {
                1 => "those of one seed".to_owned(),
                n => format!("means over {n} seeds, ± is the standard deviation over them"),
            },
        );
        let mut figures = vec![
            figure(
                "Rounds",
                self.experiment.grid.len().to_string(),
                "cells of the grid, seeds counted",
            ),
            figure("Unreliable clients", shares.join(", "), "shares tried"),
            figure("Root", share(settings.root_share), "of each client's training rows"),
        ];
        if let Some(held) = self.claims_held() {
            figures.push(figure("Checks that hold", held, "of what the paper finds; see below"));
        }
        let has_own = settings.datasets.iter().any(|dataset| dataset == OWN_TABLE);
        let only_own = has_own && settings.datasets.len() == 1;
        let mut blocks = vec![Block::Figures(figures)];
        blocks.push(Block::Paragraph("Written by this command:".to_owned()));
        blocks.push(Block::Code(self.command.to_owned()));
        blocks.push(Block::Paragraph(format!(
            "Columns become features as follows: {}{}. Fair proxies are made {}. λ = {}.",
            if only_own {
                "as the table's schema says"
            } else {
                preprocessing_words(settings.preprocessing)
            },
            if has_own && !only_own { " (the own table as its schema says)" } else { "" },
            wording::generator_words(settings.generator),
            settings.lambda,
        )));
        Section { heading: "What was run".to_owned(), lead, blocks }
    }
}

fn figure(label: &str, value: String, note: &str) -> Figure {
    Figure { label: label.to_owned(), value, note: note.to_owned() }
}
