//! The sandbox of the validator's process. It opens its files first; from then on it can read those it opened, write the
//! one that it opened for writing, compute, and exit.
//!
//! Each file below is one restriction. A kernel that lacks one does not stop the server, unless `require_sandbox` is set:
//! the restrictions overlap, and the report says which are missing. All of them apply to the calling thread, so this runs
//! before any other thread exists.

#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(target_os = "linux")]
mod inherited_files;
#[cfg(target_os = "linux")]
mod landlock;
mod resource_limits;
#[cfg(target_os = "linux")]
mod seccomp;
mod self_test;

use std::fmt::Display;

use serde::{Deserialize, Serialize};

use super::budget::Budget;

pub(super) use self_test::attempt_forbidden_operations;

/// A restriction of the process that reads clients' files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restriction {
    /// Its name in the log.
    pub name: String,
    /// Why it is not active.
    pub missing: Option<String>,
}

impl Restriction {
    fn new<T, E: Display>(name: &str, result: Result<T, E>) -> Self {
        Self { name: name.to_owned(), missing: result.err().map(|error| error.to_string()) }
    }
}

/// Closes what the process inherited besides standard input, output and error. Call it before opening anything.
#[cfg(target_os = "linux")]
pub(super) fn close_inherited_files() -> Restriction {
    Restriction::new("inherited_files_closed", inherited_files::close())
}

/// Restricts the process for the rest of its life. An error means that a basic resource limit cannot be set.
#[cfg(target_os = "linux")]
pub(super) fn enter(budget: &Budget) -> std::io::Result<Vec<Restriction>> {
    let no_new_privs = rustix::thread::set_no_new_privs(true);
    let mut restrictions = vec![Restriction::new("no_new_privs", no_new_privs)];
    restrictions.extend(landlock::restrict());
    // Landlock needs a descriptor, and the limits allow no more of them.
    resource_limits::set(budget)?;
    restrictions.push(Restriction::new("resource_limits", Ok::<_, String>(())));
    restrictions.push(Restriction::new("no_capabilities", capabilities::drop_all()));
    // Last, because it forbids all of the above.
    restrictions.push(Restriction::new("seccomp", seccomp::restrict()));
    Ok(restrictions)
}

/// Only resource limits exist everywhere.
#[cfg(not(target_os = "linux"))]
pub(super) fn close_inherited_files() -> Restriction {
    not_linux("inherited_files_closed")
}

/// Only resource limits exist everywhere.
#[cfg(not(target_os = "linux"))]
pub(super) fn enter(budget: &Budget) -> std::io::Result<Vec<Restriction>> {
    resource_limits::set(budget)?;
    let names = ["no_new_privs", "landlock_files", "no_capabilities", "seccomp"];
    let mut restrictions = vec![Restriction::new("resource_limits", Ok::<_, String>(()))];
    restrictions.extend(names.map(not_linux));
    Ok(restrictions)
}

#[cfg(not(target_os = "linux"))]
fn not_linux(name: &str) -> Restriction {
    Restriction::new(name, Err::<(), _>("it needs Linux"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
