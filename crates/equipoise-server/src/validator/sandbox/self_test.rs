//! Tries what a sandboxed process must not be able to do, because a kernel or a container runtime may accept a
//! restriction and not enforce it.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::path::Path;
use std::process::Command;

use super::Restriction;

/// Attempts each operation from within the sandbox. `readable` is a file that this process could open before.
pub(in crate::validator) fn attempt_forbidden_operations(readable: &Path) -> Vec<Restriction> {
    vec![
        denied("cannot_open_files", File::open(readable)),
        denied("cannot_connect", TcpStream::connect((Ipv4Addr::LOCALHOST, 1))),
        denied("cannot_create_sockets", UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))),
        // Nothing is executed even if a process can be created.
        denied("cannot_create_processes", Command::new("/nonexistent").spawn()),
    ]
}

fn denied<T>(name: &str, result: io::Result<T>) -> Restriction {
    let outcome = match result {
        Ok(_) => Err("it is possible".to_owned()),
        Err(error) if is_denied(&error) => Ok(()),
        Err(error) => Err(format!("it is possible: {error}")),
    };
    Restriction::new(name, outcome)
}

/// Whether the sandbox, and not the operation itself, gave this error.
fn is_denied(error: &io::Error) -> bool {
    use rustix::io::Errno;
    // Descriptors and processes are also limited in number.
    let by_limit = [Errno::MFILE, Errno::AGAIN].map(Errno::raw_os_error);
    error.kind() == io::ErrorKind::PermissionDenied
        || error.raw_os_error().is_some_and(|code| by_limit.contains(&code))
}
