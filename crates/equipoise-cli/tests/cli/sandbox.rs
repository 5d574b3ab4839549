//! The validator's process as others see it, and a server on a kernel that offers less.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use equipoise_data::TableKind;
use flate2::Compression;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
use serde_json::Value;

use crate::fleet::{Fleet, full};
use crate::server::Server;

/// A child of a process, if it has one.
fn child_of(pid: u32) -> Option<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    tasks.flatten().find_map(|task| {
        let children = fs::read_to_string(task.path().join("children")).ok()?;
        children.split_whitespace().next()?.parse().ok()
    })
}

fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line[name.len()..].trim_matches([':', ' ', '\t']).to_owned())
}

#[test]
fn the_validator_process_has_no_rights_and_no_other_files() {
    let fleet = Fleet::new(2);
    // A descriptor that the server inherits from whatever started it.
    fs::write(fleet.dir.path().join("secret"), "secret").unwrap();
    let server = Server::start_by(
        Command::new("sh")
            .args(["-c", "exec 7< secret; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_equipoise")])
            .env("SECRET", "secret"),
        fleet.dir.path(),
        fleet.port,
        &fleet.write_config(""),
    );
    let body = fleet.proxy(1, 24 << 20);
    let seen = std::thread::scope(|scope| {
        let upload = scope.spawn(|| fleet.put(0, TableKind::Csv, body.as_bytes()).0);
        let started = Instant::now();
        let mut seen = None;
        while seen.is_none() && started.elapsed() < Duration::from_secs(20) {
            if let Some(child) = child_of(server.child.id()) {
                // Once it reads the file, it is in the sandbox.
                std::thread::sleep(Duration::from_millis(60));
                let at = |name: &str| fs::read(format!("/proc/{child}/{name}"));
                if let (Ok(status), Ok(limits), Ok(environ), Ok(command), Ok(files)) = (
                    at("status"),
                    at("limits"),
                    at("environ"),
                    at("cmdline"),
                    fs::read_dir(format!("/proc/{child}/fd")),
                ) {
                    let files: Vec<String> = files
                        .flatten()
                        .filter_map(|entry| fs::read_link(entry.path()).ok())
                        .map(|path| path.display().to_string())
                        .collect();
                    let text = |bytes| String::from_utf8(bytes).unwrap();
                    if !files.is_empty() {
                        seen = Some((text(status), text(limits), environ, text(command), files));
                    }
                }
            }
        }
        assert_eq!(upload.join().unwrap(), 201);
        seen.expect("a child process")
    });
    let (status, limits, environ, command, files) = seen;
    assert_eq!(field(&status, "NoNewPrivs").unwrap(), "1", "{status}");
    assert_eq!(field(&status, "Seccomp").unwrap(), "2", "{status}");
    assert_eq!(field(&status, "CapEff").unwrap(), "0000000000000000", "{status}");
    assert_eq!(field(&status, "CapPrm").unwrap(), "0000000000000000", "{status}");
    assert_eq!(field(&status, "Threads").unwrap(), "1", "{status}");
    for name in ["Max open files", "Max processes", "Max core file size"] {
        let limit = field(&limits, name).unwrap();
        assert!(limit.starts_with("0 "), "{name}: {limit}");
    }
    for name in ["Max file size", "Max cpu time", "Max address space"] {
        let limit = field(&limits, name).unwrap();
        assert!(limit.split_whitespace().next().unwrap().parse::<u64>().is_ok(), "{name}: {limit}");
    }
    assert!(environ.is_empty(), "{}", String::from_utf8_lossy(&environ));
    // Every user of the machine can read the arguments.
    assert!(command.contains("validate-proxy") && !command.contains("client"), "{command}");
    assert!(!files.iter().any(|file| file.contains("secret")), "{files:?}");
    let regular = files.iter().filter(|file| file.contains("uploads")).count();
    assert_eq!((files.len(), regular), (5, 2), "{files:?}");
}

