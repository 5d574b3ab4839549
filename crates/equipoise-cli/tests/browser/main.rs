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
