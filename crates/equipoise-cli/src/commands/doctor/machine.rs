//! The processor and the disk.

use std::path::PathBuf;

use equipoise_core::vector_instructions;
use serde::Serialize;

use crate::formatting::bytes;

/// The processor, and what is used of it.
#[derive(Debug, Serialize)]
pub(super) struct Processor {
    /// Its name, if the system tells.
    pub(super) name: Option<String>,
    /// Cores that this process may use.
    pub(super) cores: usize,
    /// Threads that a solve uses.
    pub(super) threads: usize,
    /// The vector instructions in use.
    pub(super) vector_instructions: &'static str,
}

impl Processor {
    pub(super) fn find() -> Self {
        let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let name = text.lines().find_map(|line| line.strip_prefix("model name"));
        Self {
            name: name.map(|name| name.trim_matches([' ', '\t', ':']).to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            threads: rayon::current_num_threads(),
            vector_instructions: vector_instructions(),
        }
    }
}

/// A folder to write to, and the room there.
#[derive(Debug, Serialize)]
pub(super) struct Disk {
    pub(super) path: PathBuf,
    /// Bytes that this user may still write.
    pub(super) free_bytes: Option<u64>,
    /// Why no file can be written.
    pub(super) error: Option<String>,
}

impl Disk {
    pub(super) fn of(path: PathBuf) -> Self {
        let found = rustix::fs::statvfs(&path).ok();
        let free_bytes = found.map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
        let error = tempfile::tempfile_in(&path).err().map(|error| error.to_string());
        Self { path, free_bytes, error }
    }

    pub(super) fn describe(&self) -> String {
        let free = self.free_bytes.map_or_else(|| "unknown".to_owned(), bytes);
        format!("{free} free in {}", self.path.display())
    }
}
