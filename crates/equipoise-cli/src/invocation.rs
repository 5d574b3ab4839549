//! How this program was started, and how to start it again.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use anyhow::Context;

/// A run of the program.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The arguments, without the program's name.
    pub arguments: Vec<OsString>,
    /// The executable that starts the program again. `None`: this process's own.
    pub executable: Option<PathBuf>,
    /// Arguments that the executable needs before those of the program, such as a script.
    pub prefix: Vec<String>,
}

static CURRENT: OnceLock<Invocation> = OnceLock::new();

impl Invocation {
    /// The command line of this process, whose executable is the program.
    pub fn of_this_binary() -> Self {
        let arguments = std::env::args_os().skip(1).collect();
        Self { arguments, executable: None, prefix: Vec::new() }
    }

    /// The program's name and its arguments.
    pub(crate) fn command_line(&self) -> impl Iterator<Item = OsString> {
        [OsString::from("equipoise")].into_iter().chain(self.arguments.iter().cloned())
    }
}

pub(crate) fn set(invocation: Invocation) {
    // A process is the program once.
    let _ = CURRENT.set(invocation);
}

/// As [`command_line`], if this process was started as the program.
pub(crate) fn given() -> Option<impl Iterator<Item = OsString>> {
    CURRENT.get().map(Invocation::command_line)
}

/// The program's name and the arguments that it was started with.
pub(crate) fn command_line() -> impl Iterator<Item = OsString> {
    CURRENT.get_or_init(Invocation::of_this_binary).command_line()
}

/// The executable that starts this program again, and the arguments that it needs first.
pub(crate) fn program() -> anyhow::Result<(PathBuf, Vec<String>)> {
    let Invocation { executable, prefix, .. } = CURRENT.get_or_init(Invocation::of_this_binary);
    let executable = match executable {
        Some(executable) => executable.clone(),
        None => std::env::current_exe().context("cannot locate this executable")?,
    };
    Ok((executable, prefix.clone()))
}
