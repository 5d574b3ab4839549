//! Renewing the certificate of a running server.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::world::World;

/// Killed when dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn write_certificate(world: &World) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    world.write("cert.pem", &made.cert.pem());
    world.write("cert.key", &made.signing_key.serialize_pem());
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(world.path("cert.key"), private).unwrap();
}

/// Makes the server reload its certificate, and waits until its log contains `message`.
fn renew(world: &World, server: &Server, message: &str) {
    let pid = server.0.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &pid]).status().unwrap().success());
    let started = Instant::now();
    while !world.read("server.log").contains(message) {
        assert!(started.elapsed() < Duration::from_secs(20), "{}", world.read("server.log"));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_renewed_certificate_is_used_and_an_invalid_one_is_not() {
    let world = World::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for client in crate::world::CLIENTS {
        world.run(&format!("keygen {client}")).expect(0);
    }
    world
        .run(&format!(
            "round new spring --data data --audience https://localhost:{port} --schema schema.toml \
             --client east=east.pub --client north=north.pub --client south=south.pub \
             --trusted roots --fairness sp --max-bytes 2MB --max-rows 1000 --max-columns 9 \
             --max-decoded 1GiB --max-ratio 50"
        ))
        .expect(0);
    write_certificate(&world);
    world.write("old.pem", &world.read("cert.pem"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_equipoise"))
        .args(["serve", "--data", "data", "--cert", "cert.pem", "--cert-key", "cert.key"])
        .args(["--listen", &format!("127.0.0.1:{port}")])
        .current_dir(world.path("."))
        .stdout(Stdio::piped())
        .stderr(std::fs::File::create(world.path("server.log")).unwrap())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let server = Server(child);
    let status = |ca: &str| {
        world.run(&format!(
            "status --server https://localhost:{port} --round spring --ca {ca} --json"
        ))
    };
    let limits = status("old.pem").expect(0).json()["limits"].clone();
    assert_eq!(limits["body_bytes"], 2_000_000);
    assert_eq!((&limits["rows"], &limits["columns"]), (&1000.into(), &9.into()));

    write_certificate(&world);
    renew(&world, &server, "certificate reloaded");
    status("cert.pem").expect(0);
    status("old.pem").expect(2).says(&["its certificate is not trusted"]);

    world.write("new.pem", &world.read("cert.pem"));
    world.write("cert.pem", "nothing\n");
    renew(&world, &server, "cannot reload the certificate");
    status("new.pem").expect(0);
}
