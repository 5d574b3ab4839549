//! The server's process.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A running server; killed when dropped.
pub(crate) struct Server {
    child: Child,
    /// Open file descriptors right after the start.
    pub(crate) idle_descriptors: usize,
}

impl Server {
    /// Starts the server of `server.toml` in a folder, or returns its log.
    pub(crate) fn start(folder: &Path) -> Result<Self, String> {
        let log = folder.join("server.log");
        let appended = std::fs::OpenOptions::new().create(true).append(true).open(&log);
        let child = Command::new(env!("CARGO_BIN_EXE_equipoise"))
            .args(["serve", "--json", "--quiet", "--config", "server.toml"])
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(appended.map_err(|error| error.to_string())?)
            .spawn();
        let mut child = child.map_err(|error| error.to_string())?;
        let mut first = String::new();
        if let Some(stdout) = child.stdout.take() {
            let _ = BufReader::new(stdout).read_line(&mut first);
        }
        let mut server = Self { child, idle_descriptors: 0 };
        if first.is_empty() {
            return Err(std::fs::read_to_string(log).unwrap_or_default());
        }
        server.idle_descriptors = server.descriptors();
        Ok(server)
    }

    /// Ends the process as kill -9 does.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Sends a signal such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").args([&format!("-{name}"), &pid]).status();
    }

    /// Sends SIGTERM and waits for the process to end.
    pub(crate) fn terminate(&mut self, timeout: Duration) -> Option<ExitStatus> {
        self.signal("TERM");
        let started = Instant::now();
        while started.elapsed() < timeout {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    /// How the process ended, if it did.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    pub(crate) fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(0, Iterator::count)
    }

    /// Peak resident memory so far.
    pub(crate) fn peak_mib(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        kib.unwrap_or(0.0) / 1024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
