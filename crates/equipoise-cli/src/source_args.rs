//! The options that say where datasets come from.

use std::path::PathBuf;

use clap::Args;
use equipoise_lab::Sources;

/// Where to find datasets.
#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    /// Folder with law_school.csv and dutch.csv, or the path of a dataset file; may be repeated
    #[arg(long, value_name = "PATH", default_value = "data")]
    data: Vec<PathBuf>,
    /// Schema of your own table; only with --dataset csv
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Size of the synthetic population; only with --dataset synthetic
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    people: usize,
}

impl SourceArgs {
    pub(crate) fn resolve(&self) -> Sources {
        Sources { data: self.data.clone(), schema: self.schema.clone(), n_people: self.people }
    }
}
