//! Ctrl-C and `kill` at any moment leave no unfinished files.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::world::{Random, World, table};

/// A world in which a proxy and a solve take a while, and temporary files have their own folder.
fn slow_world() -> World {
    let world = World::new();
    std::fs::create_dir(world.path("tmp")).unwrap();
    world.write("large.csv", &table(&Random(5).rows(200_000, 1.0)));
    world
}

/// All files and folders, at any depth.
fn listing(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        // A temporary file may disappear in between.
        let Ok(entry) = entry else { continue };
        found.insert(entry.path().display().to_string());
        if entry.path().is_dir() {
            found.extend(listing(&entry.path()));
        }
    }
    found
}

/// Runs a command and sends it a signal after a while, unless it ends before. Returns how it ended.
fn interrupt(world: &World, arguments: &str, after: Duration, signal: Signal) -> ExitStatus {
    let started = Instant::now();
    interrupt_when(world, arguments, || started.elapsed() >= after, signal)
}

/// Runs a command and sends it a signal as soon as `ready` says so, unless it ends before. Returns how it ended.
fn interrupt_when(
    world: &World,
    arguments: &str,
    ready: impl Fn() -> bool,
    signal: Signal,
) -> ExitStatus {
    // Whoever runs the tests may ignore SIGINT, as shells do for jobs in the background.
    let mut child = Command::new("env")
        .args(["--default-signal=INT,TERM,HUP", env!("CARGO_BIN_EXE_equipoise")])
        .args(arguments.split_whitespace())
        .env("TMPDIR", world.path("tmp"))
        .current_dir(world.path("."))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !ready() {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = kill_process(Pid::from_child(&child), signal);
    child.wait().unwrap()
}

/// How long a command takes until it ends by itself.
fn duration_of(world: &World, arguments: &str) -> Duration {
    let started = Instant::now();
    world.run_with(arguments, &[("TMPDIR", world.path("tmp").to_str().unwrap())]);
    started.elapsed()
}

/// Interrupts a command at several moments between its start and its end. Each time it either has written everything, as
/// `finished` lists, or nothing.
fn check_moments(arguments: &str, finished: &[&str]) {
    let world = slow_world();
    let before = listing(&world.path("."));
    let first = duration_of(&world, arguments);
    let complete: BTreeSet<String> =
        listing(&world.path(".")).difference(&before).cloned().collect();
    let remove = || {
        for name in finished {
            let path = world.path(name);
            let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
        }
    };
    remove();
    assert_eq!(listing(&world.path(".")), before);
    // The shorter of two, in case the machine was busy.
    let whole = duration_of(&world, arguments).min(first);
    remove();
    let mut n_interrupted = 0;
    // Start-up takes a moment, and most writing is at the end.
    for percent in [5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 97] {
        let signal = if percent % 2 == 0 { Signal::INT } else { Signal::TERM };
        let status = interrupt(&world, arguments, whole * percent / 100, signal);
        let left: BTreeSet<String> =
            listing(&world.path(".")).difference(&before).cloned().collect();
        if let Some(by) = status.signal() {
            assert_eq!(by, signal.as_raw(), "{arguments} at {percent} %");
            n_interrupted += 1;
        } else {
            assert_eq!(left, complete, "{arguments} at {percent} %: {status}");
        }
        assert!(left.is_empty() || left == complete, "{arguments} at {percent} %: {left:?}");
        remove();
    }
    assert!(n_interrupted >= 3, "{arguments}: only {n_interrupted} interruptions in {whole:?}");
}

#[test]
fn a_proxy_is_written_completely_or_not_at_all() {
    check_moments("proxy large.csv --schema schema.toml --fairness sp -o OUT.csv", &["OUT.csv"]);
}

#[test]
fn encoded_rows_are_written_completely_or_not_at_all() {
    check_moments(
        "proxy large.csv --schema schema.toml --generator raw -o OUT.csv.gz",
        &["OUT.csv.gz"],
    );
}

#[test]
fn a_split_is_written_completely_or_not_at_all() {
    check_moments("split large.csv --schema schema.toml --unreliable 2 -o OUT", &["OUT"]);
}

#[test]
fn a_demo_is_written_completely_or_not_at_all() {
    check_moments("demo -o OUT", &["OUT"]);
}

#[test]
fn an_interrupted_experiment_keeps_finished_cells_and_nothing_else() {
    let world = slow_world();
    let before = listing(&world.path("."));
    let command = "experiment --dataset synthetic --people 3000 --fairness sp --unreliable 0.4 --seeds 8 \
                   --root-share 0.05 --profile default --generator smoothed -o a/b";
    world.run(command).expect(0);
    let journal = world.path("a/b/results.jsonl");
    let n_finished =
        || std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count().max(1) - 1);
    let n_all = n_finished();
    std::fs::remove_dir_all(world.path("a")).unwrap();
    let resumable = ["./a", "./a/b", "./a/b/results.jsonl"];
    let resumable = BTreeSet::from(resumable.map(|name| world.path(name).display().to_string()));
    let mut n_cells = Vec::new();
    // As soon as the journal has a cell more than before: how long a cell takes depends on what else the machine does.
    for _ in 0..5 {
        let n_before = n_finished();
        let status = interrupt_when(&world, command, || n_finished() > n_before, Signal::INT);
        if status.signal().is_none() {
            break;
        }
        let left: BTreeSet<String> =
            listing(&world.path(".")).difference(&before).cloned().collect();
        let text = std::fs::read_to_string(&journal).unwrap();
        let mut lines = text.lines().map(serde_json::from_str::<serde_json::Value>);
        assert!(text.ends_with('\n') && lines.all(|line| line.is_ok()), "{text}");
        n_cells.push(n_finished());
        // Once all cells are finished, whole files of results appear one after the other.
        assert!(left == resumable || n_finished() == n_all, "{left:?}");
        assert!(left.iter().all(|path| !path.contains("/.equipoise-")), "{left:?}");
    }
    assert!(n_cells.len() > 1 && n_cells[0] < n_all && n_cells.is_sorted(), "{n_cells:?}");
    world.run(command).expect(0);
    assert!(world.path("a/b/report.html").exists());
}

