//! One shell for all commands of the guide, so that variables, folders and background jobs carry over.

use std::io::{BufRead, BufReader, PipeReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The slowest command takes a few seconds; a hanging one must not hold up all tests.
const TIMEOUT: Duration = Duration::from_secs(180);

/// Printed after each command's output.
const END: &str = "--- end of the output, exit code";

pub(crate) struct Shell {
    child: Child,
    input: ChildStdin,
    output: Receiver<String>,
}

impl Shell {
    /// Starts bash in a folder, with the binary on its `PATH`.
    pub(crate) fn start(folder: &Path) -> Self {
        let (reader, writer) = std::io::pipe().unwrap();
        let binary = Path::new(env!("CARGO_BIN_EXE_equipoise"));
        let path = std::env::var("PATH").unwrap();
        let mut child = Command::new("bash")
            .args(["--noprofile", "--norc"])
            .current_dir(folder)
            .env("PATH", format!("{}:{path}", binary.parent().unwrap().display()))
            .env("COLUMNS", "120")
            .stdin(Stdio::piped())
            .stdout(writer.try_clone().unwrap())
            .stderr(writer)
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        Self { child, input, output: lines(reader) }
    }

    /// Runs a command and returns all that it printed. Fails if it hangs, or if its exit code is that of bad usage.
    pub(crate) fn run(&mut self, command: &str) -> String {
        // The last line restores the exit code for a command that asks for it.
        let script = format!("{command}\ncode=$?; echo; echo \"{END} $code\"; (exit $code)\n");
        self.input.write_all(script.as_bytes()).unwrap();
        let mut printed = String::new();
        loop {
            let line = self.output.recv_timeout(TIMEOUT);
            let line = line.unwrap_or_else(|_| panic!("no end of `{command}`: {printed}"));
            if let Some(code) = line.strip_prefix(END) {
                assert!(
                    ["0", "1"].contains(&code.trim()),
                    "`{command}` exits with{code}: {printed}"
                );
                // The end follows an empty line of its own, in case the output does not end with a line break.
                return printed.strip_suffix("\n").unwrap_or(&printed).to_owned();
            }
            printed += &line;
            printed.push('\n');
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // A server that the guide left running ends with the shell's process group only if we end it.
        let _ = self.input.write_all(b"kill $(jobs -p) 2> /dev/null; exit\n");
        let _ = self.child.wait();
    }
}

/// Reads lines in a thread of its own, because a hanging command must not hang the test.
fn lines(reader: PipeReader) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(reader).lines() {
            if line.is_err() || sender.send(line.unwrap_or_default()).is_err() {
                return;
            }
        }
    });
    receiver
}
