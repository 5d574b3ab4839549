//! Places where a test can have the process killed, as by `kill -9`.
//!
//! The hidden option `serve --crash-at NAME` names one; without it each place costs one comparison. The
//! names follow the crash table: `mid_body`, `after_part_sync`, `during_validation`, `after_rename`,
//! `after_folder_sync`, `before_commit`, `after_commit`, `in_close`, `mid_solve`, `after_artefacts`; `in_validator`
//! kills the process that reads a file instead of the server. `before_commit` stands in every transaction; `NAME:3` means the third time.

use std::sync::atomic::{AtomicU64, Ordering};

/// Where to crash; nowhere by default.
#[derive(Debug, Default)]
pub struct Crash {
    name: Option<String>,
    left: AtomicU64,
}

impl Crash {
    /// Crash at a place, `NAME` or `NAME:COUNT`.
    pub fn when(text: &str) -> Self {
        let (name, count) = match text.split_once(':') {
            Some((name, count)) => (name, count.parse().unwrap_or(1)),
            None => (text, 1),
        };
        Self { name: Some(name.to_owned()), left: AtomicU64::new(count) }
    }

    /// Ends the process here, if this is the place and its time has come.
    pub fn at(&self, place: &str) {
        if self.name.as_deref() != Some(place) {
            return;
        }
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            let _ = rustix::process::kill_process(
                rustix::process::getpid(),
                rustix::process::Signal::KILL,
            );
        }
    }
}
