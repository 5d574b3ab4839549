//! How much memory there is, and what limits it.

use rustix::process::{Resource, getrlimit};
use serde::Serialize;

use super::cgroup;
use crate::formatting::bytes;

/// With less than this, not even a small round can be solved.
const LEAST_BYTES: u64 = 128 << 20;

/// Memory and its limits, in bytes; `None` if unknown or unlimited.
#[derive(Debug, Serialize)]
pub(super) struct Memory {
    /// What the machine has.
    pub(super) physical_bytes: Option<u64>,
    /// What is free, or can be freed.
    pub(super) available_bytes: Option<u64>,
    /// The limit of the control group, as containers and systemd set it.
    pub(super) cgroup_limit_bytes: Option<u64>,
    /// `ulimit -v`.
    pub(super) address_space_limit_bytes: Option<u64>,
    /// `ulimit -d`.
    pub(super) data_limit_bytes: Option<u64>,
}

impl Memory {
    pub(super) fn find() -> Self {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        Self {
            physical_bytes: field(&text, "MemTotal:"),
            available_bytes: field(&text, "MemAvailable:"),
            cgroup_limit_bytes: cgroup::memory_limit(),
            address_space_limit_bytes: getrlimit(Resource::As).current,
            data_limit_bytes: getrlimit(Resource::Data).current,
        }
    }

    /// The smallest limit that a process meets.
    fn smallest(&self) -> Option<u64> {
        let limits = [
            self.physical_bytes,
            self.cgroup_limit_bytes,
            self.address_space_limit_bytes,
            self.data_limit_bytes,
        ];
        limits.into_iter().flatten().min()
    }

    /// Why there is too little of it.
    pub(super) fn problem(&self) -> Option<String> {
        let smallest = self.smallest().filter(|&limit| limit < LEAST_BYTES)?;
        Some(format!(
            "memory is limited to {}, and the program needs about {}. Raise the limit: `ulimit -v`, `ulimit -d`, or that \
             of the container.",
            bytes(smallest),
            bytes(LEAST_BYTES)
        ))
    }

    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let known = |value: Option<u64>| value.map_or_else(|| "unknown".to_owned(), bytes);
        let limit = |value: Option<u64>| value.map_or_else(|| "none".to_owned(), bytes);
        vec![
            (
                "memory",
                format!(
                    "{}, of which {} are available",
                    known(self.physical_bytes),
                    known(self.available_bytes)
                ),
            ),
            (
                "memory limits",
                format!(
                    "container {}, ulimit -v {}, ulimit -d {} (--memory sets one for a solve)",
                    limit(self.cgroup_limit_bytes),
                    limit(self.address_space_limit_bytes),
                    limit(self.data_limit_bytes)
                ),
            ),
        ]
    }
}

/// A field of /proc/meminfo, which is in KiB.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_fields_of_meminfo() {
        let text = "MemTotal:       24554288 kB\nMemFree:  1 kB\nHugePages_Total:       0\n";
        assert_eq!(field(text, "MemTotal:"), Some(24_554_288 * 1024));
        assert_eq!(field(text, "MemAvailable:"), None);
        assert_eq!(field(text, "HugePages_Total:"), None);
    }

    #[test]
    fn only_a_limit_that_is_too_small_is_a_problem() {
        let memory = |limit| Memory {
            physical_bytes: Some(16 << 30),
            available_bytes: None,
            cgroup_limit_bytes: limit,
            address_space_limit_bytes: None,
            data_limit_bytes: None,
        };
        assert_eq!(memory(None).problem(), None);
        assert_eq!(memory(Some(1 << 30)).problem(), None);
        let text = memory(Some(64 << 20)).problem().unwrap_or_default();
        assert!(text.contains("64 MiB") && text.contains("Raise the limit"), "{text}");
    }
}
