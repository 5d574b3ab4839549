//! The page of an arena: the answer, the ranking, the losses, and heatmaps.

mod definitions;
mod failures;
mod heatmaps;
mod losses;
mod ranking;

use equipoise_core::Choice;
use equipoise_data::write_atomically;
use equipoise_report::{Page, Section};
use std::path::{Path, PathBuf};

use super::Arena;
use crate::attack::Attack;
use crate::error::Error;

/// The page of an arena.
#[derive(Debug, Clone, Copy)]
pub struct ArenaPage<'a> {
    /// The arena.
    pub arena: &'a Arena,
    /// The command line that reproduces it.
    pub command: &'a str,
}

impl ArenaPage<'_> {
    /// Writes `results.csv` and `arena.html` into the folder, replacing existing ones, and returns the page's path.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, Error> {
        self.arena.write_results_csv(&folder.join("results.csv"))?;
        let path = folder.join("arena.html");
        let html = self.page().render();
        write_atomically(&path, true, |writer| writer.write_all(html.as_bytes()))?;
        Ok(path)
    }

    /// The page.
    pub fn page(&self) -> Page {
        let mut sections: Vec<Section> = vec![self.ranking_section()];
        sections.extend(self.losses_section());
        sections.extend(self.heatmap_sections());
        sections.extend(self.failures_section());
        sections.push(self.definitions_section());
        let settings = &self.arena.settings;
        let contexts: Vec<String> = settings.contexts.iter().map(super::Context::title).collect();
        Page {
            title: "Arena: defenses against attacks".to_owned(),
            subtitle: format!(
                "{}, {}, {} clients. {}.",
                counted(settings.contenders.len(), "method"),
                counted(settings.attacks.len(), "attack"),
                settings.n_clients,
                contexts.join("; ")
            ),
            sections,
        }
    }
}

/// The name of an attack, or "no attack".
fn attack_title(attack: Option<Attack>) -> &'static str {
    attack.map_or("no attack", |attack| attack.name())
}

/// "1 matchup", "2 matchups".
fn counted(n: usize, noun: &str) -> String {
    let ending = if n == 1 { "" } else { "s" };
    format!("{n} {noun}{ending}")
}
