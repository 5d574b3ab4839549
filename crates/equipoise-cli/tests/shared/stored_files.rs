//! The promise of a receipt: the server holds the file.

use std::path::Path;

use equipoise_server::protocol::{Digest, SignedReceipt};

/// Checks that the file and the canonical table of a receipt are stored under their digests.
pub(crate) fn check_stored_files(data: &Path, signed: &SignedReceipt) -> Result<(), String> {
    let stored = |path: &Path, digest: Digest| match Digest::of_file(path) {
        Ok((_, found)) if found == digest => Ok(()),
        Ok((bytes, found)) => Err(format!(
            "receipt for {digest}, but the server holds {bytes} bytes with digest {found}"
        )),
        Err(error) => {
            Err(format!("receipt for {digest}, but the server does not hold it: {error}"))
        }
    };
    let sha256 = signed.receipt.sha256;
    stored(&data.join("sha256").join(sha256.to_string()), sha256)?;
    let table = signed.receipt.canonical_sha256;
    stored(&data.join("canonical").join(format!("{table}.parquet")), table)
}
