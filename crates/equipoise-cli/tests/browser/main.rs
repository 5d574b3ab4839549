//! The pages that the real binary writes, in a real browser; and the checker, on pages that are broken.
//!
//! Where Chromium is not installed, these tests say so and pass. `--nocapture` shows what was checked.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod broken_pages;
mod chromium;
mod client;
mod devtools;
mod page_check;
mod reports;
mod rounds;
mod tab;

use std::io::Write;
use std::path::Path;
use std::process::Command;

use chromium::Browser;

/// A browser, or word that there is none.
fn launch() -> Option<Browser> {
    let browser = Browser::launch();
    if browser.is_none() {
        // Past the harness, which keeps what tests that pass print to itself.
        let _ =
            writeln!(std::io::stderr(), "SKIPPED: no browser test, for Chromium is not installed");
    }
    browser
}

/// Runs the real binary inside a folder.
fn equipoise(folder: &Path, arguments: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_equipoise"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
}
