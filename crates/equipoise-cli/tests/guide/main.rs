//! Runs every command of `docs/GUIDE.md` with the real binary and compares what it prints with what the guide shows.
//!
//! A `console` block holds commands, each after `$ `, followed by their output. A line with `…` alone stands for any
//! lines. Times, dates, durations and what depends on fresh keys may differ. The commands run in one shell, in
//! an empty folder that contains only the table the guide downloads, so they must work as a reader would paste them.
//!
//! `EQUIPOISE_UPDATE_GUIDE=1 cargo test --release -p equipoise-cli --test guide` writes the present output into the guide.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod blocks;
mod compare;
mod shell;

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use shell::Shell;

/// The table that the guide downloads. Tests do not use the network, so they put it in place.
const TABLE: &str = "law_school.csv";

/// The server's port in the guide. The test uses a free one instead.
const PORT: &str = "8443";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn free_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

/// Waits until the server that a command started accepts connections. A reader needs longer to type the next command.
fn wait_for_server(port: &str) {
    let started = Instant::now();
    while TcpStream::connect(format!("127.0.0.1:{port}")).is_err() {
        assert!(started.elapsed() < Duration::from_secs(60), "the server does not start");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn every_command_of_the_guide_prints_what_the_guide_shows() {
    let table = repository().join("../shared/data").join(TABLE);
    if !table.exists() {
        // Written to stderr directly, because the harness hides the output of tests that pass.
        let _ = writeln!(std::io::stderr(), "SKIPPED: the guide needs {TABLE} in ../shared/data");
        return;
    }
    let path = repository().join("docs/GUIDE.md");
    let guide = std::fs::read_to_string(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    std::fs::copy(&table, folder.path().join("data").join(TABLE)).unwrap();

    let port = free_port();
    let mut shell = Shell::start(folder.path());
    let mut differences = Vec::new();
    let updated = blocks::replace_outputs(&guide, |step| {
        if step.command.starts_with("equipoise data fetch") {
            return step.output.clone();
        }
        let printed = shell.run(&step.command.replace(PORT, &port)).replace(&port, PORT);
        if step.command.ends_with('&') {
            wait_for_server(&port);
        }
        let printed: Vec<String> = printed.lines().map(|line| line.trim_end().to_owned()).collect();
        if compare::matches(&step.output, &printed) {
            return step.output.clone();
        }
        differences.push(format!(
            "docs/GUIDE.md:{}: $ {}\n--- the guide shows\n{}\n--- the command prints\n{}\n",
            step.line,
            step.command,
            step.output.join("\n"),
            printed.join("\n")
        ));
        printed
    });
    if std::env::var_os("EQUIPOISE_UPDATE_GUIDE").is_some() {
        std::fs::write(&path, updated).unwrap();
        println!("{} outputs of docs/GUIDE.md were updated", differences.len());
        return;
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
