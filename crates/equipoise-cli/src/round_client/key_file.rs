//! Reads key files.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context, bail};
use equipoise_server::protocol::{PrivateKey, PublicKey};

use crate::files::read_text;

/// Reads a private key. Refuses a file that other users can read.
pub(crate) fn read_private_key(path: &Path) -> anyhow::Result<PrivateKey> {
    let name = path.display().to_string();
    let text = read_text(path)?;
    if text.trim().parse::<PublicKey>().is_ok() {
        bail!(
            "{name}: this is the public half of a key, and only the private half can sign. Use {}, which `keygen` wrote with it",
            path.with_extension("key").display()
        );
    }
    let key = PrivateKey::from_line(&text).with_context(|| name.clone())?;
    let mode = path.metadata().with_context(|| name.clone())?.permissions().mode();
    anyhow::ensure!(
        mode & 0o077 == 0,
        "{name}: other users can read this private key. Restrict it with: chmod 600 {}",
        crate::shell::quoted(&name)
    );
    Ok(key)
}

pub(crate) fn read_public_key(path: &Path) -> anyhow::Result<PublicKey> {
    read_text(path)?.trim().parse().with_context(|| path.display().to_string())
}
