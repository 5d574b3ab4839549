//! `doctor`: what the program finds on this machine.

use crate::world::World;

#[test]
fn describes_the_machine_and_says_that_everything_works() {
    let world = World::new();
    let before = world.names();
    let run = world.run("doctor --threads 2").expect(0);
    for part in [
        &format!("equipoise {}", env!("CARGO_PKG_VERSION")),
        "vector instructions",
        "2 threads",
        "memory limits",
        "temporary files",
        "sandbox of `serve`",
        "resource_limits",
        "keygen -o",
        "serve --data",
        "everything works",
    ] {
        assert!(run.stdout.contains(part), "no {part:?} in {}", run.stdout);
    }
    let document = world.run("doctor --json").expect(0).json();
    assert_eq!(document["problems"].as_array().unwrap().len(), 0);
    assert!(document["memory"]["physical_bytes"].as_u64().unwrap() > 1 << 20);
    assert!(document["temporary_folder"]["free_bytes"].as_u64().unwrap() > 0);
    assert_eq!(document["processor"]["threads"], document["processor"]["cores"]);
    assert_eq!(world.names(), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_machine_on_which_nothing_would_work_gives_exit_code_1_and_advice() {
    let world = World::new();
    let run = world.run_with("doctor", &[("TMPDIR", "/no/such/folder")]).expect(1);
    for part in ["PROBLEM: temporary files", "/no/such/folder", "TMPDIR", "`serve` cannot start"] {
        assert!(run.stdout.contains(part), "no {part:?} in {}", run.stdout);
    }
}
