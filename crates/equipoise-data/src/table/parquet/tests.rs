#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float32Array, Float64Array, Int64Array,
    LargeStringArray, ListArray, StringArray, StringViewArray, UInt64Array,
};
use parquet::arrow::arrow_writer::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::*;
use crate::output_table::ColumnValues;
use crate::table::{Cell, open_table};

fn bytes_of(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn read(path: &Path, chosen: &[&str]) -> Result<Vec<Vec<String>>, Error> {
    let table = open_table(path)?;
    let chosen =
        chosen.iter().map(|column| table.position(column)).collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    table.visit(&chosen, |_, cells| {
        rows.push(cells.iter().map(|cell| format!("{cell:?}")).collect());
        Ok(())
    })?;
    Ok(rows)
}

fn mixed() -> Vec<u8> {
    let category: DictionaryArray<Int32Type> =
        [Some("north"), None, Some(" south ")].into_iter().collect();
    let lists =
        ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)]), None, None]);
    bytes_of(vec![
        ("float", Arc::new(Float64Array::from(vec![Some(0.5), Some(f64::NAN), None]))),
        ("single", Arc::new(Float32Array::from(vec![0.25, f32::INFINITY, -0.0]))),
        ("long", Arc::new(Int64Array::from(vec![Some(-3), None, Some(7)]))),
        ("unsigned", Arc::new(UInt64Array::from(vec![1, 2, 3]))),
        ("bool", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
        ("text", Arc::new(StringArray::from(vec![Some(" a "), Some("NA"), None]))),
        ("large", Arc::new(LargeStringArray::from(vec!["x", "", "z"]))),
        ("view", Arc::new(StringViewArray::from(vec!["x", "?", "z"]))),
        ("category", Arc::new(category)),
        ("date", Arc::new(Date32Array::from(vec![1, 2, 3]))),
        ("list", Arc::new(lists)),
    ])
}

#[test]
fn every_supported_type_becomes_a_cell() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mixed.parquet");
    std::fs::write(&path, mixed()).unwrap();
    let columns =
        ["category", "view", "large", "text", "bool", "unsigned", "long", "single", "float"];
    let rows = read(&path, &columns).unwrap();
    assert_eq!(
        rows[0],
        [
            "Text(\"north\")",
            "Text(\"x\")",
            "Text(\"x\")",
            "Text(\"a\")",
            "Number(1.0)",
            "Number(1.0)",
            "Number(-3.0)",
            "Number(0.25)",
            "Number(0.5)"
        ]
    );
    assert_eq!(
        rows[1],
        [
            "Missing",
            "Missing",
            "Missing",
            "Missing",
            "Number(0.0)",
            "Number(2.0)",
            "Missing",
            "Number(inf)",
            "Missing"
        ]
    );
    assert_eq!(
        rows[2],
        [
            "Text(\"south\")",
            "Text(\"z\")",
            "Text(\"z\")",
            "Missing",
            "Missing",
            "Number(3.0)",
            "Number(7.0)",
            "Number(-0.0)",
            "Missing"
        ]
    );
}

#[test]
fn other_types_are_rejected_only_in_used_columns() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mixed.parquet");
    std::fs::write(&path, mixed()).unwrap();
    for (column, kind) in [("date", "Date32"), ("list", "List")] {
        let text = read(&path, &["float", column]).unwrap_err().to_string();
        for part in ["mixed.parquet", &format!("column `{column}`"), kind] {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[test]
fn rejects_a_file_that_is_not_parquet() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bank.parquet");
    for content in ["a,b\n1,2\n", "PAR1", "PAR1PAR1", "PAR1\0\0\0\0PAR1"] {
        std::fs::write(&path, content).unwrap();
        let text = read(&path, &["a"]).unwrap_err().to_string();
        assert!(
            text.contains("bank.parquet") && text.contains("not a valid Parquet file"),
            "{text}"
        );
    }
}

#[test]
fn rows_are_numbered_through_all_batches() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("long.parquet");
    let n = 2 * MAX_BATCH_ROWS as i64 + 5;
    std::fs::write(&path, bytes_of(vec![("i", Arc::new(Int64Array::from_iter_values(1..=n)))]))
        .unwrap();
    let table = open_table(&path).unwrap();
    let n_rows = table.visit(&[0], |row, cells| {
        assert_eq!(cells, [Cell::Number(row as f64)]);
        Ok(())
    });
    assert_eq!(n_rows.unwrap(), n as u64);
}

/// Single bytes changed and files cut off: an error or a table, never a panic. `read` runs in this thread,
/// so a panic that is not caught fails the test.
#[test]
fn damaged_files_never_panic() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("damaged.parquet");
    let columns = ["float", "long", "bool", "text", "category"];
    let valid = mixed();
    let small = {
        let mut bytes = Vec::new();
        let floats = OutputColumn::new("float", ColumnValues::Numbers(vec![0.5, -1.0]));
        let codes = OutputColumn::new("long", ColumnValues::Codes(vec![0, 1]));
        write(&mut bytes, &[floats, codes]).unwrap();
        bytes
    };
    let mut n_errors = 0;
    let mut n_tables = 0;
    let mut check = |bytes: &[u8], columns: &[&str]| {
        std::fs::write(&path, bytes).unwrap();
        match read(&path, columns) {
            Ok(_) => n_tables += 1,
            Err(error) => {
                assert!(error.to_string().contains("damaged.parquet"));
                n_errors += 1;
            }
        }
    };
    // Fixed seed: a multiplicative generator is random enough to choose bytes.
    let mut state = 20_u64;
    let mut random = move |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..4000 {
        let mut bytes = valid.clone();
        bytes[random(valid.len())] = random(256) as u8;
        check(&bytes, &columns);
    }
    for at in 0..small.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bytes = small.clone();
            bytes[at] ^= flip;
            check(&bytes, &["float", "long"]);
        }
        check(&small[..at], &["float", "long"]);
    }
    assert!(n_errors > 500 && n_tables > 500, "{n_errors} errors, {n_tables} tables");
}

/// Row groups of 1000 rows, and ranges that start and end anywhere.
#[test]
fn reads_only_the_rows_of_a_range_and_numbers_them_as_in_the_whole_file() {
    let path = tempfile::tempdir().unwrap().keep().join("a.parquet");
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..3500));
    let batch = RecordBatch::try_from_iter([("v", column)]).unwrap();
    let groups = WriterProperties::builder().set_max_row_group_row_count(Some(1000)).build();
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(groups)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let all = 0..u64::MAX;
    for rows in [all, 0..1000, 999..1001, 1000..2000, 2500..3500, 3499..u64::MAX, 3500..u64::MAX] {
        let table = open_table(&path).unwrap().only(rows.clone()).unwrap();
        let mut found = Vec::new();
        let n_rows = table
            .visit(&[0], |row, cells| {
                assert_eq!(cells[0].number(), Some((row - 1) as f64));
                found.push(row - 1);
                Ok(())
            })
            .unwrap();
        let expected: Vec<u64> = (rows.start..rows.end.min(3500)).collect();
        assert_eq!(found, expected);
        assert_eq!(n_rows, expected.len() as u64);
    }
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
}
