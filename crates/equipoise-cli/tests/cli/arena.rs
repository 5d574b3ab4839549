//! `arena`: its JSON document, files and errors, and a resumed run.

use equipoise_core::Choice;
use equipoise_lab::{Attack, Contender};

use crate::world::World;

const SMALL: &str = "arena --dataset synthetic --people 2000 --attacks raw-rows --rates 0,0.4 --seeds 2 \
                     --root-share 0.05";

#[test]
fn prints_the_ranking_and_every_matchup() {
    let world = World::new();
    let document = world.run(&format!("{SMALL} -o results --json")).expect(0).json();
    let ranking = document["ranking"].as_array().unwrap();
    assert_eq!(ranking.len(), Contender::ALL.len());
    for standing in ranking {
        assert_eq!(standing["matchups"], 2);
        let (low, high) = (standing["gap_low"].as_f64(), standing["gap_high"].as_f64());
        assert!(low < high, "{standing}");
    }
    let matchups = document["matchups"].as_array().unwrap();
    assert_eq!(matchups.len(), 2 * (Contender::ALL.len() + Contender::REFERENCES.len()));
    let tilt =
        matchups.iter().find(|m| m["contender"] == "tilt" && m["attack"] == "raw-rows").unwrap();
    assert_eq!((&tilt["dataset"], &tilt["fairness"]), (&"synthetic".into(), &"sp".into()));
    assert_eq!(tilt["gaps"].as_array().unwrap().len(), 2);
    assert!((0.5..1.0).contains(&tilt["accuracy"].as_f64().unwrap()));
    assert!(tilt["unreliable_weight"].as_f64().unwrap() <= 1.0);
    for loss in document["losses"].as_array().unwrap() {
        assert!(loss["place"].is_string() && loss["gap"].is_number(), "{loss}");
    }
    let page = world.read("results/arena.html");
    assert!(page.contains("equipoise arena --dataset synthetic"), "no command line");

    // The text has a line for each contender, and nothing is computed again.
    let before = world.read("results/results.jsonl");
    let run = world.run(&format!("{SMALL} -o results --threads 1")).expect(0);
    let lines = Contender::ALL.iter().filter(|c| run.stdout.contains(c.name())).count();
    assert_eq!(lines, Contender::ALL.len(), "{}", run.stdout);
    assert_eq!(world.read("results/results.jsonl"), before);
}

#[test]
fn a_truncated_journal_is_completed_with_the_same_results() {
    let world = World::new();
    let small = format!("{SMALL} --defenses tilt,pooled --fairness eo");
    world.run(&format!("{small} -o whole")).expect(0);
    let journal = world.read("whole/results.jsonl");
    std::fs::create_dir(world.path("cut")).unwrap();
    world.write("cut/results.jsonl", &journal[..journal.len() * 2 / 3]);
    world.run(&format!("{small} -o cut --threads 1")).expect(0);
    assert_eq!(world.read("cut/results.csv"), world.read("whole/results.csv"));
}

#[test]
fn rejects_invalid_settings() {
    let world = World::new();
    let run = |arguments: &str| world.run(&format!("arena {arguments} -o results")).expect(2);
    let attacks: Vec<&str> = Attack::ALL.iter().map(Choice::name).collect();
    run("--attacks bribery").says(&["bribery"]).says(&attacks);
    run("--defenses tilt,luck").says(&["luck", "pooled", "coordinate-median"]);
    run("--fairness equality").says(&["equality", "equalized-odds"]);
    run("--dataset law-school --data nowhere").says(&["law-school", "nowhere", "data fetch"]);
    run("--dataset lawschool").says(&["lawschool", "law-school, dutch, synthetic or csv"]);
    run("--dataset csv --data own.csv").says(&["--schema"]);
    run("--dataset synthetic,synthetic").says(&["synthetic with sp", "twice"]);
    run("--dataset synthetic --rates 1.5").says(&["--rates", "1.5"]);
    run("--dataset synthetic --schema schema.toml").says(&["--schema", "--dataset csv"]);
    run("--dataset synthetic --split odd").says(&["--split", "even", "sizes"]);
    run("--dataset synthetic --rates x").says(&["--rates", "x"]);
    run("--dataset synthetic --people 2000 --root-share 0.0005").says(&["synthetic", "root"]);
    assert!(!world.path("results/arena.html").exists());
}
