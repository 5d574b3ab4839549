//! Validates a small table in a child at startup. A server that could not validate anything does not start, and the log
//! says how the child is restricted.

use std::path::Path;

use equipoise_data::Staged;

use super::budget::Budget;
use super::child::{ChildJob, SelfTest};
use super::parent::command;
use super::queue::Lane;
use super::{Restriction, Verdict};
use crate::protocol::SubmissionLimits;

const SCHEMA: &str = "version = 1\nintercept = true\n[label]\ncolumn = \"y\"\npositive = \"1\"\n\
    [sensitive]\ncolumn = \"s\"\nprivileged = \"1\"\n\
    [[feature]]\ncolumn = \"x\"\nkind = \"numeric\"\ncenter = 0.0\nscale = 1.0\n";
const TABLE: &str = "x,s,y\n0.5,1,1\n-0.5,0,-1\n";
/// The option of the subcommand.
const OPTION: &str = "--self-test";

/// The restrictions of a child, or why it cannot validate a file.
pub(super) fn self_test(program: &Path, arguments: &[String]) -> Result<Vec<Restriction>, String> {
    let output = run(program, arguments).map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("its process ended with {}", output.status));
    }
    let test: SelfTest = serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
    match test.verdict {
        Verdict::Valid(_) => Ok(test.restrictions),
        other => Err(format!("it did not accept a valid table: {other:?}")),
    }
}

fn run(program: &Path, arguments: &[String]) -> std::io::Result<std::process::Output> {
    let folder = Staged::create(tempfile::tempdir)?;
    let [file, canonical] = ["table.csv", "canonical.parquet"].map(|name| folder.path().join(name));
    std::fs::write(&file, TABLE)?;
    let limits = SubmissionLimits::default();
    let budget = Budget::new(Lane::Small, &limits, TABLE.len() as u64);
    let job = ChildJob { file, canonical, schema: SCHEMA.to_owned(), limits, budget };
    let mut child = command(program, arguments).arg(OPTION).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        serde_json::to_writer(&mut stdin, &job)?;
    }
    child.wait_with_output()
}
