//! Summaries for programs: the JSON document and the table of all results.

use equipoise_core::Choice;
use equipoise_data::write_atomically;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

use super::Arena;
use super::contender::Contender;
use super::losses::Loss;
use super::matchup::{Place, Record};
use super::ranking::Standing;
use super::settings::Context;
use crate::attack::Attack;
use crate::error::Error;

/// The highest rate of the ranking: with more unreliable clients, a defense can only be lucky.
pub(super) const MAX_RANKED_RATE: f64 = 0.6;

/// An arena in figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArenaSummary {
    /// The ranking over rates up to 60 %.
    pub ranking: Vec<Standing>,
    /// The same over all rates.
    pub ranking_at_all_rates: Vec<Standing>,
    /// Models that no server could compute, over rates up to 60 %.
    pub references: Vec<Standing>,
    /// The matchups that the default defense loses.
    pub losses: Vec<Loss>,
    /// Every contender in every matchup.
    pub matchups: Vec<MatchupSummary>,
}

/// A contender in a matchup, over all seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatchupSummary {
    /// Dataset and fairness.
    #[serde(flatten)]
    pub context: Context,
    /// The attack; `None` if no client is unreliable.
    pub attack: Option<Attack>,
    /// Share of unreliable clients.
    pub rate: f64,
    /// Its place; `None` for a reference.
    pub place: Option<Place>,
    /// Its figures.
    #[serde(flatten)]
    pub record: Record,
}

impl Arena {
    /// The arena in figures.
    pub fn summary(&self) -> ArenaSummary {
        ArenaSummary {
            ranking: self.ranking(MAX_RANKED_RATE),
            ranking_at_all_rates: self.ranking(1.0),
            references: self.references(MAX_RANKED_RATE),
            losses: self.losses(),
            matchups: self.matchup_summaries(),
        }
    }

    fn matchup_summaries(&self) -> Vec<MatchupSummary> {
        let mut summaries = Vec::new();
        for matchup in self.matchups() {
            let ranked = matchup.records(&self.settings.contenders);
            let places = matchup.places(&ranked);
            let references = matchup.records(&Contender::REFERENCES);
            let places = places.into_iter().map(Some).chain([None; 2]);
            for (record, place) in ranked.into_iter().chain(references).zip(places) {
                summaries.push(MatchupSummary {
                    context: matchup.context.clone(),
                    attack: matchup.attack,
                    rate: matchup.rate,
                    place,
                    record,
                });
            }
        }
        summaries
    }

    /// Writes one line per cell and contender. Without timings, so that the same arena gives the same bytes.
    pub fn write_results_csv(&self, path: &Path) -> Result<(), Error> {
        let mut text = String::from(
            "dataset,fairness,attack,rate,seed,contender,accuracy,balanced_accuracy,auc,gap,gap_error,unreliable_weight,\
             effective_reliable_share,unreliable_clients,weights,problem\n",
        );
        for cell in &self.cells {
            let key = &cell.key;
            let attack = key.attack.map_or("none", |attack| attack.name());
            let cell_key = format!(
                "{},{},{attack},{},{}",
                key.dataset,
                key.fairness.name(),
                key.rate,
                key.seed
            );
            if let Some(problem) = &cell.problem {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{cell_key},,,,,,,,,,,{}", quoted(problem));
            }
            let unreliable = cell.clients.iter().filter(|client| !client.reliable);
            let unreliable: Vec<&str> = unreliable.map(|client| client.id.as_str()).collect();
            for result in &cell.results {
                let figure = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
                let weights = result.weights.iter().flatten().map(f64::to_string);
                let _ = writeln!(
                    text,
                    "{cell_key},{},{},{},{},{},{},{},{},{},{},{}",
                    result.contender.name(),
                    figure(result.accuracy),
                    figure(result.balanced_accuracy),
                    figure(result.auc),
                    figure(result.gap),
                    figure(result.gap_error),
                    figure(cell.unreliable_weight(result)),
                    figure(cell.effective_share(result)),
                    unreliable.join(" "),
                    weights.collect::<Vec<_>>().join(" "),
                    quoted(result.problem.as_deref().unwrap_or_default()),
                );
            }
        }
        Ok(write_atomically(path, true, |writer| writer.write_all(text.as_bytes()))?)
    }
}

/// A field of a CSV file.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
