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
    assert!(["bilevel", "bilevel-rho0", "tilt", "pooled"].iter().all(|d| defenses.contains(d)));
    for cell in cells {
        assert_eq!(cell["dataset"], "synthetic");
        assert_eq!(cell["fairness"], "sp");
        assert_eq!(cell["unreliable"], 0.4);
        assert_eq!(cell["seeds"], 2);
        let accuracy = cell["accuracy"]["mean"].as_f64().unwrap();
        assert!((50.0..100.0).contains(&accuracy), "{accuracy} is not a percentage");
        for name in ["accuracy", "balanced", "gap", "seconds"] {
            for figure in ["mean", "std"] {
                assert!(cell[name][figure].as_f64().unwrap() >= 0.0, "{name}");
            }
        }
        assert_eq!(cell["weights"].as_array().unwrap().len(), 2);
        assert_eq!(cell["weights"][0].as_array().unwrap().len(), 5);
        assert_eq!(cell["unreliable_clients"][0].as_array().unwrap().len(), 2);
    }
    for name in ["report.html", "results.csv", "results.jsonl"] {
        assert!(world.path("results").join(name).is_file(), "{name} is missing");
    }
    let text = world.read("results/report.html");
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
    run("--dataset synthetic --people 2000 --clients 1900 --seeds 1")
        .says(&["none of the", "synthetic, sp"]);
    run("--dataset synthetic --schema schema.toml").says(&["--schema", "--dataset csv"]);
    run("--dataset law-school --schema schema.toml").says(&["--schema", "--dataset csv"]);
    run("--dataset synthetic --data north.csv").says(&["--data", "synthetic", "Remove it"]);
    run("--dataset synthetic --people 0").says(&["--people must be at least 1"]);
    run("--dataset synthetic --split odd").says(&["--split", "even", "sizes"]);
    assert!(!world.path("results/report.html").exists());
}

/// A table with 3000 people and its schema.
fn with_own_table() -> World {
    let world = World::new();
    let mut text = "score,age,group,passed\n".to_owned();
    for i in 0..3000_u32 {
        let (score, age, group) = (i * 37 % 101, 20 + i * 13 % 47, i * 7 % 3);
        let passed = score + 20 * group + i * 11 % 60 > 90;
        let group = if group == 0 { "b" } else { "a" };
        text += &format!("{score},{age},{group},{}\n", u8::from(passed));
    }
    world.write("people.csv", &text);
    world.run("schema infer people.csv --label passed=1 --sensitive group=a -o own.toml").expect(0);
    world
}

#[test]
fn your_own_table_runs_with_the_defaults_of_proxy_and_defend() {
    let world = with_own_table();
    let own = "experiment --dataset csv --data people.csv --schema own.toml --fairness sp --seeds 2 --unreliable 0.4";
    let run = world.run(&format!("{own} --scenario realistic -o own")).expect(0);
    assert!(run.stdout.contains("people.csv"), "{}", run.stdout);
    let text = world.read("own/report.html");
    let expected = [
        "people.csv (|SPD|), 5 clients",
        "1\u{202f}%",
        "labels drawn from a fair target model",
        "The default defense",
    ];
    for part in expected {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    for paper in [">Paper", "Table I", "Figure 2", "Diff."] {
        assert!(!text.contains(paper), "{paper} is on the page");
    }
    // Progress is for terminals.
    assert!(!run.stderr.contains("left"), "{}", run.stderr);

    // Other settings are refused, with what to do, and nothing is changed.
    let journal = world.read("own/results.jsonl");
    world.run(&format!("{own} --scenario realistic --root-share 0.02 -o own")).expect(2).says(&[
        "other settings",
        "repeat its settings",
        "choose another folder",
    ]);
    assert_eq!(world.read("own/results.jsonl"), journal);
    world.run(&format!("{own} --people 4000 -o large")).expect(2).says(&["--people", "3000"]);
    assert!(!world.path("large").exists());
}

#[test]
fn cells_that_cannot_be_run_are_reported_and_the_others_continue() {
    let world = with_own_table();
    // One root row per client: for some seeds, no positive one of a group.
    let own = "experiment --dataset csv --data people.csv --schema own.toml --fairness sp,eo --seeds 6 \
               --unreliable 0.4 --scenario realistic --root-share 0.0001 --defenses tilt,pooled";
    let run = world.run(&format!("{own} -o own --json")).expect(1);
    let document = run.json();
    let failed = document["failed"].as_array().unwrap();
    assert!(!failed.is_empty() && !document["cells"].as_array().unwrap().is_empty(), "{document}");
    let problem = failed[0]["problem"].as_str().unwrap();
    assert!(problem.contains("root") && problem.ends_with("increase --root-share"), "{problem}");
    assert_eq!(failed[0]["dataset"], "csv");
    let n_failed: usize = failed.iter().map(|split| split["cells"].as_array().unwrap().len()).sum();
    let total = format!("{n_failed} of 12 cells could not be run");
    assert!(run.stderr.contains(&total) && run.stderr.contains(problem), "{}", run.stderr);
    assert!(world.read("own/report.html").contains(&total));
    assert!(world.read("own/report.html").contains("Cells that could not be run"));
}
