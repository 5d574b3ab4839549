#![allow(clippy::unwrap_used)]

use super::*;
use crate::error::Purpose;
use crate::raw_rows::read_rows;
use crate::table::open_table;

const TABLE: &str = "\
id,grade,race,lsat,fulltime,tier,region,constant,empty
1,A,White,30,0,1,south,7,
2,B,Black,40,1,10,north,7,NA
3,A,Asian,50,1,2,west,7,?
4,C,White,,0,1,south,7,
";

fn options() -> InferOptions {
    InferOptions {
        label: ("grade".into(), "A".into()),
        label_rest_negative: true,
        sensitive: vec![("race".into(), Some("White".into()))],
        two_groups: true,
        drop: vec!["id".into()],
        intercept: true,
        ..InferOptions::default()
    }
}

fn run(text: &str, options: &InferOptions) -> Result<Inferred, Error> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bank.csv");
    std::fs::write(&path, text).unwrap();
    infer(open_table(&path)?, options)
}

fn encoding<'a>(inferred: &'a Inferred, column: &str) -> &'a Encoding {
    let feature = inferred.schema.features.iter().find(|f| f.column == column);
    &feature.unwrap().encoding
}

fn fails(text: &str, options: &InferOptions, parts: &[&str]) {
    let message = run(text, options).unwrap_err().to_string();
    for part in parts {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn each_column_gets_a_suitable_encoding() {
    let inferred = run(TABLE, &options()).unwrap();
    let columns: Vec<&str> = inferred.schema.features.iter().map(|f| f.column.as_str()).collect();
    assert_eq!(columns, ["lsat", "fulltime", "tier", "region"]);
    assert_eq!(inferred.schema.ignore, ["id", "constant", "empty"]);
    let Encoding::Numeric { center, scale, fill } = encoding(&inferred, "lsat") else {
        panic!("lsat is numeric");
    };
    assert!((center - 40.0).abs() < 1e-12);
    assert!((scale - (200.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    assert_eq!(*fill, None);
    assert_eq!(
        *encoding(&inferred, "fulltime"),
        Encoding::Numeric { center: 0.0, scale: 1.0, fill: None }
    );
    assert!(matches!(encoding(&inferred, "tier"), Encoding::Numeric { .. }));
    assert_eq!(
        *encoding(&inferred, "region"),
        Encoding::Categorical {
            levels: ["north", "south", "west"].map(String::from).into(),
            fill: None,
            unknown: Unknown::Error,
        }
    );
}

#[test]
fn notes_list_what_to_review() {
    let notes = run(TABLE, &options()).unwrap().notes;
    for part in [
        "label column `grade` has 3 values: `A`, `B`, `C`. Every value except `A` counts as negative",
        "sensitive column `race` has 3 values: `Asian`, `Black`, `White`. Every value except `White` counts as unprivileged",
        "column `lsat` has missing values (1) and no `fill` in the schema",
        "column `constant` is always `7`",
        "column `empty` has no values, so it is",
    ] {
        assert!(notes.iter().any(|note| note.contains(part)), "{part}: {notes:?}");
    }
    assert_eq!(notes.len(), 5);
}

#[test]
fn options_override_the_inferred_kind() {
    let mut codes = options();
    codes.categorical = vec!["tier".into()];
    assert_eq!(
        *encoding(&run(TABLE, &codes).unwrap(), "tier"),
        Encoding::Categorical {
            levels: ["1", "2", "10"].map(String::from).into(),
            fill: None,
            unknown: Unknown::Error,
        }
    );
    let mixed = TABLE.replace("3,A,Asian,50", "3,A,Asian,abc");
    let inferred = run(&mixed, &options()).unwrap();
    assert!(matches!(encoding(&inferred, "lsat"), Encoding::Categorical { .. }));
    assert!(inferred.notes.iter().any(|n| n.contains("row 3 has `abc`")), "{:?}", inferred.notes);
    let mut numeric = options();
    numeric.numeric = vec!["lsat".into()];
    let remedy = "leave out --numeric lsat, which makes the column categorical";
    fails(&mixed, &numeric, &["bank.csv", "row 3", "`lsat`", "`abc` is not a number", remedy]);
    let more = mixed.replace("1,A,White,30", "1,A,White,inf").replace("White,,0", "White,x,0");
    fails(&more, &numeric, &["bank.csv: 3 cells cannot be used", "is not a finite", remedy]);
}

#[test]
fn numbers_with_a_decimal_comma_are_not_categories() {
    let commas = TABLE.replace(',', ";").replace(";30;", ";30,5;").replace(";50;", ";5,0;");
    fails(
        &commas,
        &options(),
        &[
            "bank.csv: 2 cells cannot be used",
            "    1  lsat    30,5   has a decimal comma\n    3  lsat    5,0    has a",
            "such as 30.5. If they are not numbers, use --categorical lsat.",
        ],
    );
    let categorical = InferOptions { categorical: vec!["lsat".into()], ..options() };
    let inferred = run(&commas, &categorical).unwrap();
    assert_eq!(encoding(&inferred, "lsat").clone(), {
        let levels = ["40", "30,5", "5,0"].map(String::from).into();
        Encoding::Categorical { levels, fill: None, unknown: Unknown::Error }
    });
    // Other text makes the column categorical anyway.
    let text = commas.replace(";40;", ";forty;");
    assert!(matches!(
        encoding(&run(&text, &options()).unwrap(), "lsat"),
        Encoding::Categorical { .. }
    ));
    let numeric = InferOptions { numeric: vec!["lsat".into()], ..options() };
    fails(&text, &numeric, &["3 cells", "forty", "is not a number", "has a decimal comma"]);
}

#[test]
fn a_label_has_two_values_unless_more_are_confirmed() {
    let two = TABLE.replace("C,White", "B,White");
    let strict = InferOptions { label_rest_negative: false, ..options() };
    let label = run(&two, &strict).unwrap().schema.label;
    assert_eq!((label.positive.as_str(), &label.negative[..]), ("A", &["B".to_owned()][..]));
    assert!(run(&two, &options()).unwrap().schema.label.negative.is_empty());
    assert!(run(TABLE, &options()).unwrap().schema.label.negative.is_empty());
    let expected = "\
column `grade`: the label has 3 values, but a model predicts one of two:
  A  2 rows  (positive)
  B  1 row
  C  1 row
If every value except `A` counts as negative, confirm that with --label-rest-negative.";
    fails(TABLE, &strict, &["bank.csv, ", expected]);
    let rows: String = (0..3000).map(|i| format!("{},White,{}\n", i % 1500, i % 7)).collect();
    let many = InferOptions { label: ("income".into(), "7".into()), drop: vec![], ..strict };
    let parts = ["more than 1000 values", "  0  2 rows\n", "and more than 990 others"];
    fails(&format!("income,race,age\n{rows}1,Black,3\n"), &many, &parts);
}

#[test]
fn rejects_tables_that_do_not_fit_the_options() {
    let with = |change: fn(&mut InferOptions)| {
        let mut changed = options();
        change(&mut changed);
        changed
    };
    fails(
        TABLE,
        &with(|o| o.label.1 = "Z".into()),
        &["bank.csv", "`grade`", "`Z` never occurs", "`A`, `B`, `C`"],
    );
    fails(
        TABLE,
        &with(|o| o.sensitive[0].1 = Some("white".into())),
        &["`race`", "`white` never occurs", "`White`"],
    );
    fails(
        TABLE,
        &with(|o| o.label.0 = "grades".into()),
        &["column `grades`: the table has no such column", "Did you mean `grade`?", "`fulltime`"],
    );
    fails(
        TABLE,
        &with(|o| o.drop.push("nothing".into())),
        &["column `nothing`: the table has no such column", "`region`"],
    );
    fails(TABLE, &with(|o| o.drop.push("grade".into())), &["`grade`", "twice"]);
    fails(TABLE, &with(|o| o.numeric = vec!["id".into()]), &["`id`", "twice"]);
    fails(
        &TABLE.replace(",50,", ",1e400,"),
        &options(),
        &["row 3", "`lsat`", "`1e400` is not a finite number"],
    );
    fails("id,grade,race\n", &options(), &["bank.csv", "header but no rows"]);
    fails("id,grade,race\n1,A,White\n", &options(), &["bank.csv", "no feature"]);
}

#[test]
fn a_hundred_levels_are_the_maximum() {
    let table = |n: usize| {
        let rows: String = (0..n).map(|i| format!("{i},A,White,name{i}\n")).collect();
        format!("id,grade,race,name\n{rows}")
    };
    assert!(run(&table(100), &options()).is_ok());
    fails(&table(101), &options(), &["bank.csv", "`name`", "more than 100", "--drop name"]);
}

#[test]
fn the_table_can_be_read_with_its_inferred_schema() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bank.csv");
    std::fs::write(&path, TABLE.replace("White,,0", "White,35,0")).unwrap();
    let inferred = infer(open_table(&path).unwrap(), &options()).unwrap();
    let rows = read_rows(&path, &inferred.schema, Purpose::Data).unwrap().rows;
    let mean: f64 = (0..rows.len()).map(|i| rows.x(i)[0]).sum::<f64>() / 4.0;
    assert!(mean.abs() < 1e-12);
    assert_eq!(rows.cell_counts(), [[1, 1], [1, 1]]);
}

#[test]
fn a_rare_positive_value_is_found_among_very_many() {
    let rows: String = (0..500).map(|i| format!("{i},White,{}\n", i % 7)).collect();
    let table = format!("income,race,age\n{rows}1,Black,3\n");
    let options = InferOptions {
        label: ("income".into(), "499.0".into()),
        label_rest_negative: true,
        sensitive: vec![("race".into(), Some("White".into()))],
        two_groups: true,
        ..InferOptions::default()
    };
    let notes = run(&table, &options).unwrap().notes;
    assert!(notes[0].contains("label column `income` has more than 100 values"), "{notes:?}");
    let never = InferOptions { label: ("income".into(), "500".into()), ..options };
    fails(&table, &never, &["`income`", "`500` never occurs", "`9` and more"]);
}

#[test]
fn a_few_integers_are_codes_unless_they_are_rare_or_named_numeric() {
    let rows = |n: usize, levels: usize| -> String {
        (0..n).map(|i| format!("{},{},{}\n", i % levels + 1, i % 2, i % 2)).collect()
    };
    let table = |n, levels| format!("tier,race,passed\n{}", rows(n, levels));
    let options = InferOptions {
        label: ("passed".into(), "1".into()),
        sensitive: vec![("race".into(), Some("1".into()))],
        codes: true,
        ..InferOptions::default()
    };
    let is_categorical = |table: &str, options: &InferOptions| {
        let inferred = run(table, options).unwrap();
        let categorical =
            matches!(inferred.schema.features[0].encoding, Encoding::Categorical { .. });
        let noted = inferred.notes.iter().any(|note| note.contains("--numeric tier"));
        assert_eq!(categorical, noted, "{:?}", inferred.notes);
        categorical
    };
    assert!(is_categorical(&table(60, 3), &options));
    assert!(is_categorical(&table(240, 12), &options));
    assert!(!is_categorical(&table(600, 13), &options), "too many levels");
    assert!(!is_categorical(&table(59, 3), &options), "too few rows");
    assert!(!is_categorical(&table(600, 2), &options), "two values");
    let fraction = table(600, 3).replacen("3,", "2.5,", 1);
    assert!(!is_categorical(&fraction, &options), "not an integer");
    let numeric = InferOptions { numeric: vec!["tier".into()], ..options.clone() };
    assert!(!is_categorical(&table(60, 3), &numeric));
    let off = InferOptions { codes: false, ..options };
    assert!(!is_categorical(&table(60, 3), &off));
}

#[test]
fn a_sensitive_column_of_many_numbers_is_explained() {
    let table = |n_ages: usize| {
        let rows = (0..400).map(|i| {
            let (age, grade) = (20 + i % n_ages, if i % 3 == 0 { "A" } else { "B" });
            format!("{grade},{age},{}\n", i % 7)
        });
        "grade,age,score\n".to_owned() + &rows.collect::<String>()
    };
    for two_groups in [false, true] {
        let sensitive = vec![("age".into(), Some("20".into()))];
        let options = InferOptions { sensitive, drop: vec![], two_groups, ..options() };
        let notes = run(&table(40), &options).unwrap().notes;
        let explains = |note: &&String| note.contains("`age` holds 40 different numbers");
        let note = notes.iter().find(explains).unwrap();
        assert!(note.contains("`age = 20`") && note.contains("add a column"), "{note}");
        let notes = run(&table(4), &options).unwrap().notes;
        assert!(!notes.iter().any(|note| note.contains("different numbers")), "{notes:?}");
    }
}

#[test]
fn missing_values_can_be_filled() {
    let options = |fill: &[Fill]| InferOptions { fill: fill.to_vec(), ..options() };
    let table = TABLE.replace("4,C,White,,0,1,south", "4,C,White,,0,1,")
        + "5,A,White,90,,1,south,7,\n6,A,White,42,,1,south,7,\n";
    let inferred = run(&table, &options(&[Fill::Mean, Fill::Mode])).unwrap();
    let numeric_fill = |column: &str| match encoding(&inferred, column) {
        Encoding::Numeric { fill, .. } => *fill,
        Encoding::Categorical { .. } => panic!("{column} is numeric"),
    };
    // 30, 40, 50, 90, 42; and 0, 1, 1, 0, and two missing.
    assert_eq!((numeric_fill("lsat"), numeric_fill("fulltime")), (Some(50.4), Some(0.5)));
    assert!(matches!(
        encoding(&inferred, "region"),
        Encoding::Categorical { fill: Some(level), .. } if level == "south"
    ));
    assert!(!inferred.notes.iter().any(|note| note.contains("missing")), "{:?}", inferred.notes);

    let means = run(&table, &options(&[Fill::Mean])).unwrap();
    let Encoding::Numeric { center, fill, .. } = encoding(&means, "lsat") else { panic!() };
    assert_eq!(*fill, Some(*center));
    let refused = "column `region` has missing values (1) and no `fill`";
    let note = means.notes.iter().find(|note| note.contains(refused)).unwrap();
    assert!(note.contains("--fill mode"), "{note}");
}

#[test]
fn several_tables_are_read_as_one() {
    let dir = tempfile::tempdir().unwrap();
    let open = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        open_table(&path).unwrap()
    };
    let lines: Vec<&str> = TABLE.lines().collect();
    let first = lines[..3].join("\n");
    let swap = |line: &str| line.split(',').rev().collect::<Vec<_>>().join(",");
    let second: Vec<String> = [lines[0], lines[3], lines[4]].map(swap).to_vec();
    let second = second.join("\n");
    let union = infer_union(vec![open("a.csv", &first), open("b.csv", &second)], &options());
    let union = union.unwrap();
    assert_eq!(union.schema, run(TABLE, &options()).unwrap().schema);

    let fails = |second: &str, parts: &[&str]| {
        let tables = vec![open("a.csv", &first), open("b.csv", second)];
        let message = infer_union(tables, &options()).unwrap_err().to_string();
        parts.iter().for_each(|part| assert!(message.contains(part), "{message}"));
    };
    fails(&second.replace("tier", "tire"), &["b.csv, column `tier`", "Did you mean `tire`?"]);
    let extra = second.replace("empty", "extra,empty").replace("\n", "\n1,");
    fails(&extra, &["b.csv, column `extra`", "a.csv has no such column", "--drop extra"]);
    fails(&second.replace(",50,", ",1e400,"), &["b.csv, row 1, column `lsat`", "finite"]);
    let names: String = (0..101).map(|i| format!(",,{i}x,1,1,30,White,A,{i}\n")).collect();
    let many = format!("{}\n{names}", second.lines().next().unwrap());
    fails(&many.replace(",,", ",7,"), &["a.csv and 1 more, column `region`", "more than 100"]);
}

#[test]
fn unknown_levels_are_refused_unless_asked_for() {
    let schema = |unknown| {
        let options = InferOptions { unknown, ..options() };
        run(TABLE, &options).unwrap().schema
    };
    assert!(!schema(None).to_toml().contains("unknown"));
    assert_eq!(schema(Some(Unknown::Error)), schema(None));
    let other = schema(Some(Unknown::Other));
    assert_eq!(other.to_toml().matches("unknown = \"other\"").count(), 1, "{}", other.to_toml());
    assert_ne!(other.digest(), schema(None).digest());
}
