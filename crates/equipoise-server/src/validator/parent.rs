//! What the server does with a validator.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::sync::Semaphore;

use super::child::is_table;
use super::{Job, Pending, Validator, Verdict, check_file};

/// Children that run at once; the others wait.
const AT_ONCE: usize = 2;
/// The longest that a child may take, asleep or not.
const WALL_CLOCK: Duration = Duration::from_secs(120);
/// The longest verdict.
const LONGEST_VERDICT: u64 = 64 << 10;

/// Runs a child for each file: this program with a hidden subcommand.
#[derive(Debug, Clone)]
pub struct ChildValidator {
    program: PathBuf,
    /// Words before the file's name.
    arguments: Vec<String>,
    places: Arc<Semaphore>,
}

impl ChildValidator {
    /// Children of this program, started with these words.
    pub fn new(program: PathBuf, arguments: Vec<String>) -> Self {
        Self { program, arguments, places: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl Validator for ChildValidator {
    fn validate(&self, job: Job) -> Pending {
        let this = self.clone();
        Box::pin(async move {
            let storage = |message: String| Verdict::Storage { message };
            // The semaphore is never closed.
            let _place = this.places.acquire().await;
            match tokio::time::timeout(WALL_CLOCK, this.run(&job)).await {
                Ok(Ok(verdict)) => verdict,
                Ok(Err(error)) => storage(format!("the validator could not be run: {error}")),
                Err(_) => Verdict::File {
                    message: format!(
                        "the file could not be read in {} seconds",
                        WALL_CLOCK.as_secs()
                    ),
                },
            }
        })
    }
}

impl ChildValidator {
    async fn run(&self, job: &Job) -> std::io::Result<Verdict> {
        debug_assert!(is_table(&job.file) && is_table(&job.canonical));
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
        let mut said = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            stdout.take(LONGEST_VERDICT).read_to_end(&mut said).await?;
        }
        let status = child.wait().await?;
        if !status.success() {
            return Ok(Verdict::File {
                message:
                    "the file could not be read within the limits of memory and time, or broke \
                          the program that reads it"
                        .into(),
            });
        }
        Ok(serde_json::from_slice(&said)?)
    }
}

/// Judges files in this process: no limits, for tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct InProcess;

impl Validator for InProcess {
    fn validate(&self, job: Job) -> Pending {
        Box::pin(async move {
            let judged = tokio::task::spawn_blocking(move || check_file(&job)).await;
            judged.unwrap_or_else(|_| Verdict::File { message: "the reader panicked".into() })
        })
    }
}
