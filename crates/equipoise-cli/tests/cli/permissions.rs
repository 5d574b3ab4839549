//! Nobody else can read what the server and the coordinator's commands write, whatever the umask.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use equipoise_data::TableKind;
use equipoise_server::protocol::{Digest, Manifest, PrivateKey};

use crate::server::{at, free_port, submit, wait_published};
use crate::world::{CLIENTS, World};

/// The program under a umask, in the world's folder.
fn program(world: &World, umask: &str, arguments: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("umask {umask}; exec \"$@\""), "sh"])
        .arg(env!("CARGO_BIN_EXE_equipoise"))
        .args(arguments.split_whitespace())
        .current_dir(world.path("."));
    command
}

fn run(world: &World, umask: &str, arguments: &str) {
    let output = program(world, umask, arguments).output().unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Killed when dropped.
struct Server(Child);

impl Server {
    fn start(world: &World, umask: &str, options: &str) -> Self {
        let mut child = program(world, umask, &format!("serve --json {options}"))
            .stdout(Stdio::piped())
            .stderr(File::create(world.path("server.log")).unwrap())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(!first.is_empty(), "{}", world.read("server.log"));
        Self(child)
    }

    fn wait_until_dead(mut self) {
        let started = Instant::now();
        while self.0.try_wait().unwrap().is_none() {
            assert!(started.elapsed() < Duration::from_secs(60), "still running");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Asserts that nothing in a folder can be accessed by others. Returns the names of all files and folders.
fn assert_private(moment: &str, path: &Path) -> String {
    let mode = match path.symlink_metadata() {
        Ok(found) => found.permissions().mode(),
        // Removed since the folder was listed.
        Err(_) => return String::new(),
    };
    assert_eq!(mode & 0o077, 0, "{moment}: {} has mode {:o}", path.display(), mode & 0o777);
    let mut names = format!("{}\n", path.display());
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        names += &assert_private(moment, &entry.path());
    }
    names
}

/// Sends the first half of a signed upload and keeps the connection open.
fn begin_upload(world: &World, client: &str, port: u16) -> TcpStream {
    let key = PrivateKey::from_line(&world.read(&format!("{client}.key"))).unwrap();
    let body = world.read("proxies/south.csv").into_bytes();
    let manifest = Manifest {
        audience: format!("http://127.0.0.1:{port}"),
        round: "spring".parse().unwrap(),
        client: client.parse().unwrap(),
        media_type: TableKind::Csv,
        length: body.len() as u64,
        sha256: Digest::of(&body),
        schema_sha256: world.schema().digest(),
    };
    let head = format!(
        "PUT /v1/rounds/spring/submissions/{client} HTTP/1.1\r\nhost: localhost\r\nequipoise-manifest: {}\r\n\
         equipoise-signature: {}\r\ncontent-type: text/csv\r\ncontent-length: {}\r\n\r\n",
        manifest.to_header(),
        manifest.sign(&key),
        body.len()
    );
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body[..body.len() / 2]).unwrap();
    stream
}

#[test]
fn nothing_in_the_data_directory_is_open_to_others_at_any_moment() {
    let world = World::with_proxies();
    for umask in ["022", "000"] {
        let data = world.path("data");
        let port = free_port();
        for client in CLIENTS {
            run(&world, umask, &format!("keygen {client}"));
        }
        run(
            &world,
            umask,
            &format!(
                "round new spring --data data --audience http://127.0.0.1:{port} --schema schema.toml \
                 --client east=east.pub --client north=north.pub --client south=south.pub \
                 --trusted roots --fairness sp --minimum 2"
            ),
        );
        for file in ["spring.token", "east.key", "north.key", "south.key"] {
            assert_private("after round new", &world.path(file));
        }
        assert_private("after round new", &data);
        let options = format!("--data data --listen 127.0.0.1:{port} --plain-http");

        let server = Server::start(&world, umask, &options);
        let upload = begin_upload(&world, "south", port);
        let started = Instant::now();
        while !assert_private("during an upload", &data).contains(".part") {
            assert!(started.elapsed() < Duration::from_secs(20), "no part");
        }
        drop(upload);
        submit(&world, "north", port).expect(0);
        drop(server);

        for (point, moment) in [("during_validation", "uploads"), ("before_commit", "canonical")] {
            let server = Server::start(&world, umask, &format!("{options} --crash-at {point}"));
            submit(&world, "east", port).expect(2);
            server.wait_until_dead();
            assert!(assert_private(point, &data).contains(moment));
        }
        let server = Server::start(&world, umask, &format!("{options} --crash-at mid_solve"));
        submit(&world, "east", port).expect(0);
        // The answer is lost with the server.
        let _ = submit(&world, "south", port);
        server.wait_until_dead();
        assert!(assert_private("while solving", &data).contains("published/.spring/proxies/"));

        let server = Server::start(&world, umask, &options);
        assert_eq!(wait_published(&world, port)["state"], "published");
        assert!(assert_private("after publication", &data).contains("published/spring/model.json"));
        run(&world, umask, "round backup data -o backup");
        assert!(assert_private("the backup", &world.path("backup")).contains("server.key"));
        run(&world, umask, "round restore backup --data restored");
        assert!(assert_private("restored", &world.path("restored")).contains("server.key"));
        assert_private("after the backup", &data);
        world.run(&format!("status {}", at(port))).expect(0);
        drop(server);

        for folder in ["data", "backup", "restored"] {
            fs::remove_dir_all(world.path(folder)).unwrap();
        }
        for client in CLIENTS {
            for ending in ["key", "pub"] {
                fs::remove_file(world.path(&format!("{client}.{ending}"))).unwrap();
            }
        }
        fs::remove_file(world.path("spring.token")).unwrap();
    }
}

#[test]
fn the_folder_of_serve_dev_is_private() {
    let world = World::new();
    let server = Server::start(&world, "000", &format!("--dev --listen 127.0.0.1:{}", free_port()));
    let names = assert_private("serve --dev", &world.path("equipoise-dev"));
    for name in ["cert.key", "round.token", "keys/", "example/proxies/", "data/equipoise.db"] {
        assert!(names.contains(name), "{name}: {names}");
    }
    drop(server);
}

#[test]
fn keys_that_others_can_read_are_refused() {
    let world = World::new();
    let open = |file: &str| {
        let path: PathBuf = world.path(file);
        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    };
    world.run("keygen north").expect(0);
    world
        .run(
            "round new spring --data data --audience https://localhost --schema schema.toml --trusted roots \
             --client north=north.pub --fairness sp",
        )
        .expect(0);
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    world.write("cert.pem", &made.cert.pem());
    world.write("cert.key", &made.signing_key.serialize_pem());
    open("cert.key");
    let refused = |arguments: &str, file: &str| {
        // A server that starts would run for ever.
        let output = Command::new("timeout")
            .arg("20")
            .arg(env!("CARGO_BIN_EXE_equipoise"))
            .args(arguments.split_whitespace())
            .current_dir(world.path("."))
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        assert!(message.contains("other users can read this private key"), "{message}");
        assert!(message.contains(&format!("chmod 600 {file}")), "{message}");
    };
    let serve = "serve --data data --listen 127.0.0.1:0";
    refused(&format!("{serve} --cert cert.pem --cert-key cert.key"), "cert.key");
    open("data/server.key");
    refused(&format!("{serve} --plain-http"), "data/server.key");
    open("north.key");
    let submit = "submit data.csv --key north.key --server https://localhost --round spring";
    refused(submit, "north.key");
}