/// The line about the sandbox in the server's log: active and missing restrictions.
fn logged_restrictions(folder: &Path) -> (String, String) {
    let log = fs::read_to_string(folder.join("server.log")).unwrap();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let line = lines.into_iter().find(|line| line["message"] == "the validator's sandbox");
    let line = line.unwrap_or_else(|| panic!("{log}"));
    let text = |name: &str| line[name].as_str().unwrap().to_owned();
    (text("active"), text("missing"))
}

#[test]
fn the_log_lists_every_restriction() {
    let fleet = Fleet::new(2);
    let server = fleet.start_with_config("");
    let (active, missing) = logged_restrictions(fleet.dir.path());
    println!("active: {active}\nmissing: {missing}");
    for name in [
        "inherited_files_closed",
        "no_new_privs",
        "landlock_files",
        "landlock_tcp",
        "landlock_scopes",
        "resource_limits",
        "no_capabilities",
        "seccomp",
        "cannot_open_files",
        "cannot_connect",
        "cannot_create_sockets",
        "cannot_create_processes",
    ] {
        assert!(active.contains(name) || missing.contains(name), "{name}: {active}; {missing}");
    }
    // These exist on every kernel of the last ten years.
    for name in ["no_new_privs", "resource_limits", "seccomp", "cannot_open_files"] {
        assert!(active.contains(name), "{name}: {active}; {missing}");
    }
    drop(server);
}

/// Runs in a thread whose child processes find that the kernel lacks these system calls.
fn on_an_older_kernel<T: Send>(missing: &[libc::c_long], run: impl FnOnce() -> T + Send) -> T {
    let rules: BTreeMap<i64, _> = missing.iter().map(|call| (*call, Vec::new())).collect();
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::ENOSYS as u32),
        std::env::consts::ARCH.try_into().unwrap(),
    );
    let filter: BpfProgram = filter.unwrap().try_into().unwrap();
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            apply_filter(&filter).unwrap();
            run()
        });
        thread.join().unwrap()
    })
}

#[test]
fn an_older_kernel_is_enough_unless_the_sandbox_is_required() {
    let landlock = vec![
        libc::SYS_landlock_create_ruleset,
        libc::SYS_landlock_add_rule,
        libc::SYS_landlock_restrict_self,
    ];
    let all = [landlock.clone(), vec![libc::SYS_seccomp, libc::SYS_close_range]].concat();
    for (calls, lacks, has) in [
        (landlock, vec!["landlock_files", "landlock_tcp", "landlock_scopes"], vec!["seccomp"]),
        (
            all,
            vec!["landlock_files", "seccomp (the kernel", "inherited_files_closed"],
            // Resource limits alone prevent these.
            vec!["resource_limits", "cannot_open_files", "cannot_create_sockets"],
        ),
    ] {
        let fleet = Fleet::new(2);
        let server = on_an_older_kernel(&calls, || fleet.start_with_config(""));
        let (active, missing) = logged_restrictions(fleet.dir.path());
        println!("active: {active}\nmissing: {missing}");
        assert!(lacks.iter().all(|name| missing.contains(name)), "{lacks:?}: {missing}");
        assert!(has.iter().all(|name| active.contains(name)), "{has:?}: {active}");
        let body = fleet.proxy(1, 1000);
        assert_eq!(fleet.put(0, TableKind::Csv, body.as_bytes()).0, 201);
        drop(server);

        let options = fleet.write_config("require_sandbox = true");
        let output = on_an_older_kernel(&calls, || {
            Command::new(env!("CARGO_BIN_EXE_equipoise"))
                .args(format!("serve {options}").split_whitespace())
                .current_dir(fleet.dir.path())
                .stdin(Stdio::null())
                .output()
                .unwrap()
        });
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("require_sandbox is set"), "{text}");
        assert!(lacks.iter().all(|name| text.contains(name)), "{text}");
    }
}

