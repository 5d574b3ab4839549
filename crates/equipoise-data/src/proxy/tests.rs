#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::reader::visit_chunks;
use super::*;
use crate::read_limits::ReadLimits;
use crate::table::open_encoded_table;

const KINDS: [&str; 3] = ["p.csv", "p.csv.gz", "p.parquet"];

fn schema(intercept: bool) -> Schema {
    let text = format!(
        r#"
        version = 1
        intercept = {intercept}
        label = {{ column = "pass", positive = "1" }}
        sensitive = {{ column = "race", privileged = "White" }}
        feature = [
            {{ column = "lsat, raw", kind = "numeric", center = 0, scale = 1 }},
            {{ column = "tier", kind = "categorical", levels = ["1", "a \"b\""] }},
        ]"#
    );
    Schema::from_toml(&text, Path::new("schema.toml")).unwrap()
}

fn rows(schema: &Schema, lines: &[([f64; 3], bool, bool)]) -> Rows {
    let x: Vec<f64> = lines.iter().flat_map(|line| line.0).collect();
    let sensitive: Vec<bool> = lines.iter().map(|line| line.1).collect();
    let positive: Vec<bool> = lines.iter().map(|line| line.2).collect();
    Rows::new(schema.layout(), &x, &sensitive, &positive).unwrap()
}

fn bits(rows: &Rows) -> Vec<u64> {
    let all = rows.values().iter().chain(rows.labels());
    all.map(|value| value.to_bits()).collect()
}

/// Every bit pattern in range with equal probability, and ordinary numbers.
fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits).prop_filter("in range", |value| value.abs() <= 1e12),
        -10.0..10.0_f64,
        prop::sample::select(vec![0.0, -0.0, 1.0, 1e12, -1e12, f64::MIN_POSITIVE, 5e-324, 0.1]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn proxies_read_back_bit_for_bit(
        lines in prop::collection::vec(
            ([finite(), finite(), finite()], any::<bool>(), any::<bool>()),
            1..40,
        ),
        intercept: bool,
    ) {
        let schema = schema(intercept);
        let rows = rows(&schema, &lines);
        let dir = tempfile::tempdir().unwrap();
        for name in KINDS {
            let path = dir.path().join(name);
            write_proxy(&path, &rows, &schema, false).unwrap();
            let read = read_proxy(&path, &schema).unwrap();
            prop_assert_eq!(read.layout(), rows.layout());
            prop_assert_eq!(bits(&read), bits(&rows), "{}", name);
        }
    }
}

fn small() -> (Schema, Rows) {
    let schema = schema(false);
    let rows = rows(&schema, &[([0.1, 1.0, 0.0], true, true), ([-1e-9, 0.25, 1e11], false, false)]);
    (schema, rows)
}

#[test]
fn the_same_rows_give_the_same_bytes() {
    let (schema, rows) = small();
    let dir = tempfile::tempdir().unwrap();
    for name in KINDS {
        let path = dir.path().join(name);
        write_proxy(&path, &rows, &schema, false).unwrap();
        let first = std::fs::read(&path).unwrap();
        let refused = write_proxy(&path, &rows, &schema, false).unwrap_err();
        assert!(matches!(refused, Error::Exists { .. }));
        write_proxy(&path, &rows, &schema, true).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), first, "{name}");
        if name.ends_with(".gz") {
            assert_eq!(first[4..8], [0; 4], "no time in the header");
        }
    }
}

#[test]
fn a_proxy_has_the_documented_format() {
    let (schema, rows) = small();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("p.csv");
    write_proxy(&path, &rows, &schema, false).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        text,
        "\"lsat, raw\",tier=1,\"tier=a \"\"b\"\"\",race,pass\n0.1,1,0,1,1\n-1e-9,0.25,100000000000,0,-1\n"
    );
}

#[test]
fn columns_may_come_in_any_order() {
    let (schema, rows) = small();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("p.csv");
    let text = "pass,tier=1,race,\"lsat, raw\",\"tier=a \"\"b\"\"\"\n+1,1,1.0,0.1,0\n-1.0,0.25,0,-1e-9,1e11\n";
    std::fs::write(&path, text).unwrap();
    assert_eq!(bits(&read_proxy(&path, &schema).unwrap()), bits(&rows));
}

