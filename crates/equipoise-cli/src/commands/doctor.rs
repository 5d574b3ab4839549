//! `equipoise doctor`: what the program finds on this machine, and whether it can work here.

mod cgroup;
mod machine;
mod memory;

use std::path::PathBuf;

use clap::Args;
use equipoise_server::validator::{ChildValidator, Restriction, Validator};
use serde::Serialize;

use crate::commands::validate_proxy;
use crate::formatting::table;
use crate::invocation;
use crate::output::{Answer, Output};
use machine::{Disk, Processor};
use memory::Memory;

/// Show what the program finds on this machine: processor, memory, disk, sandbox, folders
///
/// Include the output when you report a problem. Exit code 1 means that something here would stop the program from
/// working, and the output says what to do about it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise doctor
  equipoise doctor --json")]
pub(crate) struct DoctorArgs {}

#[derive(Serialize)]
struct Document {
    version: &'static str,
    system: String,
    processor: Processor,
    memory: Memory,
    temporary_folder: Disk,
    sandbox: Sandbox,
    folders: Vec<Folder>,
    /// What would stop the program from working, and what to do.
    problems: Vec<String>,
}

/// How the server would restrict the process that reads clients' files.
#[derive(Serialize)]
struct Sandbox {
    restrictions: Vec<Restriction>,
    /// Why the process cannot validate a file.
    error: Option<String>,
}

/// Where something is kept, unless an option says otherwise.
#[derive(Serialize)]
struct Folder {
    what: &'static str,
    path: PathBuf,
    option: &'static str,
}

pub(crate) fn run(_: &DoctorArgs, output: &Output) -> anyhow::Result<Answer> {
    let document = Document::examine();
    output.result(&document, || document.describe())?;
    Ok(Answer::holds(document.problems.is_empty()))
}

impl Document {
    fn examine() -> Self {
        let mut document = Self {
            version: env!("CARGO_PKG_VERSION"),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            processor: Processor::find(),
            memory: Memory::find(),
            temporary_folder: Disk::of(std::env::temp_dir()),
            sandbox: Sandbox::test(),
            folders: folders(),
            problems: Vec::new(),
        };
        document.problems = document.find_problems();
        document
    }

    fn find_problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let Disk { path, error, .. } = &self.temporary_folder;
        if let Some(error) = error {
            problems.push(format!(
                "temporary files cannot be written to {}: {error}. Set TMPDIR to a folder that you can write to.",
                path.display()
            ));
        }
        problems.extend(self.memory.problem());
        if let Some(error) = &self.sandbox.error {
            problems.push(format!(
                "`serve` cannot start, because the process that checks clients' files does not work: {error}. It needs \
                 to start this program again and to write to the temporary folder. All other commands work."
            ));
        }
        problems
    }

    fn describe(&self) -> String {
        let line = |name: &str, value: String| vec![name.to_owned(), value];
        let Processor { name, cores, threads, vector_instructions, .. } = &self.processor;
        let mut rows = vec![
            line("version", format!("equipoise {} for {}", self.version, self.system)),
            line("processor", name.clone().unwrap_or_else(|| "unknown".to_owned())),
            line("vector instructions", describe_instructions(vector_instructions)),
            line("cores", format!("{cores} usable, {threads} threads (--threads)")),
        ];
        rows.extend(self.memory.lines().into_iter().map(|(name, value)| line(name, value)));
        rows.push(line("temporary files", self.temporary_folder.describe()));
        rows.extend(self.sandbox.lines().into_iter().map(|(name, value)| line(name, value)));
        for Folder { what, path, option } in &self.folders {
            rows.push(line(what, format!("{} ({option})", path.display())));
        }
        let end = match &self.problems[..] {
            [] => "everything works\n".to_owned(),
            problems => problems.iter().map(|problem| format!("PROBLEM: {problem}\n")).collect(),
        };
        format!("{}\n{end}", table(&[], rows, &[]))
    }
}

fn describe_instructions(used: &str) -> String {
    match used {
        "none" => "none: solves take several times as long, with the same result".to_owned(),
        used => format!("{used} in use"),
    }
}

impl Sandbox {
    /// Validates a small table in a child, as a server does at startup.
    fn test() -> Self {
        let tested = match invocation::program() {
            Ok((program, mut arguments)) => {
                arguments.push(validate_proxy::NAME.to_owned());
                ChildValidator::new(program, arguments, 0).self_test()
            }
            Err(error) => Err(error.to_string()),
        };
        match tested {
            Ok(restrictions) => Self { restrictions, error: None },
            Err(error) => Self { restrictions: Vec::new(), error: Some(error) },
        }
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        if let Some(error) = &self.error {
            return vec![("sandbox of `serve`", format!("does not work: {error}"))];
        }
        let (active, missing): (Vec<_>, Vec<_>) =
            self.restrictions.iter().partition(|restriction| restriction.missing.is_none());
        let names: Vec<&str> = active.iter().map(|restriction| restriction.name.as_str()).collect();
        let mut lines = vec![("sandbox of `serve`", names.join(", "))];
        for Restriction { name, missing } in missing {
            let why = missing.clone().unwrap_or_default();
            lines.push(("", format!("MISSING {name}: {why}")));
        }
        lines
    }
}

/// Where data and keys are kept by default.
fn folders() -> Vec<Folder> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let folder = |what, path: &str, option| Folder { what, path: here.join(path), option };
    vec![
        folder("keys", "NAME.key and NAME.pub", "keygen -o"),
        folder("receipts", "ROUND-NAME.receipt.json", "submit --receipt"),
        folder("coordinator's token", "ROUND.token", "round new --token-file"),
        folder("rounds and server key", "DIR, which has no default", "serve --data"),
        folder("example round", "equipoise-dev", "serve --dev --data"),
        folder("datasets", "data", "data fetch --to"),
        folder("demo", "equipoise-demo", "demo -o"),
    ]
}
