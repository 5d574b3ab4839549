#![allow(clippy::unwrap_used)]

use std::path::Path;

use equipoise_core::WarningCode;

use super::*;
use crate::schema::Label;
use crate::table::{TableFile, open_table};

const SCHEMA: &str = r#"
version = 1
intercept = true
ignore = ["id"]
label = { column = "pass", positive = "1" }
sensitive = { column = "race", privileged = "White" }
[[feature]]
column = "lsat"
kind = "numeric"
center = 30
scale = 10
[[feature]]
column = "tier"
kind = "categorical"
levels = ["1", "2", "x"]
fill = "x"
[[feature]]
column = "age"
kind = "numeric"
center = 1
scale = 1e-300
fill = 1
"#;

const TABLE: &str = "\
race,pass,tier,age,lsat,id
White,1,1,1,40,a
 Black ,0,2.0,,30,b
White,0,,1, 25 ,c
Black,1.0,x,1,2e1,d
";

fn schema() -> Schema {
    Schema::from_toml(SCHEMA, Path::new("schema.toml")).unwrap()
}

fn run(text: &str) -> Result<EncodedTable, Error> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bank.csv");
    std::fs::write(&path, text).unwrap();
    read_rows(&path, &schema(), Purpose::Data)
}

fn fails(text: &str, parts: &[&str]) {
    let message = run(text).unwrap_err().to_string();
    for part in parts.iter().chain(&["bank.csv"]) {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn rows_are_encoded_in_the_order_of_the_schema() {
    let table = run(TABLE).unwrap();
    let rows = table.rows;
    assert_eq!(rows.a(0), [1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    assert_eq!(rows.a(1), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(rows.a(2), [-0.5, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0]);
    assert_eq!(rows.a(3), [-1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    assert_eq!(rows.labels(), [1.0, -1.0, -1.0, 1.0]);
    assert_eq!(table.warnings, []);
}

#[test]
fn an_invalid_cell_is_reported_with_file_row_and_column() {
    let second = |from: &str, to: &str| TABLE.replace(from, to);
    let lsat = ["row 2", "column `lsat`"];
    let at = |parts: &[&'static str], more: &[&'static str]| [parts, more].concat();
    fails(&second(",30,b", ",abc,b"), &at(&lsat, &["`abc` is not a number", "categorical"]));
    fails(&second(",30,b", ",inf,b"), &at(&lsat, &["`inf` is not a finite number"]));
    fails(&second(",30,b", ",-Infinity,b"), &at(&lsat, &["is not a finite number"]));
    fails(&second(",30,b", ",1e400,b"), &at(&lsat, &["`1e400` is not a finite number"]));
    fails(&second(",30,b", ",NaN,b"), &at(&lsat, &["missing", "`fill`"]));
    fails(&second(",30,b", ",,b"), &at(&lsat, &["missing", "`fill`"]));
    fails(&second("2.0,,30", "2.0,1e10,30"), &["row 2", "column `age`", "beyond ±1e12", "1e10"]);
    fails(
        &second("0,2.0,", "0,3,"),
        &["row 2", "column `tier`", "`3` is not one of the levels `1`, `2`, `x`"],
    );
    fails(
        &second(" Black ,0", "?,0"),
        &["row 2", "column `race`", "sensitive attribute is missing"],
    );
    fails(&second(" Black ,0", "Black,"), &["row 2", "column `pass`", "label is missing"]);
}

#[test]
fn the_error_has_file_row_and_column_as_fields() {
    match run(&TABLE.replace(",30,b", ",abc,b")).unwrap_err() {
        Error::Table { file, row, column, problem } => {
            assert!(file.ends_with("bank.csv"));
            assert_eq!((row, column.as_deref()), (Some(2), Some("lsat")));
            let expected = "`abc` is not a number. Correct the value, or declare the column categorical in the schema.";
            assert_eq!(problem.to_string(), expected);
        }
        other => panic!("{other}"),
    }
}

#[test]
fn all_invalid_cells_are_listed() {
    let broken = TABLE
        .replace("White,1,1,1,40", "White,1,7,1,abc")
        .replace("White,0,,1, 25 ", "?,NA,,1,3,5")
        .replace("3,5,c", "\"3,5\",c");
    let message = run(&broken).unwrap_err().to_string();
    let (_, cells) = message.split_once("bank.csv: ").unwrap();
    let expected = "\
5 cells cannot be used:
  row  column  value  problem
    1  lsat    abc    is not a number
    1  tier    7      is not one of the levels `1`, `2`, `x`
    3  lsat    3,5    has a decimal comma
    3  race           the sensitive attribute is missing and cannot be filled
    3  pass           the label is missing and cannot be filled
is not a number: correct the value, or declare the column categorical in the schema.
is not one of the levels `1`, `2`, `x`: correct the value, or agree on a schema that includes it.
has a decimal comma: write numbers with a decimal point, such as 3.5.
the sensitive attribute is missing and cannot be filled: complete or remove the row.";
    assert_eq!(cells, expected);
}

#[test]
fn an_unknown_label_is_refused_if_the_schema_knows_the_negative_ones() {
    let strict = SCHEMA.replace("positive = \"1\"", "positive = \"1\", negative = [\"0\"]");
    let strict = Schema::from_toml(&strict, Path::new("schema.toml")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bank.csv");
    std::fs::write(&path, TABLE).unwrap();
    let table = read_rows(&path, &strict, Purpose::Data).unwrap();
    assert_eq!(table.rows, run(TABLE).unwrap().rows);
    std::fs::write(&path, TABLE.replace("Black,1.0", "Black,2")).unwrap();
    let message = read_rows(&path, &strict, Purpose::Data).unwrap_err().to_string();
    let expected = "row 4, column `pass`: `2` is not a label: the schema has `1` and `0`. Correct the value, or \
                    agree on a schema that lists it under `negative`.";
    assert!(message.ends_with(expected), "{message}");
    // A label is not needed for a score.
    assert_eq!(
        read_rows_to_score(open_table(&path).unwrap(), &strict, &[]).unwrap().unscorable,
        []
    );
    let three = Schema {
        label: Label { negative: vec!["2".into(), "0".into()], ..strict.label.clone() },
        ..strict
    };
    let table = read_rows(&path, &three, Purpose::Data).unwrap();
    assert_eq!(table.rows.labels(), [1.0, -1.0, -1.0, -1.0]);
    assert_eq!(table.warnings, [], "all labels are in the schema");
}

#[test]
fn rows_that_cannot_be_scored_do_not_stop_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new.csv");
    std::fs::write(&path, TABLE.replace("White,1,1,1,40", "White,1,7,1,abc")).unwrap();
    let table = read_rows_to_score(open_table(&path).unwrap(), &schema(), &[]).unwrap();
    let reason =
        "`lsat`: `abc` is not a number; `tier`: `7` is not one of the levels `1`, `2`, `x`";
    assert_eq!(table.unscorable.len(), 1);
    assert_eq!((table.unscorable[0].row, table.unscorable[0].reason().as_str()), (1, reason));
    let all = run(TABLE).unwrap().rows;
    assert_eq!(table.rows.len(), 3);
    (0..3).for_each(|i| assert_eq!(table.rows.a(i), all.a(i + 1)));
    std::fs::write(&path, "race,tier,age,lsat\nWhite,1,1,?\n").unwrap();
    let none = read_rows_to_score(open_table(&path).unwrap(), &schema(), &[]).unwrap();
    assert_eq!((none.rows.len(), none.unscorable.len()), (0, 1));
    assert_eq!(none.warnings, []);
    std::fs::write(&path, "race,tier,age,lsat\n").unwrap();
    assert!(
        read_rows_to_score(open_table(&path).unwrap(), &schema(), &[])
            .unwrap_err()
            .to_string()
            .contains("no rows")
    );
}

#[test]
fn the_columns_of_the_schema_tell_the_delimiter() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bank.csv");
    let semicolons = TABLE.replace(',', ";").replace("id\n", "id, old|new\n");
    let semicolons = semicolons.lines().enumerate().map(|(i, line)| match i {
        0 => format!("{line}\n"),
        _ => format!("{line}, x|y\n"),
    });
    let semicolons: String = semicolons.collect();
    let mut tolerant = schema();
    tolerant.ignore = vec!["id, old|new".into()];
    std::fs::write(&path, &semicolons).unwrap();
    let table = read_rows(&path, &tolerant, Purpose::Data).unwrap();
    assert_eq!(table.rows, run(TABLE).unwrap().rows);
    // Without the schema, it could be any of three delimiters.
    let ambiguous = open_table(&path).unwrap_err().to_string();
    assert!(ambiguous.contains("--delimiter"), "{ambiguous}");
    let comma = TableFile { delimiter: Some(crate::Delimiter::Comma), ..(&path).into() };
    let message = read_rows(comma, &tolerant, Purpose::Data).unwrap_err().to_string();
    assert!(message.contains("column `lsat`: the table has no such column"), "{message}");
}

#[test]
fn rejects_columns_that_are_not_in_the_schema() {
    fails(
        &TABLE.replace("lsat,id", "lsta,id"),
        &["column `lsat`: the table has no such column", "Did you mean `lsta`?"],
    );
    fails(&TABLE.replace("lsat,id", "lsat,name"), &["column `name`", "`ignore`", "Drop it"]);
    fails(
        &TABLE.replace("tier,age", "tier,tier"),
        &["column `tier`: the header has this column twice"],
    );
    fails("race,pass,tier,age,lsat\n", &["header but no rows", "A data table"]);
    let without_id: String =
        TABLE.lines().map(|l| format!("{}\n", l.rsplit_once(',').unwrap().0)).collect();
    assert_eq!(run(&without_id).unwrap().rows, run(TABLE).unwrap().rows);
}

#[test]
fn warns_of_more_than_two_values_and_of_single_classes() {
    let warnings = |text: &str| -> String {
        run(text).unwrap().warnings.iter().map(|w| format!("{w}\n")).collect()
    };
    let text = warnings(&TABLE.replace("Black,1.0", "Asian,2"));
    assert!(
        text.contains(
            "label column `pass` has more than two values: `0`, `1`, `2`; everything but `1`"
        ),
        "{text}"
    );
    assert!(
        text.contains(
            "sensitive column `race` has more than two values: `Asian`, `Black`, `White`"
        ),
        "{text}"
    );
    assert_eq!(text.lines().count(), 2);
    let text = warnings("race,pass,tier,age,lsat\nWhite,1,1,1,1\n");
    assert!(text.contains("bank.csv: every row has a positive label in column `pass`"), "{text}");
    assert!(text.contains("every row is in the group `race = White`"), "{text}");
    let many: String = (0..30).map(|i| format!("group{i:02},{},1,1,1\n", i % 2)).collect();
    let text = warnings(&format!("race,pass,tier,age,lsat\n{many}"));
    assert!(text.contains("`group09` and more") && !text.contains("`group10`"), "{text}");
    assert!(text.contains("every row is in the group `race ≠ White`"), "{text}");
}

#[test]
fn prediction_needs_no_label_and_ignores_other_columns() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new.csv");
    std::fs::write(&path, "race,tier,age,lsat,since\nWhite,1,1,40,2020\nWhite,1,1,40,2021\n")
        .unwrap();
    let table = read_rows_to_score(open_table(&path).unwrap(), &schema(), &[]).unwrap();
    assert_eq!(table.rows.a(0), [1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    // A misspelt group would score as unprivileged, so rows of a single group deserve a warning.
    assert!(matches!(&table.warnings[..], [Warning { code: WarningCode::OneGroup, .. }]));
    assert!(table.warnings[0].message.contains("`race = White`"), "{:?}", table.warnings);
    std::fs::write(&path, "race,tier,age,lsat\nWhite,1,1,40\n").unwrap();
    assert_eq!(
        read_rows_to_score(open_table(&path).unwrap(), &schema(), &[]).unwrap().warnings,
        [],
        "one person"
    );
    std::fs::write(&path, TABLE.replace("White,1,", "White,NA,")).unwrap();
    let table = read_rows_to_score(open_table(&path).unwrap(), &schema(), &[]).unwrap();
    assert_eq!(table.unscorable, []);
    assert_eq!(table.rows.values(), run(TABLE).unwrap().rows.values());
    std::fs::write(&path, "tier,age,lsat\n1,1,40\n").unwrap();
    let text =
        read_rows_to_score(open_table(&path).unwrap(), &schema(), &[]).unwrap_err().to_string();
    assert!(
        text.contains("new.csv") && text.contains("column `race`: the table has no such column"),
        "{text}"
    );
}

/// The same rows as `TABLE`, with the types that a data frame would give the columns.
fn parquet_table() -> Vec<u8> {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, RecordBatch, StringArray};

    let columns: Vec<(&str, ArrayRef)> = vec![
        ("race", Arc::new(StringArray::from(vec!["White", "Black", "White", "Black"]))),
        ("pass", Arc::new(BooleanArray::from(vec![true, false, false, true]))),
        ("tier", Arc::new(StringArray::from(vec![Some("1"), Some("2"), None, Some("x")]))),
        ("age", Arc::new(Int32Array::from(vec![Some(1), None, Some(1), Some(1)]))),
        ("lsat", Arc::new(Float64Array::from(vec![40.0, 30.0, 25.0, 20.0]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn csv_and_parquet_give_the_same_rows_and_the_same_schema() {
    use crate::schema::{InferOptions, infer};

    let dir = tempfile::tempdir().unwrap();
    let (csv, parquet) = (dir.path().join("a.csv"), dir.path().join("a.parquet"));
    let without_id: String =
        TABLE.lines().map(|line| format!("{}\n", line.rsplit_once(',').unwrap().0)).collect();
    std::fs::write(&csv, without_id).unwrap();
    std::fs::write(&parquet, parquet_table()).unwrap();
    let read = |path: &Path| read_rows(path, &schema(), Purpose::Data).unwrap().rows;
    assert_eq!(read(&csv), read(&parquet));

    let options = InferOptions {
        label: ("pass".into(), "1".into()),
        sensitive: vec![("race".into(), Some("White".into()))],
        two_groups: true,
        ..InferOptions::default()
    };
    let propose = |path: &Path| infer(open_table(path).unwrap(), &options).unwrap();
    assert_eq!(propose(&csv).schema, propose(&parquet).schema);
    assert_eq!(propose(&csv).notes, propose(&parquet).notes);
}

#[test]
fn rejects_an_infinite_parquet_number_with_its_location() {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, RecordBatch};

    let column = |values: [f64; 2]| Arc::new(Float64Array::from(values.to_vec())) as ArrayRef;
    let batch = RecordBatch::try_from_iter(vec![
        ("race", column([0.0, 1.0])),
        ("pass", column([0.0, 1.0])),
        ("tier", column([1.0, 2.0])),
        ("age", column([1.0, f64::NAN])),
        ("lsat", column([1.0, f64::NEG_INFINITY])),
    ])
    .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bank.parquet");
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let text = read_rows(&path, &schema(), Purpose::Data).unwrap_err().to_string();
    for part in ["bank.parquet", "row 2", "column `lsat`", "`-inf` is not a finite number"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn unknown_levels_are_zero_in_every_column_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bank.csv");
    std::fs::write(&path, TABLE.replace(",2.0,", ",9,").replace("1.0,x", "1.0,y")).unwrap();
    let text = read_rows(&path, &schema(), Purpose::Data).unwrap_err().to_string();
    assert!(text.contains("is not one of the levels"), "{text}");
    let other = SCHEMA.replace("fill = \"x\"", "fill = \"x\"\nunknown = \"other\"");
    let other = Schema::from_toml(&other, Path::new("schema.toml")).unwrap();
    let table = read_rows(&path, &other, Purpose::Data).unwrap();
    assert_eq!(table.rows.x(0)[1..4], [1.0, 0.0, 0.0]);
    assert_eq!(table.rows.x(1)[1..4], [0.0, 0.0, 0.0]);
    assert_eq!(table.rows.x(2)[1..4], [0.0, 0.0, 1.0], "missing values are filled, not unknown");
    let codes: Vec<WarningCode> = table.warnings.iter().map(|w| w.code).collect();
    assert_eq!(codes, [WarningCode::UnknownLevels]);
    assert!(table.warnings[0].message.ends_with("`tier` (2)"), "{}", table.warnings[0]);
}
