//! `predict` on tables with rows that cannot be scored.

use crate::world::{HEADER, World};

/// A world with a model in `out/`, and rows to score: the first and the last are fine.
fn world() -> World {
    let world = World::with_proxies();
    world.defend("--fairness sp -o out").expect(0);
    let rows = ["1,50,1,coast,A,1", "2,,1,moon,A,1", "3,abc,1,coast,A,1", "4,40,0,moon,B,?"];
    world.write("new.csv", &format!("{HEADER}\n{}\n5,45,0,hills,B,0\n", rows.join("\n")));
    world.write("fine.csv", &format!("{HEADER}\n{}\n5,45,0,hills,B,0\n", rows[0]));
    world
}

#[test]
fn the_other_rows_are_scored() {
    let world = world();
    let run = world.run("predict out/model.json new.csv -o scores.csv").expect(1);
    assert!(run.stdout.starts_with("2 rows scored; "), "{}", run.stdout);
    let reasons = "\
warning: 3 of 5 rows could not be scored; the column `reason` says why
  rows  column  problem
     2  region  is not one of the levels `coast`, `hills`, `plain`
     1  score   is not a number
     1  score   the value is missing
";
    run.says(&[reasons, "note: wrote scores.csv"]);

    world.run("predict out/model.json fine.csv -o fine-scores.csv").expect(0);
    let fine = world.read("fine-scores.csv");
    let fine: Vec<&str> = fine.lines().collect();
    let scores = world.read("scores.csv");
    let scores: Vec<&str> = scores.lines().collect();
    assert_eq!(fine[0], "row,score,probability,selected");
    assert_eq!(scores[0], "row,score,probability,selected,reason");
    assert_eq!(scores[1], format!("{},", fine[1]));
    let unknown = "`region`: `moon` is not one of the levels `coast`, `hills`, `plain`";
    assert_eq!(scores[2], format!("2,,,,\"`score`: the value is missing; {unknown}\""));
    assert_eq!(scores[3], "3,,,,`score`: `abc` is not a number");
    assert_eq!(scores[4], format!("4,,,,\"{unknown}\""));
    assert_eq!(scores[5], format!("5{},", fine[2].strip_prefix('2').unwrap()));
    assert_eq!(scores.len(), 6);
}

#[test]
fn counts_and_reasons_are_in_the_json_document() {
    let world = world();
    let run = world.run("predict out/model.json new.csv -o scores.parquet --json").expect(1);
    let document = run.json();
    assert_eq!((&document["rows"], &document["unscored"]), (&5.into(), &3.into()));
    let first = &document["reasons"][0];
    assert_eq!((&first["column"], &first["rows"]), (&"region".into(), &2.into()));
    let fine = world.run("predict out/model.json fine.csv -o fine.parquet --json").expect(0).json();
    assert_eq!((&fine["unscored"], &fine["reasons"]), (&0.into(), &serde_json::json!([])));
}

#[test]
fn a_table_without_a_row_that_can_be_scored_is_still_answered() {
    let world = world();
    world.write("new.csv", &format!("{HEADER}\n1,x,1,coast,A,1\n"));
    let run = world.run("predict out/model.json new.csv -o scores.csv").expect(1);
    assert!(run.stdout.starts_with("0 rows scored; 0 selected (—)"), "{}", run.stdout);
    run.says(&["1 of 1 row could not be scored"]);
    let expected = "row,score,probability,selected,reason\n1,,,,`score`: `x` is not a number\n";
    assert_eq!(world.read("scores.csv"), expected);
}

#[test]
fn a_table_that_cannot_be_read_writes_nothing() {
    let world = world();
    let before = world.names();
    for (table, says) in [
        ("id,work,region,group\n1,1,coast,A\n", "column `score`: the table has no such column"),
        ("id,score,work,region,group\n1,x,1,coast\n", "line 2 has 4 cells"),
        ("id,score,work,region,group\n", "no rows"),
    ] {
        world.write("new.csv", table);
        world.run("predict out/model.json new.csv -o scores.csv").expect(2).says(&[says]);
    }
    assert_eq!(world.names(), before);
}

