//! Exit code 1: the command ran, and the answer is "no".

use crate::world::World;

const CHECK: &str = "--data east.csv --schema schema.toml --fairness sp --epsilon 0.01";

#[test]
fn check_exits_with_1_for_an_unfair_proxy() {
    let world = World::new();
    world.write_encoded("east.csv", "raw.csv");
    let run = world.run(&format!("check raw.csv {CHECK}")).expect(1);
    assert!(run.stdout.contains("NOT fair: the covariance is"), "{}", run.stdout);
    let document = world.run(&format!("check raw.csv {CHECK} --json")).expect(1).json();
    assert_eq!((&document["fair"], &document["separation"]), (&false.into(), &"none".into()));
    assert!(document["violation"].as_f64().unwrap() > 0.01);
}

#[test]
fn check_compares_the_worst_gap_with_the_largest_allowed() {
    let world = World::with_proxies();
    let check = |proxy: &str, max: &str| {
        world.run(&format!(
            "check {proxy} --data east.csv --schema schema.toml --fairness sp --max-gap {max}"
        ))
    };
    let run = check("proxies/east.parquet", "0.05").expect(0);
    assert!(run.stdout.starts_with("fair: the worst gap is 0.0"), "{}", run.stdout);
    world.write_encoded("east.csv", "raw.csv");
    let run = check("raw.csv", "0.05").expect(1);
    assert!(run.stdout.starts_with("NOT fair: the worst gap is 0.3"), "{}", run.stdout);
    check("raw.csv", "0.5").expect(0);
    check("raw.csv", "1.5").expect(2).says(&["--max-gap must be between 0 and 1"]);
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
            .contains("NOT fair: the proxy's labels are linearly separable, so without regularisation it has no model"),
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
    let run = world
        .defend("--fairness sp --defense bilevel --iterations 1 --rho-start 1e4 -o out")
        .expect(1);
    assert!(run.stdout.contains("NOT converged"), "{}", run.stdout);
    let outcome = world.json("out/outcome.json");
    assert_eq!(outcome["termination"], "iteration-limit");
    assert_eq!(outcome["warnings"][0]["code"], "not-stationary");
}

#[test]
fn defend_exits_with_1_if_a_requirement_is_missed_and_with_0_if_the_root_cannot_tell() {
    let world = World::with_proxies();
    // The share of right answers is surely below 0.999, surely above 0.01, and the root is too small to tell whether the gap is above 0.2.
    for (required, code, verdict, sentence) in [
        ("accuracy=0.999", 1, "fail", "fail: the accuracy is "),
        ("accuracy=0.01", 0, "pass", "pass: the accuracy is "),
        ("gap=0.2,accuracy=0.01", 0, "unknown", "cannot tell with this root: the gap in "),
        ("gap=0.2,accuracy=0.999", 1, "fail", "fail: the accuracy is "),
    ] {
        let options = format!("--fairness sp --defense pooled --require {required} --force -o out");
        let run = world.defend(&options).expect(code);
        assert!(run.stdout.starts_with(sentence), "{required}: {}", run.stdout);
        let document = world.defend(&(options + " --json")).expect(code).json();
        let stored = world.json("out/outcome.json");
        assert_eq!(document["verdict"], verdict, "{required}");
        assert_eq!(stored["verdict"], verdict, "{required}");
        assert_eq!(document["judgements"], stored["judgements"]);
        assert_eq!(stored["settings"]["requirements"], required);
        let judged = document["judgements"].as_array().unwrap();
        assert_eq!(judged.len(), required.split(',').count());
        for judgement in judged {
            let needed = judgement["rows_needed"].as_u64();
            let is_unknown = judgement["verdict"] == "unknown";
            assert_eq!(needed.is_some(), is_unknown, "{judgement}");
        }
    }
    let document = world.defend("--fairness sp --defense pooled -o free --json").expect(0).json();
    assert_eq!(document["verdict"], "none");
    assert_eq!(document["judgements"].as_array().unwrap().len(), 0);
}

#[test]
fn evaluate_exits_with_1_if_a_requirement_is_missed() {
    let world = World::with_proxies();
    world.defend("--fairness sp --defense pooled -o out").expect(0);
    for (required, code, verdict, sentence) in [
        ("accuracy=0.999", 1, "fail", "fail: the accuracy is "),
        ("balanced-accuracy=0.01", 0, "pass", "pass: the balanced accuracy is "),
        ("gap=0.3", 0, "unknown", "cannot tell with these rows: the gap in true positive rate"),
    ] {
        let command =
            format!("evaluate out/model.json east.csv --fairness eo --require {required}");
        let run = world.run(&command).expect(code);
        assert!(run.stdout.starts_with(sentence), "{required}: {}", run.stdout);
        let document = world.run(&(command + " --json")).expect(code).json();
        assert_eq!(document["verdict"], verdict);
        assert_eq!(document["judgements"][0]["verdict"], verdict);
    }
    let document = world.run("evaluate out/model.json east.csv --json").expect(0).json();
    assert_eq!(document["verdict"], "none");
}

#[test]
fn a_wrong_requirement_is_named() {
    let world = World::with_proxies();
    for (wrong, says) in [
        ("gap", "`gap` is not a requirement such as gap=0.05"),
        ("gap=5", "`gap` must be above 0 and at most 1"),
        ("parity=0.1", "`parity` cannot be required"),
        ("gap=0.1,gap=0.2", "`gap` is required twice"),
    ] {
        let run = world.defend(&format!("--fairness sp --require {wrong} -o out")).expect(2);
        run.says(&["--require", says]);
        let run = world.run(&format!("evaluate out/model.json east.csv --require {wrong}"));
        run.expect(2).says(&["--require", says]);
    }
    assert!(!world.path("out").exists());
}

#[test]
fn evaluate_judges_by_the_criterion_that_the_model_was_made_for() {
    let world = World::with_proxies();
    world.defend("--fairness eo -o out");
    let fairness = |more: &str| {
        world.run(&format!("evaluate out/model.json test.csv --json {more}")).json()["fairness"]
            .clone()
    };
    assert_eq!(fairness(""), "eo");
    assert_eq!(fairness("--fairness sp"), "sp");
    // Models of earlier versions do not name their criterion.
    let mut model = world.json("out/model.json");
    model.as_object_mut().unwrap().remove("fairness");
    world.write("out/model.json", &model.to_string());
    assert_eq!(fairness(""), "sp");
}
