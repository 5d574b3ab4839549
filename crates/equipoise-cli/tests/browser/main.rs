//! The pages of the real binary in a real browser, and tests of the page checker itself.
//!
//! Without Chromium, these tests print a notice and pass. `--nocapture` shows what was checked.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod broken_pages;
mod chromium;
mod client;
mod devtools;
mod page_check;
mod reports;
mod round_server;
mod rounds;
mod states;
mod tab;

use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitStatus};

use chromium::Browser;

/// Launches the browser, or prints a notice if it is not installed.
fn launch() -> Option<Browser> {
    let browser = Browser::launch();
    if browser.is_none() {
        // Written to stderr directly, because the harness hides the output of tests that pass.
        let _ = writeln!(std::io::stderr(), "SKIPPED: browser tests need Chromium");
    }
    browser
}

/// Runs the real binary inside a folder and returns how it ended.
fn run(folder: &Path, arguments: &str) -> ExitStatus {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise"));
    command.args(arguments.split_whitespace()).current_dir(folder).output().unwrap().status
}

/// Runs the real binary inside a folder. It must succeed.
fn equipoise(folder: &Path, arguments: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_equipoise"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
}