#[test]
fn rejects_malformed_proxies_with_the_location() {
    let (schema, rows) = small();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bank.csv");
    write_proxy(&path, &rows, &schema, false).unwrap();
    let valid = std::fs::read_to_string(&path).unwrap();
    for (from, to, parts) in [
        ("-1e-9", "inf", &["row 2", "column `lsat, raw`", "`inf` is not a finite number"][..]),
        ("-1e-9", "1e400", &["row 2", "column `lsat, raw`", "`1e400` is not a finite number"]),
        ("-1e-9", "NaN", &["row 2", "column `lsat, raw`", "missing"]),
        ("-1e-9", "", &["row 2", "column `lsat, raw`", "missing"]),
        ("-1e-9", "high", &["row 2", "column `lsat, raw`", "`high` is not a number", "encoded"]),
        (
            "100000000000,0,-1",
            "1e11,0.5,-1",
            &["row 2", "column `race`", "`0.5` is neither 0 nor 1"],
        ),
        ("100000000000,0,-1", "1e11,0,0", &["row 2", "column `pass`", "`0` is neither -1 nor 1"]),
        ("100000000000,0,-1", "1e11,0,?", &["row 2", "column `pass`", "missing"]),
        ("100000000000,0,-1", "1e13,0,-1", &["row 2", "`1e13` is beyond ±1e12"]),
        ("race,", "sex,", &["column `sex`", "not a column of a proxy"]),
        (",0,-1\n", ",0\n", &["row 2", "4 cells", "5 columns"]),
    ] {
        let changed = valid.replacen(from, to, 1);
        assert_ne!(changed, valid);
        std::fs::write(&path, changed).unwrap();
        let text = read_proxy(&path, &schema).unwrap_err().to_string();
        for part in parts.iter().chain(&["bank.csv"]) {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    for (content, part) in [
        ("race,pass,tier=1,\"lsat, raw\"\n", "column `tier=a \"b\"`: the table has no such column"),
        (valid.lines().next().unwrap(), "header but no rows. A proxy needs"),
    ] {
        std::fs::write(&path, content).unwrap();
        let text = read_proxy(&path, &schema).unwrap_err().to_string();
        assert!(text.contains(part) && text.contains("bank.csv"), "{text}");
    }
}

#[test]
fn does_not_write_rows_of_another_schema_or_empty_proxies() {
    let (schema, rows) = small();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("p.parquet");
    let other = self::schema(true);
    let text = write_proxy(&path, &rows, &other, false).unwrap_err().to_string();
    assert!(text.contains("5 entries") && text.contains("have 4"), "{text}");
    let none = write_proxy(&path, &rows.select(&[]), &schema, false).unwrap_err();
    assert!(none.to_string().contains("no rows"), "{none}");
    let unknown = write_proxy(&dir.path().join("p.txt"), &rows, &schema, false).unwrap_err();
    assert!(unknown.to_string().contains(".parquet"), "{unknown}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn parquet_and_csv_report_the_same_bad_cell() {
    use crate::table::{write_csv, write_parquet};
    let schema = schema(false);
    let n_rows = 5000;
    let dir = tempfile::tempdir().unwrap();
    for (row, column, value) in [
        (4321, 0, f64::NAN),
        (4099, 2, f64::INFINITY),
        (17, 1, -2e12),
        (4999, 3, 0.5),
        (4097, 4, 0.0),
    ] {
        let mut values = vec![vec![0.25; n_rows], vec![0.0; n_rows], vec![1.0; n_rows]];
        values.extend([vec![1.0; n_rows], vec![-1.0; n_rows]]);
        values[column][row - 1] = value;
        // A later row and a later column are also bad, but are not named.
        values[4][n_rows - 1] = 7.0;
        let columns: Vec<OutputColumn> = columns(&schema)
            .into_iter()
            .zip(values)
            .map(|(name, values)| OutputColumn::new(name, ColumnValues::Numbers(values)))
            .collect();
        let messages = ["p.parquet", "p.csv"].map(|name| {
            let path = dir.path().join(name);
            let mut file = std::fs::File::create(&path).unwrap();
            match name {
                "p.csv" => write_csv(&mut file, &columns, n_rows).unwrap(),
                _ => write_parquet(&mut file, &columns).unwrap(),
            }
            let text = read_proxy(&path, &schema).unwrap_err().to_string();
            text.replace(name, "p")
        });
        assert!(messages[0].contains(&format!("row {row}, column")), "{}", messages[0]);
        if value.abs() < 1e12 {
            assert_eq!(messages[0], messages[1]);
        }
    }
}

#[test]
fn chunks_have_at_most_the_requested_size_and_join_to_the_proxy() {
    let schema = schema(true);
    let lines: Vec<([f64; 3], bool, bool)> =
        (0..5003).map(|i| ([f64::from(i), 0.0, 1.0], i % 3 == 0, i % 2 == 0)).collect();
    let rows = rows(&schema, &lines);
    let dir = tempfile::tempdir().unwrap();
    for name in KINDS {
        let path = dir.path().join(name);
        write_proxy(&path, &rows, &schema, false).unwrap();
        for chunk_rows in [1, 700, 4096, 100_000] {
            let mut chunks = Vec::new();
            let visit = |chunk: &Rows| {
                assert!(!chunk.is_empty() && chunk.len() <= chunk_rows);
                chunks.push(chunk.clone());
                Ok(())
            };
            let table = open_encoded_table(&path, ReadLimits::NONE).unwrap();
            assert_eq!(visit_chunks(table, &schema, chunk_rows, visit).unwrap(), 5003);
            let all = Rows::concat(&chunks).unwrap();
            assert_eq!(bits(&all), bits(&rows));
        }
    }
}
