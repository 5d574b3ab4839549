//! `experiment`: its JSON document, files and errors, and an interrupted run.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use equipoise_core::Choice;
use equipoise_lab::Variant;

use crate::world::World;

const SMALL: &str = "experiment --dataset synthetic --people 2000 --fairness sp --unreliable 0.4 --seeds 2 \
                     --root-share 0.05 --profile default --generator smoothed";

#[test]
fn prints_one_cell_per_scenario_and_defense() {
    let world = World::new();
    let document = world.run(&format!("{SMALL} -o results --json")).expect(0).json();
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2 * Variant::ALL.len());
    let names: Vec<&str> = cells.iter().map(|cell| cell["defense"].as_str().unwrap()).collect();
    let defenses: Vec<&str> = Variant::ALL.iter().map(Choice::name).collect();
    assert_eq!(names[..defenses.len()], defenses);
    assert!(["bilevel", "bilevel-rho0", "trust", "pooled"].iter().all(|d| defenses.contains(d)));
    for cell in cells {
        assert_eq!(cell["dataset"], "synthetic");
        assert_eq!(cell["fairness"], "sp");
        assert_eq!(cell["unreliable"], 0.4);
        assert_eq!(cell["seeds"], 2);
        let accuracy = cell["accuracy_mean"].as_f64().unwrap();
        assert!((50.0..100.0).contains(&accuracy), "{accuracy} is not a percentage");
        for name in ["accuracy_std", "balanced_accuracy_mean", "fairness_mean", "fairness_std"] {
            assert!(cell[name].as_f64().unwrap() >= 0.0, "{name}");
        }
        assert!(cell["seconds"].as_f64().unwrap() >= 0.0);
        assert_eq!(cell["weights"].as_array().unwrap().len(), 2);
        assert_eq!(cell["weights"][0].as_array().unwrap().len(), 5);
        assert_eq!(cell["unreliable_clients"][0].as_array().unwrap().len(), 2);
    }
    for name in ["report.html", "RESULTS.md", "results.csv", "traces.csv", "results.jsonl"] {
        assert!(world.path("results").join(name).is_file(), "{name} is missing");
    }
    let text = world.read("results/RESULTS.md");
    assert!(text.contains("equipoise experiment --dataset synthetic"), "no command line");
}

#[test]
fn a_killed_run_resumes_and_gives_the_same_results() {
    let world = World::new();
    world.run(&format!("{SMALL} -o whole")).expect(0);
    let mut child = Command::new(env!("CARGO_BIN_EXE_equipoise"))
        .args(SMALL.split_whitespace())
        .args(["-o", "killed", "--threads", "1"])
        .current_dir(world.path("."))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let lines = || {
        let journal = std::fs::read_to_string(world.path("killed/results.jsonl"));
        journal.map_or(0, |text| text.lines().count())
    };
    while lines() < 2 && started.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(lines() >= 2, "no cell finished in two minutes");
    assert!(!world.path("killed/results.csv").exists(), "the run finished before it was killed");
    world.run(&format!("{SMALL} -o killed")).expect(0);
    assert_eq!(world.read("killed/results.csv"), world.read("whole/results.csv"));
}

#[test]
fn rejects_invalid_settings() {
    let world = World::new();
    let run = |arguments: &str| world.run(&format!("experiment {arguments} -o results")).expect(2);
    run("--dataset law-school --data nowhere").says(&["law-school", "nowhere", "data fetch"]);
    run("--dataset lawschool").says(&["lawschool", "law-school, dutch, synthetic or csv"]);
    run("--dataset csv --data own.csv").says(&["--schema"]);
    run("--dataset csv --schema schema.toml --data own.csv").says(&["own.csv"]);
    run("--dataset synthetic,synthetic").says(&["synthetic", "twice"]);
    run("--dataset synthetic --unreliable 1.5").says(&["unreliable", "1.5"]);
    run("--dataset synthetic --people 2000 --root-share 0.0005").says(&["synthetic", "root"]);
    assert!(!world.path("results/report.html").exists());
}
