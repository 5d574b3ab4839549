//! Limits on memory, CPU time, output, descriptors and processes.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setpriority_process, setrlimit};

use crate::validator::budget::Budget;

/// Sets the limits, which cannot be raised again.
pub(super) fn set(budget: &Budget) -> io::Result<()> {
    for (resource, limit) in [
        (Resource::As, budget.memory_bytes),
        (Resource::Cpu, budget.cpu_seconds),
        (Resource::Fsize, budget.output_bytes),
        // A crashed child leaves no core dump.
        (Resource::Core, 0),
        // All files are open. This alone prevents opening others, and sockets.
        (Resource::Nofile, 0),
        // No threads either. Root is exempt from this one.
        (Resource::Nproc, 0),
    ] {
        let limit = getrlimit(resource).maximum.map_or(limit, |allowed| limit.min(allowed));
        setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
    }
    setpriority_process(None, budget.niceness)?;
    Ok(())
}
