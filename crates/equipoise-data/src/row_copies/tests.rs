#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use parquet::arrow::arrow_writer::ArrowWriter;

use super::*;
use crate::table::{Cell, open_table};

/// Writes a table, copies some of its rows, and returns the copy's bytes.
fn copied(name: &str, content: &[u8], n_rows: usize, rows: &[usize]) -> Result<Vec<u8>, Error> {
    let dir = tempfile::tempdir().unwrap();
    let (source, path) = (dir.path().join(name), dir.path().join(format!("copy-{name}")));
    std::fs::write(&source, content).unwrap();
    let copy = RowCopy { path: path.clone(), rows: rows.to_vec() };
    copy_rows(&open_table(&source)?, n_rows, &[copy])?;
    Ok(std::fs::read(&path).unwrap())
}

#[test]
fn csv_rows_keep_their_bytes() {
    let text = "a,\"b\"\n 1 ,NA\n\"2\n2\",\"x, \"\"y\"\"\"\n\n3.0,?\n1e3,";
    let copy = copied("t.csv", text.as_bytes(), 4, &[1, 2, 3]).unwrap();
    assert_eq!(
        String::from_utf8(copy).unwrap(),
        "a,\"b\"\n\"2\n2\",\"x, \"\"y\"\"\"\n3.0,?\n1e3,\n"
    );
    let copy = copied("t.csv", text.as_bytes(), 4, &[0]).unwrap();
    assert_eq!(copy, b"a,\"b\"\n 1 ,NA\n");
}

#[test]
fn line_ends_and_a_byte_order_mark_are_kept() {
    let text = "\u{feff}a,b\r\n1,2\r\n\r\n3,4\r\n5,6\r\n";
    let copy = copied("t.csv", text.as_bytes(), 3, &[1, 2]).unwrap();
    assert_eq!(String::from_utf8(copy).unwrap(), "\u{feff}a,b\r\n3,4\r\n5,6\r\n");
}

#[test]
fn a_compressed_table_gives_compressed_copies() {
    let mut gz = GzBuilder::new().write(Vec::new(), Compression::default());
    gz.write_all(b"a\n1\n2\n3\n").unwrap();
    let copy = copied("t.csv.gz", &gz.finish().unwrap(), 3, &[0, 2]).unwrap();
    let mut text = String::new();
    MultiGzDecoder::new(&copy[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, "a\n1\n3\n");
}

#[test]
fn parquet_columns_keep_their_types_and_nulls() {
    let columns: [(&str, ArrayRef); 2] = [
        ("n", Arc::new(Int64Array::from(vec![Some(1 << 60), None, Some(3)]))),
        ("t", Arc::new(StringArray::from(vec![Some(" a "), Some("NA"), None]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let copy = copied("t.parquet", &bytes, 3, &[0, 2]).unwrap();
    let found = parquet::arrow::arrow_reader::ParquetRecordBatchReader::try_new(
        bytes::Bytes::from(copy),
        10,
    );
    let found: Vec<RecordBatch> = found.unwrap().map(Result::unwrap).collect();
    let expected = RecordBatch::try_new(
        batch.schema(),
        vec![
            Arc::new(Int64Array::from(vec![Some(1 << 60), Some(3)])),
            Arc::new(StringArray::from(vec![Some(" a "), None])),
        ],
    );
    assert_eq!(found, [expected.unwrap()]);
}

#[test]
fn a_copy_reads_back_as_the_same_cells() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("t.csv");
    let text: String = (0..5000).map(|i| format!("{i},\"v {i}\"\n")).collect();
    std::fs::write(&source, format!("n,t\n{text}")).unwrap();
    let (odd, even): (Vec<usize>, Vec<usize>) = (0..5000).partition(|i| i % 2 == 1);
    let copies = [("odd.csv", odd), ("even.csv", even)]
        .map(|(name, rows)| RowCopy { path: dir.path().join(name), rows });
    copy_rows(&open_table(&source).unwrap(), 5000, &copies).unwrap();
    for RowCopy { path, rows } in copies {
        let mut expected = rows.into_iter();
        let visit = |_: u64, cells: &[Cell<'_>]| {
            let i = expected.next().unwrap();
            assert_eq!(cells[0].to_string(), i.to_string());
            assert_eq!(cells[1].to_string(), format!("v {i}"));
            Ok(())
        };
        assert_eq!(open_table(&path).unwrap().visit(&[0, 1], visit).unwrap(), 2500);
    }
}

#[test]
fn a_table_that_changed_is_an_error() {
    for n_rows in [1, 3] {
        let text = copied("t.csv", b"a\n1\n2\n", n_rows, &[0]).unwrap_err().to_string();
        assert!(text.contains("t.csv") && text.contains("changed"), "{text}");
    }
}
