//! Why a scenario could not be built.

/// An error of the maths or of the files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The maths refused.
    #[error(transparent)]
    Core(#[from] equipoise_core::Error),
    /// A file could not be read or written.
    #[error(transparent)]
    Data(#[from] equipoise_data::Error),
    /// A folder could not be made.
    #[error("cannot make the folder {folder}")]
    Folder {
        /// The folder.
        folder: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Settings that no scenario can have.
    #[error("{name} must be {range}, found {found}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// What it must be.
        range: &'static str,
        /// The value found.
        found: f64,
    },
}
