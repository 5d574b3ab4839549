//! The options that say where datasets come from.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use equipoise_lab::{OWN_TABLE, SYNTHETIC, Sources};

/// Size of the synthetic population.
const SYNTHETIC_PEOPLE: usize = 20_000;

/// Where to find datasets.
#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    /// Folder with law_school.csv and dutch.csv, or the path of a dataset file; may be repeated [default: data]
    #[arg(long, value_name = "PATH")]
    data: Vec<PathBuf>,
    /// Schema of your own table; only with --dataset csv
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Number of people: every seed draws this many rows of each dataset [default: all rows; the synthetic population has
    /// 20000 people, or this many]
    #[arg(long, value_name = "N")]
    people: Option<usize>,
}

impl SourceArgs {
    /// The sources, unless an option has no effect on these datasets.
    pub(crate) fn resolve(&self, datasets: &[String]) -> anyhow::Result<Sources> {
        if self.schema.is_some() && !datasets.iter().any(|name| name == OWN_TABLE) {
            bail!(
                "--schema describes your own table, so it needs --dataset csv. Remove it, or add csv."
            );
        }
        if !self.data.is_empty() && datasets.iter().all(|name| name == SYNTHETIC) {
            bail!("--data has no effect on --dataset synthetic, which is generated. Remove it.");
        }
        if self.people == Some(0) {
            bail!("--people must be at least 1, found 0");
        }
        let data = if self.data.is_empty() { vec!["data".into()] } else { self.data.clone() };
        let n_people = self.people.unwrap_or(SYNTHETIC_PEOPLE);
        Ok(Sources { data, schema: self.schema.clone(), n_people })
    }

    /// How many rows to draw from each dataset; `None`: all. The synthetic population is generated with that number.
    pub(crate) fn n_people(&self, datasets: &[String]) -> Option<usize> {
        self.people.filter(|_| datasets.iter().any(|name| name != SYNTHETIC))
    }
}
