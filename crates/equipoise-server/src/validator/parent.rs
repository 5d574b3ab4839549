//! The server's side of validation: queues jobs, starts and supervises child processes.

use std::path::{Path, PathBuf, absolute};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use equipoise_data::TableKind;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use super::back_off::BackOff;
use super::budget::{Budget, estimated_seconds, lanes};
use super::child::ChildJob;
use super::scheduler::Scheduler;
use super::self_test::self_test;
use super::{ClientKey, Job, Pending, Restriction, Validator, Verdict, check_file};
use crate::protocol::Refusal;

/// Maximum size of a verdict.
const MAX_VERDICT_BYTES: u64 = 64 << 10;

/// Runs a child process for each file: this program with a hidden subcommand.
#[derive(Debug, Clone)]
pub struct ChildValidator {
    program: PathBuf,
    /// Arguments before the file name.
    arguments: Vec<String>,
    scheduler: Arc<Scheduler>,
    back_off: Arc<Mutex<BackOff>>,
}

/// How a child ended.
enum Ended {
    Verdict(Verdict),
    /// Killed by a limit or a crash: with a larger budget, it may end otherwise.
    Killed,
}

impl ChildValidator {
    /// Runs this program with these arguments before the file name. After `free_rejections` rejected files in a row, a
    /// client must wait.
    pub fn new(program: PathBuf, arguments: Vec<String>, free_rejections: u32) -> Self {
        let back_off = Arc::new(Mutex::new(BackOff::new(free_rejections)));
        Self { program, arguments, scheduler: Arc::default(), back_off }
    }

    /// Validates one file and waits for the verdict, for callers without an asynchronous runtime.
    pub fn validate_blocking(&self, job: Job) -> Verdict {
        match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            // Within the runtime, because `validate` starts a task.
            Ok(runtime) => runtime.block_on(async { self.validate(job).await }),
            Err(error) => failed(&error),
        }
    }

    fn back_off(&self) -> MutexGuard<'_, BackOff> {
        self.back_off.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Validator for ChildValidator {
    fn validate(&self, job: Job) -> Pending {
        let this = self.clone();
        // A task of its own, so that a caller that gives up cannot escape what its file cost.
        let task = tokio::spawn(async move { this.run(&job).await });
        Box::pin(async move { task.await.unwrap_or_else(|error| failed(&error)) })
    }

    fn admit(&self, client: &ClientKey) -> Result<(), Refusal> {
        match self.back_off().wait(client, Instant::now()) {
            None => Ok(()),
            Some(wait) => {
                let retry_after_seconds = wait.as_secs() + 1;
                Err(Refusal::TooManyRejectedFiles { retry_after_seconds })
            }
        }
    }

    fn self_test(&self) -> Result<Vec<Restriction>, String> {
        self_test(&self.program, &self.arguments)
    }
}

impl ChildValidator {
    /// A short run, then a long one if the file needs it.
    async fn run(&self, job: &Job) -> Verdict {
        let bytes = match tokio::fs::metadata(&job.file).await {
            Ok(found) => found.len(),
            Err(error) => return failed(&error),
        };
        let kind = match TableKind::of(&job.file) {
            Ok(kind) => kind,
            Err(error) => return failed(&error),
        };
        let estimate = estimated_seconds(kind, &job.limits, bytes);
        let mut used = Duration::ZERO;
        let mut verdict = crashed();
        for &lane in lanes(kind, &job.limits, bytes) {
            let budget = Budget::new(lane, &job.limits, bytes);
            let turn = self.scheduler.turn(job.client.clone(), lane, estimate).await;
            let Some(turn) = turn else { return failed(&"the server is stopping") };
            let started = Instant::now();
            let ended = self.run_child(job, budget).await;
            drop(turn);
            used += started.elapsed();
            match ended {
                Ok(Ended::Verdict(found)) => {
                    verdict = found;
                    break;
                }
                Ok(Ended::Killed) => {}
                Err(error) => return failed(&error),
            }
        }
        match &verdict {
            Verdict::Valid(_) => self.back_off().accepted(&job.client),
            Verdict::Value { .. } | Verdict::File { .. } => {
                self.back_off().rejected(&job.client, used, Instant::now());
            }
            Verdict::DiskFull | Verdict::Storage { .. } => {}
        }
        verdict
    }

    async fn run_child(&self, job: &Job, budget: Budget) -> std::io::Result<Ended> {
        let job = ChildJob {
            // The child runs in another folder.
            file: absolute(&job.file)?,
            canonical: absolute(&job.canonical)?,
            schema: job.schema.to_toml(),
            limits: job.limits,
            budget,
        };
        let job = serde_json::to_vec(&job)?;
        let command = command(&self.program, &self.arguments);
        let mut child = Command::from(command).kill_on_drop(true).spawn()?;
        let mut output = Vec::new();
        let ended = tokio::time::timeout(budget.wall(), async {
            if let Some(mut stdin) = child.stdin.take() {
                // Fails if the child crashed, which its status will show.
                let _ = stdin.write_all(&job).await;
            }
            if let Some(stdout) = child.stdout.take() {
                stdout.take(MAX_VERDICT_BYTES).read_to_end(&mut output).await?;
            }
            child.wait().await
        });
        match ended.await {
            Ok(status) => ended_with(status?, &output),
            Err(_) => {
                // Waits for its end, so that it writes nothing while another child runs.
                child.kill().await?;
                Ok(Ended::Killed)
            }
        }
    }
}

fn ended_with(status: ExitStatus, output: &[u8]) -> std::io::Result<Ended> {
    match status.code() {
        Some(0) => Ok(Ended::Verdict(serde_json::from_slice(output)?)),
        // A panic would repeat itself.
        Some(_) => Ok(Ended::Verdict(crashed())),
        None => Ok(Ended::Killed),
    }
}

/// A child without environment, in the root folder, that a signal to the server's terminal does not reach. It expects
/// its job on the standard input.
pub(super) fn command(program: &Path, arguments: &[String]) -> std::process::Command {
    use std::os::unix::process::CommandExt as _;
    let mut command = std::process::Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

fn crashed() -> Verdict {
    let message = "reading the file exceeded the memory or time limit, or crashed the reader";
    Verdict::File { message: message.to_owned() }
}

fn failed(error: &dyn std::fmt::Display) -> Verdict {
    Verdict::Storage { message: format!("cannot run the validator: {error}") }
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

    fn admit(&self, _: &ClientKey) -> Result<(), Refusal> {
        Ok(())
    }

    fn self_test(&self) -> Result<Vec<Restriction>, String> {
        Ok(Vec::new())
    }
}