/// Waits until a process reads a file: then it handles signals and is far from its end.
fn wait_until_it_reads(process: impl Fn() -> Option<Pid>, file: &Path) -> Pid {
    let file = file.canonicalize().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        assert!(Instant::now() < deadline, "nobody reads {}", file.display());
        if let Some(process) = process()
            && let Ok(open) = std::fs::read_dir(format!("/proc/{process}/fd"))
            && open.flatten().any(|open| open.path().read_link().is_ok_and(|path| path == file))
        {
            return process;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The only child of a shell, once there is one.
fn child_of(shell: u32) -> Option<Pid> {
    let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).ok()?;
    children.trim().parse().ok().and_then(Pid::from_raw)
}

#[test]
fn a_shell_sees_130_and_stops_its_loop() {
    let world = slow_world();
    let script = format!(
        "for i in 1 2; do {} proxy large.csv --schema schema.toml --fairness sp -o $i.csv; echo $? >> codes; done",
        env!("CARGO_BIN_EXE_equipoise")
    );
    let mut shell = Command::new("env")
        .args(["--default-signal=INT", "bash", "-c", &script])
        .current_dir(world.path("."))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // A terminal sends Ctrl-C to all processes of the group.
    let child = wait_until_it_reads(|| child_of(shell.id()), &world.path("large.csv"));
    let _ = kill_process(Pid::from_child(&shell), Signal::INT);
    let _ = kill_process(child, Signal::INT);
    assert_eq!(shell.wait().unwrap().signal(), Some(Signal::INT.as_raw()));
    assert!(!world.path("1.csv").exists() && !world.path("2.csv").exists());

    // A shell that does not get the signal itself goes on, and sees the exit code.
    let script = format!(
        "{} proxy large.csv --schema schema.toml --fairness sp -o 1.csv; echo $?",
        env!("CARGO_BIN_EXE_equipoise")
    );
    let shell = Command::new("env")
        .args(["--default-signal=INT", "bash", "-c", &script])
        .current_dir(world.path("."))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let child = wait_until_it_reads(|| child_of(shell.id()), &world.path("large.csv"));
    let _ = kill_process(child, Signal::INT);
    let output = shell.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("130\n"), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted: "), "{output:?}");
    assert!(!world.path("1.csv").exists());
}

#[test]
fn ignored_signals_stay_ignored() {
    let world = slow_world();
    let mut child = Command::new("env")
        .args(["--ignore-signal=INT,HUP", env!("CARGO_BIN_EXE_equipoise")])
        .args("proxy large.csv --schema schema.toml --fairness sp -o OUT.csv -q".split(' '))
        .current_dir(world.path("."))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let process = Pid::from_child(&child);
    wait_until_it_reads(|| Some(process), &world.path("large.csv"));
    let _ = kill_process(process, Signal::INT);
    assert!(child.wait().unwrap().success());
    assert!(world.path("OUT.csv").exists());
}
