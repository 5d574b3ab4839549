//! Reads and writes receipt files.

use std::path::{Path, PathBuf};

use anyhow::Context;
use equipoise_data::write_json;
use equipoise_server::protocol::SavedReceipt;

use crate::files::read_text;
use crate::output::Output;

/// Reads a receipt as `submit` wrote it.
pub(crate) fn read_receipt(path: &Path) -> anyhow::Result<SavedReceipt> {
    serde_json::from_str(&read_text(path)?)
        .with_context(|| format!("{} is not a receipt of this version", path.display()))
}

/// Writes a receipt, and returns the path and what was written. An earlier receipt of the same kind that says something
/// else is never overwritten, because the two together may prove that the server changed its log.
pub(crate) fn save_receipt(
    path: &Path,
    mut receipt: SavedReceipt,
    output: &Output,
) -> anyhow::Result<(PathBuf, SavedReceipt)> {
    let mut target = path.to_path_buf();
    let mut number = 1;
    while let Ok(earlier) = read_receipt(&target) {
        if earlier.receipt == receipt.receipt && earlier.server_key == receipt.server_key {
            receipt.server_key_pinned |= earlier.server_key_pinned;
            break;
        }
        number += 1;
        target = path.with_extension(format!("{number}.json"));
    }
    if target != path {
        output.warn(format!(
            "{} contains an earlier receipt that differs. Keep both files, and compare them with `equipoise audit --compare`",
            path.display()
        ));
    }
    write_json(&target, &receipt, true)?;
    Ok((target, receipt))
}
