//! What must not happen to the user's files.

use std::path::Path;

use anyhow::bail;

/// Refuses an output that is one of the inputs: `--force` replaces results, never what they come from.
pub(crate) fn refuse_input_as_output(output: &Path, inputs: &[&Path]) -> anyhow::Result<()> {
    let Ok(whole) = output.canonicalize() else { return Ok(()) };
    for input in inputs {
        if input.canonicalize().is_ok_and(|input| input == whole) {
            bail!(
                "{}: is an input of this command; choose another place to write to",
                output.display()
            );
        }
    }
    Ok(())
}
