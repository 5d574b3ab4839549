//! Helpers for the user's files: errors name the file, and a result never overwrites its input.

use std::path::Path;

use anyhow::{Context, ensure};
use equipoise_data::check_output;

pub(crate) fn read_text(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("{}: cannot be read", path.display()))
}

/// Refuses an output that exists, for commands without `--force`.
pub(crate) fn refuse_existing(output: &Path) -> anyhow::Result<()> {
    ensure!(
        !output.exists(),
        "{} already exists. Move it away, or choose another name.",
        output.display()
    );
    Ok(check_output(output, false)?)
}

/// Refuses an output that is also an input: `--force` replaces results, never inputs.
pub(crate) fn refuse_input_as_output(output: &Path, inputs: &[&Path]) -> anyhow::Result<()> {
    let Ok(target) = output.canonicalize() else { return Ok(()) };
    let is_input = inputs.iter().any(|input| input.canonicalize().is_ok_and(|path| path == target));
    ensure!(!is_input, "{} is an input of this command. Choose another output.", output.display());
    Ok(())
}
