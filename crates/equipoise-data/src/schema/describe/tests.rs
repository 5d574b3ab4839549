#![allow(clippy::unwrap_used)]

use std::path::Path;

use super::*;
use crate::table::open_table;

fn options() -> DescribeOptions {
    DescribeOptions {
        client: "north".into(),
        label: ("passed".into(), Some("1".into())),
        sensitive: vec![("race".into(), Some("White".into())), ("sex".into(), None)],
        drop: vec!["id".into()],
        min_rows: DEFAULT_MIN_ROWS,
        ..DescribeOptions::default()
    }
}

fn run(text: &str, options: &DescribeOptions) -> Result<Described, Error> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("north.csv");
    std::fs::write(&path, text).unwrap();
    describe(open_table(&path)?, options)
}

/// 40 rows: `score` has many numbers, `tier` is 1 or 2 and twice 77, `town` is Ulm or Bonn and once Hidden; a
/// combination of race and sex and one of its values are rare.
fn table() -> String {
    let row = |i: usize| {
        let score = if i == 7 { String::new() } else { format!("{}.5", i * i) };
        let tier = if i % 20 == 3 { 77 } else { 1 + i % 2 };
        let town = if i == 9 { "Hidden" } else { ["Ulm", "Bonn"][i % 2] };
        let race = ["White", "White", "Rare", "Black"][if i == 2 { 2 } else { i % 2 * 3 }];
        let sex = if i < 36 { "f" } else { "m" };
        format!("{i},{score},{tier},{town},{race},{sex},{}\n", i % 2)
    };
    "id,score,tier,town,race,sex,passed\n".to_owned() + &(0..40).map(row).collect::<String>()
}

#[test]
fn a_description_has_counts_and_moments_of_frequent_values_only() {
    let Described { description, notes } = run(&table(), &options()).unwrap();
    assert_eq!((description.client.as_str(), description.rows), ("north", 40));
    assert_eq!(description.dropped, ["id"]);
    let column = |name: &str| description.column(name).unwrap();
    let values = |name: &str| -> Vec<(String, u64)> {
        let values = column(name).values.clone().unwrap();
        values.into_iter().map(|level| (level.value, level.rows)).collect()
    };
    let own = |pairs: &[(&str, u64)]| -> Vec<(String, u64)> {
        pairs.iter().map(|(value, rows)| (value.to_string(), *rows)).collect()
    };

    let score = column("score");
    assert_eq!((score.missing, score.withheld, &score.values), (1, 0, &None));
    let numbers = (0..40).filter(|i| *i != 7).map(|i| f64::from(i * i) + 0.5);
    let mean = numbers.clone().sum::<f64>() / 39.0;
    let variance = numbers.map(|n| (n - mean).powi(2)).sum::<f64>() / 39.0;
    let moments = score.moments.unwrap();
    assert_eq!(moments.count, 39);
    assert!((moments.mean / mean - 1.0).abs() < 1e-14);
    assert!((moments.variance / variance - 1.0).abs() < 1e-13);

    // The two rows of tier 77 are in no figure but `withheld`: the mean is that of 20 ones and 18 twos.
    assert_eq!((values("tier"), column("tier").withheld), (own(&[("1", 20), ("2", 18)]), 2));
    let moments = column("tier").moments.unwrap();
    assert_eq!(moments.count, 38);
    assert!((moments.mean - 56.0 / 38.0).abs() < 1e-15);
    assert_eq!((values("town"), column("town").withheld), (own(&[("Bonn", 19), ("Ulm", 20)]), 1));
    assert_eq!(values("passed"), own(&[("0", 20), ("1", 20)]));

    // No count per column from which the size of a withheld group would follow.
    assert_eq!((&column("race").values, column("race").moments), (&None, None));
    let groups: Vec<_> =
        description.groups.iter().map(|group| (group.values.join("/"), group.rows)).collect();
    assert_eq!(groups, own(&[("Black/f", 18), ("White/f", 17)]));
    assert_eq!(description.withheld_groups, 5);

    let json = description.to_json();
    for secret in ["Hidden", "\"77\"", "Rare", "\"m\""] {
        assert!(!json.contains(secret), "{secret}: {json}");
        assert!(notes.iter().any(|note| note.contains(secret.trim_matches('"'))), "{notes:?}");
    }
    assert!(description.rule.contains("fewer than 5 rows"), "{}", description.rule);
}

#[test]
fn everything_can_be_listed_and_read_back() {
    let all = run(&table(), &DescribeOptions { min_rows: 1, ..options() }).unwrap();
    let json = all.description.to_json();
    for part in ["Hidden", "77", "Rare"] {
        assert!(json.contains(part), "{part}: {json}");
    }
    assert!(all.notes.is_empty(), "{:?}", all.notes);
    for Described { description, .. } in [all, run(&table(), &options()).unwrap()] {
        let read = Description::from_json(&description.to_json(), Path::new("d.json")).unwrap();
        assert_eq!(read, description);
    }
}