#[test]
fn doubtful_scores_have_a_note_and_columns_can_be_kept() {
    let world = World::with_proxies();
    let infer = "schema infer data.csv --label passed=1 --sensitive group=A --drop id";
    world
        .run(&format!("{infer} --unknown other --fill mean,mode -o schema.toml --force"))
        .expect(0);
    for client in ["east", "north"] {
        let proxy = format!("proxy {client}.csv --schema schema.toml --fairness sp --force");
        world.run(&format!("{proxy} -o proxies/{client}.parquet")).expect(0);
    }
    world.defend("--fairness sp -o out").expect(0);
    let rows = ["7,50,1,coast,A,1", "8,,1,moon,A,1", "9,5e6,0,hills,B,0"];
    world.write("new.csv", &format!("{HEADER}\n{}\n", rows.join("\n")));
    let run = world.run("predict out/model.json new.csv --keep id -o scores.csv --json").expect(0);
    assert_eq!(run.json()["with_notes"], 2);
    run.says(&["2 rows scored with filled, unknown or unusual values"]);
    let scores = world.read("scores.csv");
    let lines: Vec<&str> = scores.lines().collect();
    assert_eq!(lines[0], "row,id,score,probability,selected,note");
    assert!(lines[1].starts_with("1,7,") && lines[1].ends_with(','), "{}", lines[1]);
    let note =
        "\"`score` is missing and was filled; `region`: `moon` is unknown and counts as other\"";
    let is_marked = lines[2].ends_with(note) || lines[2].ends_with(&note.replace('"', ""));
    assert!(lines[2].starts_with("2,8,") && is_marked, "{}", lines[2]);
    assert!(lines[3].contains("`score`: 5e6 is more than 10 standard deviations"), "{}", lines[3]);

    for (keep, says) in [
        ("--keep score", "--keep score: the scores have a column of that name"),
        ("--keep id --keep id", "given twice"),
        ("--keep idd", "no such column. Did you mean `id`?"),
    ] {
        let run = world.run(&format!("predict out/model.json new.csv {keep} -o no.csv")).expect(2);
        run.says(&[says]);
        assert!(!world.path("no.csv").exists());
    }
}

#[test]
fn a_threshold_decides_who_is_selected() {
    let world = World::with_proxies();
    world.defend("--fairness sp -o out").expect(0);
    let selected = |threshold: &str| {
        let predict = "predict out/model.json test.csv --force -o scores.csv --json";
        world.run(&format!("{predict} --threshold {threshold}")).expect(0).json()["selected"]
            .as_u64()
            .unwrap()
    };
    let default = world.run("predict out/model.json test.csv -o d.csv --json").expect(0).json();
    assert_eq!(default["selected"], selected("0.5"));
    assert!(selected("0.3") > selected("0.5") && selected("0.5") > selected("0.7"));
    let predict = "predict out/model.json test.csv -o no.csv";
    world.run(&format!("{predict} --threshold 1")).expect(2).says(&["--threshold must be above 0"]);
}

#[test]
fn a_misspelt_group_is_not_scored_as_the_other_group() {
    let world = World::with_proxies();
    world.defend("--fairness sp -o out").expect(0);
    let rows = ["1,50,1,coast,A,1", "2,50,1,coast,a,1", "3,40,0,hills,B,0"];
    world.write("new.csv", &format!("{HEADER}\n{}\n", rows.join("\n")));
    world.run("predict out/model.json new.csv -o scores.csv").expect(1);
    let scores = world.read("scores.csv");
    let expected = "`group`: `a` belongs to no group: the schema has `B`, `A`";
    assert!(scores.contains(expected), "{scores}");
}
