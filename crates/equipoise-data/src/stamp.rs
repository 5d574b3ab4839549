//! Format and version of a JSON document.

use serde::Deserialize;

/// The part that every version of a document has. It is checked first, because another format or a newer version may
/// have unknown keys.
#[derive(Deserialize)]
pub(crate) struct Stamp {
    format: String,
    version: u32,
}

impl Stamp {
    /// `article` and `name` form "a model" in messages.
    pub(crate) fn check(
        &self,
        (article, name): (&str, &str),
        format: &str,
        version: u32,
    ) -> Result<(), String> {
        if self.format != format {
            return Err(format!(
                "has format `{}`, but {article} {name} has `{format}`. Give the path of {article} {name}.json.",
                self.format
            ));
        }
        if self.version != version {
            let found = self.version;
            let remedy = if found > version {
                "Use a newer version of this program."
            } else {
                "An older version of this program wrote it: make it again with this one."
            };
            return Err(format!(
                "{name} version {found} is not supported, only version {version}. {remedy}"
            ));
        }
        Ok(())
    }
}