#[test]
fn declared_kinds_decide_what_is_listed() {
    let declared = |categorical: &[&str], numeric: &[&str]| DescribeOptions {
        categorical: categorical.iter().map(|name| name.to_string()).collect(),
        numeric: numeric.iter().map(|name| name.to_string()).collect(),
        min_rows: 1,
        ..options()
    };
    let described = run(&table(), &declared(&["score"], &["tier"])).unwrap().description;
    let column = |name: &str| described.column(name).unwrap();
    assert_eq!(column("score").kind, ColumnKind::Categorical);
    assert_eq!(column("score").values.as_ref().unwrap().len(), 39);
    assert_eq!((column("tier").kind, &column("tier").values), (ColumnKind::Numeric, &None));
    assert!(column("tier").declared && column("score").declared && !column("town").declared);

    let message = run(&table(), &declared(&[], &["town"])).unwrap_err().to_string();
    assert!(message.contains("north.csv: 40 cells cannot be used"), "{message}");
    assert!(message.contains("leave out --numeric town"), "{message}");
}

#[test]
fn few_numbers_are_withheld_altogether() {
    let table = "score,race,sex,passed,id\n1,a,f,1,\n2,a,f,0,\n3,a,f,1,\n,a,f,0,\n,a,f,1,\n";
    let description = run(table, &options()).unwrap().description;
    let score = description.column("score").unwrap();
    assert_eq!((score.withheld, score.missing, score.moments), (3, 2, None));
    assert_eq!(score.values, Some(vec![]));
    let declared = DescribeOptions { numeric: vec!["score".into()], ..options() };
    let description = run(table, &declared).unwrap().description;
    let score = description.column("score").unwrap();
    assert_eq!((score.withheld, score.moments), (3, None));
}

#[test]
fn a_value_that_never_occurs_is_noted() {
    let notes = run(&table().replace("White", "white"), &options()).unwrap().notes;
    let note = notes.iter().find(|note| note.contains("`White` never occurs")).unwrap();
    assert!(note.contains("`white`"), "{note}");
}

#[test]
fn tables_that_cannot_be_described_are_refused() {
    let many = |column: &str| {
        let rows: String = (0..101).map(|i| format!("t{i},1,a,f,{}\n", i % 2)).collect();
        format!("{column},id,race,sex,{}\n{rows}", if column == "passed" { "x" } else { "passed" })
    };
    for (text, parts) in [
        (many("town"), &["column `town`", "more than 100", "--drop town"]),
        (many("passed"), &["column `passed`", "more than 100", "two values"]),
        ("passed,race,sex,id\n".to_owned(), &["north.csv", "no rows", ""]),
    ] {
        let message = run(&text, &options()).unwrap_err().to_string();
        parts.iter().for_each(|part| assert!(message.contains(part), "{message}"));
    }
}

#[test]
fn an_edited_description_is_refused() {
    let json = run(&table(), &options()).unwrap().description.to_json();
    for (from, to, part) in [
        ("\"rows\": 40,", "\"rows\": 41,", "add up to 41"),
        ("\"rows\": 40,", "\"rows\": 0,", "`rows` is 0"),
        ("\"variance\": ", "\"variance\": -", "variance"),
        ("\"count\": 38", "\"count\": 37", "different counts"),
        ("\"value\": \"Ulm\"", "\"value\": \"Bonn\"", "appears twice"),
        ("\"value\": \"Ulm\"", "\"value\": \"NA\"", "cannot be one of its values"),
        ("\"value\": \"2\"", "\"value\": \"two\"", "cannot be one of its values"),
        ("\"column\": \"town\"", "\"column\": \"tier\"", "appears twice"),
        ("\"kind\": \"label\"", "\"kind\": \"categorical\"", "not described as a label"),
        ("\"kind\": \"categorical\"", "\"kind\": \"label\"", "other roles"),
        ("\"withheld_groups\": 5", "\"withheld_groups\": 6", "more than 40 rows"),
        ("\"withheld_groups\": 5", "\"withheld_groups\": 18446744073709551615", "more than 40"),
        ("\"client\": \"north\"", "\"client\": \"\"", "`client` is empty"),
        ("\"version\": 1", "\"version\": 2", "newer version"),
        ("equipoise-description", "equipoise-model", "format"),
        ("\"rule\"", "\"role\"", "role"),
    ] {
        let changed = json.replacen(from, to, 1);
        assert_ne!(changed, json, "{from}");
        let error = Description::from_json(&changed, Path::new("d.json")).unwrap_err().to_string();
        assert!(error.starts_with("d.json: ") && error.contains(part), "{from}: {error}");
    }
}
