//! What the verifier trusts.

use std::path::PathBuf;

use clap::Args;
use equipoise_server::protocol::{PublicKey, SavedReceipt};
use equipoise_server::verification::Trusted;

use crate::round_client::{read_public_key, read_receipt};

/// Keys and files that did not come with the published files.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// The server's public key, as received from the coordinator
    ///
    /// Not needed with a receipt of `equipoise submit --server-key`, which remembers the key.
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
        let saved = self.receipt.iter().map(|path| read_receipt(path));
        let saved = saved.collect::<anyhow::Result<Vec<SavedReceipt>>>()?;
        let server_key = match &self.server_key {
            Some(path) => Some(read_public_key(path)?),
            // The client compared this key with its own copy when it submitted.
            None => saved.iter().find(|receipt| receipt.server_key_pinned).map(key_of),
        };
        let receipts = saved.into_iter().map(SavedReceipt::into_signed).collect();
        Ok(Trusted { round: None, server_key, receipts, submitted: self.submitted.clone() })
    }
}

fn key_of(receipt: &SavedReceipt) -> PublicKey {
    receipt.server_key.clone()
}
