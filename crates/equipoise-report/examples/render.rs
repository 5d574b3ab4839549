//! Renders the report of an outcome folder again, to look at a change of the page: `render <folder> <report.html>`.
#![allow(clippy::print_stderr)]

use std::path::Path;
use std::process::ExitCode;

use equipoise_data::{Error, Model, outcome};
use equipoise_report::OutcomePage;

fn main() -> ExitCode {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [folder, page] = &paths[..] else { return ExitCode::from(2) };
    match render(Path::new(folder)).map(|html| std::fs::write(page, html)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => fail(&error),
        Err(error) => fail(&error),
    }
}

fn render(folder: &Path) -> Result<String, Error> {
    let outcome = outcome::read(&folder.join("outcome.json"))?;
    let model = Model::read(&folder.join("model.json"))?;
    Ok(OutcomePage::new(&outcome, model.schema())?.render())
}

fn fail(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("{error}");
    ExitCode::FAILURE
}
