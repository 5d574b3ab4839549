//! Forbidden operations, attempted by child processes of the tests: once without restrictions, where each must succeed,
//! or its failure would show nothing; and then under each restriction alone and under all together.

#![allow(clippy::unwrap_used, clippy::print_stdout, unsafe_code)]

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::*;

const REQUEST: &str = "EQUIPOISE_TEST_REQUEST";
const OUTPUT_BYTES: u64 = 1 << 20;

/// What a child needs to know about its parent.
#[derive(Serialize, Deserialize)]
struct Request {
    mode: String,
    operation: String,
    folder: PathBuf,
    port: u16,
    abstract_name: String,
    parent: i32,
}

#[test]
#[ignore = "the other tests run this in child processes"]
fn child() {
    let request = std::env::var(REQUEST).expect("only runs in a child process");
    let request: Request = serde_json::from_str(&request).unwrap();
    let mut output = File::create(request.folder.join("output")).unwrap();
    let input = File::open(request.folder.join("input")).unwrap();
    let budget = Budget {
        memory_bytes: 1 << 30,
        cpu_seconds: 2,
        wall_seconds: 10,
        output_bytes: OUTPUT_BYTES,
        niceness: 5,
    };
    let restrictions = match request.mode.as_str() {
        "none" => Vec::new(),
        "landlock" => landlock::restrict().to_vec(),
        "seccomp" => vec![Restriction::new("seccomp", seccomp::restrict())],
        "limits" => {
            resource_limits::set(&budget).unwrap();
            vec![Restriction::new("no_capabilities", capabilities::drop_all())]
        }
        "all" => enter(&budget).unwrap(),
        other => panic!("{other}"),
    };
    assert!(restrictions.iter().all(|found| found.missing.is_none()), "{restrictions:?}");
    let result = attempt(&request, &mut output, input);
    println!("\nresult: {}", result.err().map_or("done".to_owned(), |error| error.to_string()));
    std::process::exit(0);
}

/// Runs an operation in this process.
fn attempt(request: &Request, output: &mut File, mut input: File) -> io::Result<()> {
    let key = request.folder.join("server.key");
    let parent = rustix::process::Pid::from_raw(request.parent).unwrap();
    let checked = |result: i64| match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    };
    match request.operation.as_str() {
        "open_key" => fs::read(key).map(drop),
        "stat_key" => fs::metadata(key).map(drop),
        "remove_key" => fs::remove_file(key),
        "rename_key" => fs::rename(&key, request.folder.join("moved")),
        "list_folder" => fs::read_dir(&request.folder).map(drop),
        "write_another_file" => fs::write(request.folder.join("another"), "x"),
        "open_input_again" => fs::read(request.folder.join("input")).map(drop),
        "connect" => TcpStream::connect(("127.0.0.1", request.port)).map(drop),
        "listen" => TcpListener::bind(("127.0.0.1", 0)).map(drop),
        "udp_socket" => UdpSocket::bind(("127.0.0.1", 0)).map(drop),
        "unix_socket" => UnixStream::pair().map(drop),
        "connect_abstract" => {
            let address = SocketAddr::from_abstract_name(&request.abstract_name)?;
            UnixStream::connect_addr(&address).map(drop)
        }
        "exec" => Err(Command::new("/bin/true").exec()),
        "spawn" => Command::new("/bin/true").status().map(drop),
        // SAFETY: the child process only exits.
        "fork" => match unsafe { libc::fork() } {
            0 => unsafe { libc::_exit(0) },
            pid => checked(pid.into()),
        },
        "thread" => std::thread::Builder::new().spawn(|| ()).map(drop),
        "kill_parent" => Ok(rustix::process::kill_process(parent, rustix::process::Signal::WINCH)?),
        // SAFETY: no memory is passed. PTRACE_SEIZE does not stop the parent.
        "ptrace_parent" => {
            checked(unsafe { libc::ptrace(libc::PTRACE_SEIZE, request.parent, 0usize, 0usize) })
        }
        // SAFETY: the parameters are all zero, as the call requires, and large enough.
        "io_uring" => checked(unsafe {
            libc::syscall(libc::SYS_io_uring_setup, 1u32, [0u8; 256].as_mut_ptr())
        }),
        // SAFETY: a new mapping, which nothing uses.
        "executable_memory" => checked(unsafe {
            let executable = libc::PROT_READ | libc::PROT_EXEC;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            libc::mmap(std::ptr::null_mut(), 4096, executable, flags, -1, 0) as i64
        }),
        "duplicate_descriptor" => Ok(rustix::io::dup(&output).map(drop)?),
        "allocate_2_gib" => Vec::<u8>::new().try_reserve_exact(2 << 30).map_err(io::Error::other),
        "raise_limit" => {
            use rustix::process::{Resource, Rlimit, setrlimit};
            let limit = Some(2 * OUTPUT_BYTES);
            Ok(setrlimit(Resource::Fsize, Rlimit { current: limit, maximum: limit })?)
        }
        "write_too_much" => {
            let chunk = vec![0; OUTPUT_BYTES as usize / 4];
            (0..5).try_for_each(|_| output.write_all(&chunk))
        }
        "compute_forever" => loop {
            std::hint::black_box(0);
        },
        // What the validator needs.
        "honest_work" => {
            let mut text = String::new();
            io::Read::read_to_string(&mut input, &mut text)?;
            let words: std::collections::HashMap<&str, usize> =
                text.split(' ').map(|word| (word, word.len())).collect();
            output.write_all(&vec![b'x'; 100_000 * words.len()])?;
            std::panic::catch_unwind(|| panic!("caught")).unwrap_err();
            Ok(())
        }
        other => panic!("{other}"),
    }
}

