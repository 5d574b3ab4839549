//! Renders two pages of made-up figures: `sample <outcome.html> <blocks.html>`.

#[path = "../tests/sample_pages/mod.rs"]
mod sample_pages;

use std::process::ExitCode;

fn main() -> ExitCode {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [outcome, blocks] = &paths[..] else { return ExitCode::from(2) };
    let made_up = sample_pages::outcome(6, "bank");
    let schema = sample_pages::schema(&sample_pages::TWO, "pass_bar");
    let page = sample_pages::report(&made_up, &schema, &["bank 3", "bank 6"]).render();
    let written = std::fs::write(outcome, page)
        .and_then(|()| std::fs::write(blocks, sample_pages::every_block("bank").render()));
    if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
