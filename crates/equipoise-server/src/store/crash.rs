//! Crash points, where a test can kill the process as `kill -9` would.
//!
//! The hidden option `serve --crash-at NAME` selects one. The names are `mid_body`, `after_part_sync`, `during_validation`, `after_rename`,
//! `after_folder_sync`, `before_commit`, `after_commit`, `in_close`, `mid_solve`, `after_artefacts` and
//! `in_validator`, which kills the validator's process instead of the server. `before_commit` is in every
//! transaction. `NAME:3` means the third time.

use std::sync::atomic::{AtomicU64, Ordering};

/// A crash point; none by default.
#[derive(Debug, Default)]
pub struct Crash {
    name: Option<String>,
    left: AtomicU64,
}

impl Crash {
    /// Parses a crash point, `NAME` or `NAME:COUNT`.
    pub fn parse(text: &str) -> Self {
        let (name, count) = match text.split_once(':') {
            Some((name, count)) => (name, count.parse().unwrap_or(1)),
            None => (text, 1),
        };
        Self { name: Some(name.to_owned()), left: AtomicU64::new(count) }
    }

    /// Kills the process if this is the selected crash point.
    pub fn at(&self, point: &str) {
        if self.name.as_deref() == Some(point) && self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            let _ = rustix::process::kill_process(
                rustix::process::getpid(),
                rustix::process::Signal::KILL,
            );
        }
    }
}
