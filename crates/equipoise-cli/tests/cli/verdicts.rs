//! Exit code 1: the command ran, and the answer is "no".

use crate::world::World;

const CHECK: &str = "--data east.csv --schema schema.toml --fairness sp --epsilon 0.01";

#[test]
fn check_exits_with_1_for_an_unfair_proxy() {
    let world = World::new();
    world.write_encoded("east.csv", "raw.csv");
    let run = world.run(&format!("check raw.csv {CHECK}")).expect(1);
    assert!(run.stdout.contains("NOT fair: violation"), "{}", run.stdout);
    let document = world.run(&format!("check raw.csv {CHECK} --json")).expect(1).json();
    assert_eq!((&document["fair"], &document["separation"]), (&false.into(), &"none".into()));
    assert!(document["violation"].as_f64().unwrap() > 0.01);
}

#[test]
fn check_explains_why_a_separable_proxy_is_not_fair() {
    let world = World::new();
    // The score determines the label, so the labels are separable.
    let rows = "50,0,coast,A,1\n60,0,coast,B,1\n10,1,hills,A,0\n20,0,plain,B,0\n";
    world.write("few.csv", &format!("score,work,region,group,passed\n{rows}"));
    world.write_encoded("few.csv", "separable.csv");
    let run = world.run(&format!("check separable.csv {CHECK}")).expect(1);
    assert!(
        run.stdout
            .contains("NOT fair: the proxy's labels are linearly separable, so it has no model"),
        "{}",
        run.stdout
    );
    let document = world.run(&format!("check separable.csv {CHECK} --json")).expect(1).json();
    assert_eq!(document["separation"], "complete");
}

#[test]
fn proxy_exits_with_1_for_an_unreachable_tolerance_and_still_writes_the_proxy() {
    let world = World::new();
    let options = "--schema schema.toml --fairness sp --rows 40 --epsilon 1e-30 -o p.csv --json";
    let document = world.run(&format!("proxy east.csv {options}")).expect(1).json();
    assert_eq!(document["definition_1"]["fair"], false);
    assert!(world.path("p.csv").exists());
}

#[test]
fn defend_exits_with_1_at_the_iteration_limit_and_still_writes_the_folder() {
    let world = World::with_proxies();
    let run = world.defend("--fairness sp --iterations 1 --rho-start 1e4 -o out").expect(1);
    assert!(run.stdout.contains("NOT converged"), "{}", run.stdout);
    let outcome = world.json("out/outcome.json");
    assert_eq!(outcome["termination"], "iteration-limit");
    assert_eq!(outcome["warnings"][0]["code"], "not-stationary");
}