#[test]
fn a_complete_sandbox_satisfies_require_sandbox() {
    let fleet = Fleet::new(2);
    let probe = fleet.start_with_config("");
    let missing = logged_restrictions(fleet.dir.path()).1;
    drop(probe);
    if !missing.is_empty() {
        println!("SKIPPED: this kernel lacks {missing}");
        return;
    }
    let _server = fleet.start_with_config("require_sandbox = true");
    let body = fleet.proxy(1, 1000);
    assert_eq!(fleet.put(0, TableKind::Csv, body.as_bytes()).0, 201);
}

/// A Parquet file with the columns of a proxy.
fn parquet_file(fleet: &Fleet, n_rows: usize, codec: parquet::basic::Compression) -> Vec<u8> {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch};
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::WriterProperties;
    use std::sync::Arc;
    let properties = WriterProperties::builder().set_compression(codec).build();
    let mut writer = None;
    let mut state = 1u64;
    let columns = fleet.columns();
    let n_x = columns.len() - 2;
    for first in (0..n_rows).step_by(1 << 16) {
        let rows = first..n_rows.min(first + (1 << 16));
        let batch = columns.iter().enumerate().map(|(i, name)| {
            let values: Vec<f64> = rows
                .clone()
                .map(|row| match i {
                    _ if i < n_x => {
                        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
                        (state >> 40) as f64 / 4e6 - 2.0
                    }
                    _ if i == n_x => (row % 2) as f64,
                    _ => (row % 3 % 2) as f64 * 2.0 - 1.0,
                })
                .collect();
            (name.clone(), Arc::new(Float64Array::from(values)) as ArrayRef)
        });
        let batch = RecordBatch::try_from_iter(batch.collect::<Vec<_>>()).unwrap();
        let schema = batch.schema();
        let writer = writer.get_or_insert_with(|| {
            ArrowWriter::try_new(Vec::new(), schema, Some(properties.clone())).unwrap()
        });
        writer.write(&batch).unwrap();
    }
    writer.unwrap().into_inner().unwrap()
}

#[test]
fn honest_files_of_every_format_and_codec_are_accepted() {
    use parquet::basic::{Compression as Codec, GzipLevel, ZstdLevel};
    use std::io::Write as _;
    // With EQUIPOISE_FULL, the largest files that the default limits allow: just under five million rows.
    let (bytes, rows) = if full() { (470 << 20, 5_000_000) } else { (6 << 20, 150_000) };
    type Make = Box<dyn Fn(&Fleet) -> Vec<u8>>;
    let mut files: Vec<(&str, TableKind, Make)> = vec![
        ("csv", TableKind::Csv, Box::new(move |f| f.proxy(1, bytes).into_bytes())),
        (
            "csv.gz",
            TableKind::CsvGz,
            Box::new(move |f| {
                let mut out = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
                out.write_all(f.proxy(1, bytes / 4).as_bytes()).unwrap();
                out.finish().unwrap()
            }),
        ),
    ];
    for (name, codec) in [
        ("parquet, uncompressed", Codec::UNCOMPRESSED),
        ("parquet, snappy", Codec::SNAPPY),
        ("parquet, gzip", Codec::GZIP(GzipLevel::try_new(1).unwrap())),
        ("parquet, zstd", Codec::ZSTD(ZstdLevel::try_new(3).unwrap())),
    ] {
        files.push((name, TableKind::Parquet, Box::new(move |f| parquet_file(f, rows, codec))));
    }
    let fleet = Fleet::new(files.len() + 1);
    let server = fleet.start_with_config("");
    for (i, (name, kind, make)) in files.iter().enumerate() {
        let body = make(&fleet);
        let started = Instant::now();
        let (status, answer) = fleet.put(i, *kind, &body);
        println!("{name}: {} bytes, {status} in {:?}", body.len(), started.elapsed());
        assert_eq!(status, 201, "{name}: {answer}");
    }
    drop(server);
}
