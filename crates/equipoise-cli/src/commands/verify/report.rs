//! Prints the result of a verification.

use std::path::Path;

use equipoise_server::verification::{Check, CheckResult, Verification};
use serde::Serialize;

use crate::output::{Answer, Output};

#[derive(Serialize)]
struct Document<'a> {
    verified: bool,
    conclusion: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a Path>,
    #[serde(flatten)]
    verification: &'a Verification,
}

/// Prints every check, then what they prove. `path` is the folder with the files.
pub(crate) fn print_verification(
    verification: &Verification,
    path: Option<&Path>,
    output: &Output,
) -> anyhow::Result<Answer> {
    let (verified, conclusion) = (verification.is_verified(), verification.conclusion());
    let document = Document { verified, conclusion: &conclusion, path, verification };
    output.result(&document, || {
        let lines = verification.checks.iter().map(line);
        lines.chain([format!("{conclusion}\n")]).collect()
    })?;
    Ok(Answer::holds(verified))
}

fn line(Check { claim, result, detail }: &Check) -> String {
    let result = match result {
        CheckResult::Holds => "ok",
        CheckResult::Fails => "FAILED",
        CheckResult::Undecided => "UNDECIDED",
    };
    let detail = if detail.is_empty() { String::new() } else { format!(" ({detail})") };
    format!("{result}  {claim}{detail}\n")
}
