//! What the verifier trusts.

use std::path::PathBuf;

use clap::Args;
use equipoise_server::verification::Trusted;

use crate::round_client::{read_public_key, read_receipt};

/// Keys and files that did not come with the published files.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// The server's public key, as received from the coordinator
    ///
    /// Without it, nothing is verified. A receipt does not replace it, because anyone can write a receipt and sign it
    /// with a key of their own.
    #[arg(long, value_name = "FILE")]
    server_key: Option<PathBuf>,
    /// A receipt that the log must contain; may be repeated
    #[arg(long, value_name = "FILE")]
    receipt: Vec<PathBuf>,
    /// A file that you submitted: checks that the solver read exactly its rows; may be repeated
    #[arg(long, value_name = "FILE")]
    submitted: Vec<PathBuf>,
}

impl TrustArgs {
    pub(crate) fn read(&self) -> anyhow::Result<Trusted> {
        let server_key = self.server_key.as_deref().map(read_public_key).transpose()?;
        let receipts = self.receipt.iter().map(|path| Ok(read_receipt(path)?.into_signed()));
        let receipts = receipts.collect::<anyhow::Result<_>>()?;
        Ok(Trusted { round: None, server_key, receipts, submitted: self.submitted.clone() })
    }
}
