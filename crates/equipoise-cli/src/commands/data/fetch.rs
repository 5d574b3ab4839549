//! `equipoise data fetch`: downloads datasets.

use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;
use clap::builder::PossibleValuesParser;
use equipoise_lab::{DATASETS, Dataset, FetchSettings, Fetched};
use serde_json::json;

use crate::output::{Answer, Output};
use crate::progress::Bar;

/// Download datasets and verify them
///
/// Downloads over HTTPS only, and keeps a file only if it has the expected SHA-256 digest. A file that already
/// exists is checked instead of downloaded, and a different file of that name is replaced only with --force. The
/// HTTP proxy is taken from ALL_PROXY, HTTPS_PROXY or HTTP_PROXY, except for the hosts in NO_PROXY.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise data fetch law-school dutch --to data
  equipoise data fetch law-school --ca-file mirror.pem \\
      --url https://mirror.example.org/law.csv")]
pub(crate) struct FetchArgs {
    /// Datasets to download
    #[arg(value_name = "NAME", required = true, value_parser = names())]
    names: Vec<String>,
    /// Folder for the files; created if it does not exist
    #[arg(long, value_name = "DIR", default_value = "data")]
    to: PathBuf,
    /// HTTPS URL to download from instead; for one dataset only
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Certificates to trust, in PEM format, instead of the usual web certificate authorities
    #[arg(long, value_name = "PEM")]
    ca_file: Option<PathBuf>,
    /// Replace a different file of the same name
    #[arg(long)]
    force: bool,
}

/// Selects every dataset.
const ALL: &str = "all";

pub(crate) fn run(args: &FetchArgs, output: &Output) -> anyhow::Result<Answer> {
    let requested = |dataset: &&Dataset| args.names.iter().any(|n| n == dataset.name || n == ALL);
    let datasets: Vec<&Dataset> = DATASETS.iter().filter(requested).collect();
    ensure!(
        args.url.is_none() || datasets.len() == 1,
        "--url is the URL of one file; name exactly one dataset"
    );
    let settings = FetchSettings {
        url: args.url.clone(),
        force: args.force,
        ca_file: args.ca_file.clone(),
        ..FetchSettings::default()
    };
    let (mut files, mut text) = (Vec::new(), String::new());
    for dataset in datasets {
        let mut bar = Bar::of_bytes(output);
        let Fetched { file, bytes, downloaded } =
            dataset.fetch(&args.to, &settings, &mut |done, of| {
                bar.show(done as usize, of.unwrap_or(done) as usize, || dataset.name.to_owned());
            })?;
        let action = if downloaded { "downloaded" } else { "already there, not downloaded" };
        text += &format!("{}: {action}; {bytes} bytes, SHA-256 as expected\n", file.display());
        files.push(json!({
            "name": dataset.name,
            "file": file,
            "sha256": dataset.sha256,
            "bytes": bytes,
            "downloaded": downloaded,
        }));
    }
    output.result(&json!({ "files": files }), || text)
}

fn names() -> PossibleValuesParser {
    DATASETS.iter().map(|dataset| dataset.name).chain([ALL]).collect::<Vec<_>>().into()
}
