//! `equipoise data fetch`: downloads datasets.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use clap::builder::PossibleValuesParser;
use equipoise_lab::{DATASETS, Dataset, FetchSettings};
use serde::Serialize;

use crate::answer::Answer;
use crate::output::Output;
use crate::progress::Bar;

/// Download datasets and check them
///
/// Downloads over https only, and keeps a file only if it has the expected SHA-256 digest. A file that already
/// exists is checked instead of downloaded, and a different file of that name is replaced only with --force. The
/// proxy is taken from ALL_PROXY, HTTPS_PROXY or HTTP_PROXY, except for the hosts in NO_PROXY.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise data fetch law-school dutch --to data
  equipoise data fetch law-school --url https://mirror.example.org/law.csv --ca-file mirror.pem")]
pub(crate) struct FetchArgs {
    /// Which datasets
    #[arg(value_name = "NAME", required = true, value_parser = names())]
    names: Vec<String>,
    /// Folder for the files; created if it does not exist
    #[arg(long, value_name = "DIR", default_value = "data")]
    to: PathBuf,
    /// Download from this https URL instead; for one dataset only
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// PEM file of certificates to trust instead of the usual root certificates
    #[arg(long, value_name = "PEM")]
    ca_file: Option<PathBuf>,
    /// Replace a different file of the same name
    #[arg(long)]
    force: bool,
}

/// Selects every dataset.
const ALL: &str = "all";

#[derive(Serialize)]
struct Document {
    files: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    file: PathBuf,
    sha256: &'static str,
    bytes: u64,
    downloaded: bool,
}

/// Runs the command.
pub(crate) fn run(args: &FetchArgs, output: &Output) -> anyhow::Result<Answer> {
    let requested = |dataset: &&Dataset| args.names.iter().any(|n| n == dataset.name || n == ALL);
    let datasets: Vec<&Dataset> = DATASETS.iter().filter(requested).collect();
    if args.url.is_some() && datasets.len() != 1 {
        bail!("--url is the URL of one file: name exactly one dataset");
    }
    let settings = FetchSettings {
        url: args.url.clone(),
        force: args.force,
        ca_file: args.ca_file.clone(),
        ..FetchSettings::default()
    };
    let mut files = Vec::new();
    for dataset in datasets {
        let mut bar = Bar::of_bytes(output);
        let fetched = dataset.fetch(&args.to, &settings, &mut |done, of| {
            bar.show(done as usize, of.unwrap_or(done) as usize, || dataset.name.to_owned());
        })?;
        files.push(Entry {
            name: dataset.name,
            file: fetched.file,
            sha256: dataset.sha256,
            bytes: fetched.bytes,
            downloaded: fetched.downloaded,
        });
    }
    let document = Document { files };
    output.result(&document, || document.files.iter().map(Entry::describe).collect())?;
    Ok(Answer::Done)
}

impl Entry {
    fn describe(&self) -> String {
        let action = if self.downloaded { "downloaded" } else { "already there, not downloaded" };
        let (file, bytes) = (self.file.display(), self.bytes);
        format!("{file}: {action}; {bytes} bytes, SHA-256 as expected\n")
    }
}

fn names() -> PossibleValuesParser {
    DATASETS.iter().map(|dataset| dataset.name).chain([ALL]).collect::<Vec<_>>().into()
}
