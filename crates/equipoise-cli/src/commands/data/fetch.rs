//! `equipoise data fetch`: a dataset's file from its public home.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use clap::builder::PossibleValuesParser;
use equipoise_lab::{DATASETS, Dataset, FetchSettings, HttpsProxy};
use serde::Serialize;

use crate::output::{Answer, Output};
use crate::progress::Bar;

/// Fetch datasets from their public home, and check them
///
/// Downloads over https only, and keeps a file only if its sha256 is the one that the program knows; else
/// nothing is left behind. A file that is already there is checked instead, and another one in its place
/// is never overwritten without --force. The proxy that HTTPS_PROXY names is used, save for the hosts in
/// NO_PROXY; HTTP_PROXY and ALL_PROXY are not looked at.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise data fetch law-school dutch --to data
  equipoise data fetch law-school --url https://mirror.example.org/law.csv --ca-file mirror.pem")]
pub(crate) struct FetchArgs {
    /// Which datasets
    #[arg(value_name = "NAME", required = true, value_parser = names())]
    names: Vec<String>,
    /// Folder for the files; made if it is not there
    #[arg(long, value_name = "DIR", default_value = "data")]
    to: PathBuf,
    /// Fetch from here instead of the home; https only, and for one dataset at a time
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Certificates to trust, in PEM form, instead of those that browsers trust
    #[arg(long, value_name = "PEM")]
    ca_file: Option<PathBuf>,
    /// Replace a file that is there and is another one
    #[arg(long)]
    force: bool,
}

/// What stands for every name.
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
    let wanted = |dataset: &&Dataset| args.names.iter().any(|n| n == dataset.name || n == ALL);
    let datasets: Vec<&Dataset> = DATASETS.iter().filter(wanted).collect();
    if args.url.is_some() && datasets.len() != 1 {
        bail!("--url is the address of one file: name one dataset with it");
    }
    let settings = FetchSettings {
        url: args.url.clone(),
        force: args.force,
        ca_file: args.ca_file.clone(),
        proxy: HttpsProxy::from_environment()?,
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
    output.result(&document, || document.files.iter().map(Entry::in_words).collect())?;
    Ok(Answer::Done)
}

impl Entry {
    fn in_words(&self) -> String {
        let happened = if self.downloaded {
            "downloaded"
        } else {
            "was already there, nothing was downloaded"
        };
        let (file, bytes) = (self.file.display(), self.bytes);
        format!("{file}: {happened}; {bytes} bytes, sha256 as expected\n")
    }
}

fn names() -> PossibleValuesParser {
    DATASETS.iter().map(|dataset| dataset.name).chain([ALL]).collect::<Vec<_>>().into()
}
