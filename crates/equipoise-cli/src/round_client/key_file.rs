//! Keys in files.

use std::path::Path;

use anyhow::Context;
use equipoise_server::protocol::{PrivateKey, PublicKey};

/// Reads a private key; warns of nothing, but refuses one that others can read.
pub(crate) fn read_private_key(path: &Path) -> anyhow::Result<PrivateKey> {
    use std::os::unix::fs::PermissionsExt as _;
    let place = || path.display().to_string();
    let mode = std::fs::metadata(path).with_context(place)?.permissions().mode();
    anyhow::ensure!(
        mode & 0o077 == 0,
        "{}: others can read this private key. Forbid it with: chmod 600 {}",
        path.display(),
        crate::shell::quoted(&place())
    );
    let line = std::fs::read_to_string(path).with_context(place)?;
    PrivateKey::from_line(&line).with_context(place)
}

/// Reads a public key.
pub(crate) fn read_public_key(path: &Path) -> anyhow::Result<PublicKey> {
    let place = || path.display().to_string();
    std::fs::read_to_string(path).with_context(place)?.trim().parse().with_context(place)
}
