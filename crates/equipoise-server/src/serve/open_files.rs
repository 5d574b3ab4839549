//! The limit on open files. Connections must leave enough of them for uploads and the database.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tracing::warn;

use crate::config::Limits;

/// Connections for monitoring.
pub(super) const ADMIN_CONNECTIONS: usize = 64;
/// Files of a running upload: the part, the canonical table, and pipes to the validator.
const FILES_PER_UPLOAD: usize = 4;
/// The database, the log, the runtime, files being sent and connections being closed.
const OTHER_FILES: usize = 192;
/// Even with too few files, some connections are accepted.
const MIN_CONNECTIONS: usize = 16;

/// Raises the process's limit on open files as far as allowed, and returns how many connections fit into it.
pub(super) fn allowed_connections(limits: &Limits) -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    let files = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => maximum,
        Err(_) => current,
    };
    let files = files.map_or(usize::MAX, |files| files as usize);
    let fitting = fitting_connections(files, limits);
    if fitting < limits.connections {
        warn!(
            files,
            connections = fitting,
            "the limit on open files is too low for all connections: fewer are accepted. Raise it, for example with \
             LimitNOFILE in the systemd unit"
        );
    }
    fitting
}

fn fitting_connections(files: usize, limits: &Limits) -> usize {
    let reserved = FILES_PER_UPLOAD * limits.uploads_at_once + ADMIN_CONNECTIONS + OTHER_FILES;
    files.saturating_sub(reserved).max(MIN_CONNECTIONS).min(limits.connections)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_files_for_uploads() {
        let limits = Limits::default();
        assert_eq!(fitting_connections(16_384, &limits), 4096);
        assert_eq!(fitting_connections(1024, &limits), 512);
        assert_eq!(fitting_connections(64, &limits), MIN_CONNECTIONS);
    }
}
