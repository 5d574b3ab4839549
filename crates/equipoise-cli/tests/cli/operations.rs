//! Runs the shell blocks of `docs/OPERATIONS.md` in one shell, so that the document stays correct.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use crate::world::World;

/// The fenced blocks of a language, joined.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--help").output().is_ok()
}

#[test]
fn the_commands_in_the_operations_document_work() {
    if !["bash", "openssl", "curl"].into_iter().all(has) {
        println!("SKIPPED: bash, openssl and curl are needed");
        return;
    }
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/OPERATIONS.md");
    let blocks = blocks(&std::fs::read_to_string(document).unwrap(), "sh");
    assert!(blocks.len() >= 8, "{blocks:?}");
    let world = World::with_proxies();
    // Bound at the same time, so that the ports differ.
    let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [public, admin] = [0, 1].map(|i| ports[i].local_addr().unwrap().port().to_string());
    drop(ports);
    // Kill the server even if a command fails.
    let guard = "server=\ntrap 'kill -9 $server 2> /dev/null || true' EXIT\n";
    let script = format!("{guard}{}", blocks.join("\n"));
    let script = script.replace("8443", &public).replace("9090", &admin);
    world.write("script", &script);
    let programs = Path::new(env!("CARGO_BIN_EXE_equipoise")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let output = Command::new("timeout")
        .args(["240", "bash", "-euo", "pipefail", "script"])
        .env("PATH", path)
        .current_dir(world.path("."))
        .output()
        .unwrap();
    let log = std::fs::read_to_string(world.path("server.log")).unwrap_or_default();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{stdout}\n{}\n{log}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(log.contains("certificate reloaded"), "{log}");
    assert!(world.path("spring/model.json").exists());
    assert!(world.path("restored/equipoise.db").exists());

    // A backup that someone changed.
    world.write("backup/server.pub", "x");
    world.run("round restore backup --data other").expect(2).says(&["server.pub", "SHA-256"]);
    assert!(!world.path("other").exists());
    world
        .run("round backup data -o backup")
        .expect(2)
        .says(&["already exists and is not an empty folder"]);
    let made = world.run("round backup data -o again --json").expect(0).json();
    let sha256 = made["sha256"].as_str().unwrap();
    let zeros = "0".repeat(64);
    world.run(&format!("round restore again --data other --sha256 {zeros}")).expect(2);
    world.run(&format!("round restore again --data other --sha256 {sha256}")).expect(0);
}