struct Parent {
    folder: tempfile::TempDir,
    tcp: TcpListener,
    abstract_name: String,
    _abstract_socket: UnixListener,
}

impl Parent {
    fn new(test: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let abstract_name = format!("equipoise-test-{}-{test}", std::process::id());
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let _abstract_socket = UnixListener::bind_addr(&address).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        fs::write(folder.path().join("input"), "some input").unwrap();
        Self { folder, tcp, abstract_name, _abstract_socket }
    }

    fn run(&self, mode: &str, operation: &str) -> Output {
        fs::write(self.folder.path().join("server.key"), "secret").unwrap();
        let request = Request {
            mode: mode.into(),
            operation: operation.into(),
            folder: self.folder.path().into(),
            port: self.tcp.local_addr().unwrap().port(),
            abstract_name: self.abstract_name.clone(),
            parent: std::process::id() as i32,
        };
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "validator::sandbox::tests::child", "--ignored", "--nocapture"])
            .args(["--test-threads", "1"])
            .env(REQUEST, serde_json::to_string(&request).unwrap())
            .output()
            .unwrap()
    }

    /// `done`, an error, or a signal.
    fn result(&self, mode: &str, operation: &str) -> String {
        let output = self.run(mode, operation);
        if let Some(signal) = output.status.signal() {
            return format!("signal {signal}");
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let result = text.lines().find_map(|line| line.strip_prefix("result: "));
        match (result, operation) {
            (Some(result), _) => result.to_owned(),
            // The process was replaced by a program that prints nothing.
            (None, "exec") if output.status.success() => "done".to_owned(),
            _ => panic!("{mode} {operation}: {text}{}", String::from_utf8_lossy(&output.stderr)),
        }
    }
}

/// Operations, and the restrictions that deny them by themselves.
const FORBIDDEN: [(&str, &[&str]); 22] = [
    ("open_key", &["landlock", "seccomp", "limits"]),
    ("stat_key", &["seccomp"]),
    ("remove_key", &["landlock", "seccomp"]),
    ("rename_key", &["landlock", "seccomp"]),
    ("list_folder", &["landlock", "seccomp", "limits"]),
    ("write_another_file", &["landlock", "seccomp", "limits"]),
    ("open_input_again", &["landlock", "seccomp", "limits"]),
    ("connect", &["landlock", "seccomp", "limits"]),
    ("listen", &["landlock", "seccomp", "limits"]),
    ("udp_socket", &["seccomp", "limits"]),
    ("unix_socket", &["seccomp", "limits"]),
    ("connect_abstract", &["landlock", "seccomp", "limits"]),
    ("exec", &["landlock", "seccomp"]),
    ("spawn", &["landlock", "seccomp"]),
    ("fork", &["seccomp"]),
    ("thread", &["seccomp"]),
    ("kill_parent", &["landlock", "seccomp"]),
    ("ptrace_parent", &["landlock", "seccomp"]),
    ("io_uring", &["seccomp", "limits"]),
    ("executable_memory", &["seccomp"]),
    ("duplicate_descriptor", &["seccomp", "limits"]),
    ("allocate_2_gib", &["limits"]),
];

#[test]
fn each_restriction_denies_what_it_should_and_all_together_deny_everything() {
    let parent = Parent::new("forbidden");
    for (operation, denied_by) in FORBIDDEN {
        let without = parent.result("none", operation);
        // Containers may forbid these to everyone.
        let unavailable = ["ptrace_parent", "io_uring"].contains(&operation) && without != "done";
        if !unavailable {
            assert_eq!(without, "done", "{operation} without restrictions");
        }
        for mode in denied_by.iter().copied().chain(["all"]) {
            let result = parent.result(mode, operation);
            let by_system = ["ermission", "not permitted", "Too many open", "allocation failed"];
            assert!(
                by_system.iter().any(|part| result.contains(part)),
                "{operation} under {mode}: {result}"
            );
        }
    }
    assert_eq!(fs::read(parent.folder.path().join("server.key")).unwrap(), b"secret");
}

#[test]
fn output_and_cpu_time_are_limited_and_limits_cannot_be_raised() {
    let parent = Parent::new("limits");
    assert_eq!(parent.result("none", "write_too_much"), "done");
    for mode in ["limits", "all"] {
        assert_eq!(parent.result(mode, "write_too_much"), format!("signal {}", libc::SIGXFSZ));
        assert_eq!(fs::metadata(parent.folder.path().join("output")).unwrap().len(), OUTPUT_BYTES);
        let raised = parent.result(mode, "raise_limit");
        assert!(raised.contains("not permitted"), "{mode}: {raised}");
    }
    assert_eq!(parent.result("all", "compute_forever"), format!("signal {}", libc::SIGKILL));
}

#[test]
fn decoding_a_file_is_still_possible() {
    let parent = Parent::new("honest");
    for mode in ["none", "landlock", "seccomp", "limits", "all"] {
        assert_eq!(parent.result(mode, "honest_work"), "done", "{mode}");
        assert_eq!(fs::metadata(parent.folder.path().join("output")).unwrap().len(), 200_000);
    }
}

#[test]
fn the_self_test_finds_what_an_unrestricted_process_can_do() {
    let readable = Path::new("/proc/self/exe");
    let found = attempt_forbidden_operations(readable);
    assert!(found.iter().all(|restriction| restriction.missing.is_some()), "{found:?}");
}
