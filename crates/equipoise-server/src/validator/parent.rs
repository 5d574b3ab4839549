//! The server's side of validation: starts and supervises child processes.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::sync::Semaphore;

use super::{Job, Pending, Validator, Verdict, check_file};

/// Maximum number of concurrent children; further jobs wait.
const MAX_CHILDREN: usize = 2;
/// Wall-clock limit of a child.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Maximum size of a verdict.
const MAX_VERDICT_BYTES: u64 = 64 << 10;

/// Runs a child process for each file: this program with a hidden subcommand.
#[derive(Debug, Clone)]
pub struct ChildValidator {
    program: PathBuf,
    /// Arguments before the file name.
    arguments: Vec<String>,
    slots: Arc<Semaphore>,
}

impl ChildValidator {
    /// Runs this program with these arguments before the file name.
    pub fn new(program: PathBuf, arguments: Vec<String>) -> Self {
        Self { program, arguments, slots: Arc::new(Semaphore::new(MAX_CHILDREN)) }
    }
}

impl Validator for ChildValidator {
    fn validate(&self, job: Job) -> Pending {
        let this = self.clone();
        Box::pin(async move {
            // The semaphore is never closed.
            let _slot = this.slots.acquire().await;
            match tokio::time::timeout(TIMEOUT, this.run(&job)).await {
                Ok(Ok(verdict)) => verdict,
                Ok(Err(error)) => {
                    Verdict::Storage { message: format!("cannot run the validator: {error}") }
                }
                Err(_) => Verdict::File {
                    message: format!("reading the file took more than {} s", TIMEOUT.as_secs()),
                },
            }
        })
    }
}

impl ChildValidator {
    async fn run(&self, job: &Job) -> std::io::Result<Verdict> {
        let schema = tempfile::NamedTempFile::new()?;
        std::fs::write(schema.path(), job.schema.to_toml())?;
        let limits = serde_json::to_string(&job.limits)?;
        let mut child = tokio::process::Command::new(&self.program)
            .args(&self.arguments)
            .args([&job.file, &job.canonical, &schema.path().to_path_buf()])
            .arg(limits)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let mut output = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            stdout.take(MAX_VERDICT_BYTES).read_to_end(&mut output).await?;
        }
        let status = child.wait().await?;
        if !status.success() {
            return Ok(Verdict::File {
                message:
                    "reading the file exceeded the memory or time limit, or crashed the reader"
                        .into(),
            });
        }
        Ok(serde_json::from_slice(&output)?)
    }
}

/// Validates files in this process without limits, for tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct InProcess;

impl Validator for InProcess {
    fn validate(&self, job: Job) -> Pending {
        Box::pin(async move {
            let verdict = tokio::task::spawn_blocking(move || check_file(&job)).await;
            verdict.unwrap_or_else(|_| Verdict::File { message: "the reader panicked".into() })
        })
    }
}
