#![allow(clippy::unwrap_used)]

use super::*;
use crate::table::open_table;

/// The cells of all columns, as text, "∅" for missing.
fn run(bytes: &[u8]) -> Result<(Vec<String>, Vec<Vec<String>>), Error> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bank.csv");
    std::fs::write(&path, bytes).unwrap();
    let plain = read(&path);
    let gz_path = dir.path().join("bank.csv.gz");
    let mut gz = flate2::write::GzEncoder::new(
        std::fs::File::create(&gz_path).unwrap(),
        flate2::Compression::fast(),
    );
    gz.write_all(bytes).unwrap();
    gz.finish().unwrap();
    match (&plain, read(&gz_path)) {
        (Ok(plain), Ok(gz)) => assert_eq!(*plain, gz),
        (Err(plain), Err(gz)) => {
            assert_eq!(plain.to_string(), gz.to_string().replace("bank.csv.gz", "bank.csv"))
        }
        _ => panic!("plain and compressed differ"),
    }
    plain
}

fn read(path: &Path) -> Result<(Vec<String>, Vec<Vec<String>>), Error> {
    let table = open_table(path)?;
    let columns = table.columns().to_vec();
    let chosen: Vec<usize> = (0..columns.len()).collect();
    let mut rows = Vec::new();
    let n_rows = table.visit(&chosen, |row, cells| {
        rows.push(
            cells
                .iter()
                .map(|cell| match cell {
                    Cell::Missing => "∅".to_string(),
                    cell => cell.to_string(),
                })
                .collect(),
        );
        assert_eq!(row, rows.len() as u64);
        Ok(())
    })?;
    assert_eq!(n_rows, rows.len() as u64);
    Ok((columns, rows))
}

fn fails(bytes: &[u8], parts: &[&str]) {
    let message = run(bytes).unwrap_err().to_string();
    for part in parts.iter().chain(&["bank.csv"]) {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn handles_byte_order_marks_line_ends_quotes_and_blanks() {
    let (columns, rows) =
        run("\u{feff}\"a\", b \r\n 1 ,\"x, \"\"y\"\"\"\r\n?,é\r\n\r\nnull,\"two\nlines\""
            .as_bytes())
        .unwrap();
    assert_eq!(columns, ["a", "b"]);
    assert_eq!(rows, [["1", "x, \"y\""], ["∅", "é"], ["∅", "two\nlines"]]);
}

#[test]
fn a_header_alone_is_a_table_without_rows() {
    assert_eq!(run(b"a,b\n").unwrap().1.len(), 0);
    assert_eq!(run(b"a,b").unwrap().0, ["a", "b"]);
}

#[test]
fn rejects_malformed_tables_with_the_location() {
    fails(b"a,b\n1,2\n3\n", &["row 2", "line 3", "1 cells", "2 columns"]);
    fails(b"a,b\n\"1\n\",2\n3,4,5\n", &["row 2", "line 4", "3 cells"]);
    fails(b"a,b\n1,2\n3,caf\xe9\n", &["line 3", "UTF-8"]);
    fails(b"a,caf\xe9\n1,2\n", &["line 1", "UTF-8"]);
    fails(b"a,b,a\n1,2,3\n", &["column `a`: the header has this column twice"]);
    fails(b"a, a\n1,2\n", &["column `a`: the header has this column twice"]);
    fails(b",a\n0,2\n", &["column 1", "no name"]);
    fails(b"\n\n", &["is empty"]);
}

#[test]
fn rejects_open_quotes_and_nul_bytes() {
    let open = "opens a quote that is never closed";
    fails(b"a,b\n1,2\n3,\"4\n5,6\n", &["line 3", open]);
    fails(b"a,b\n1,2\n\"3,4\n5,6\n", &["line 3", open]);
    fails(b"a,b\n1,\"2\"\"", &["line 2", open]);
    fails(b"a,\"b\n1,2\n", &["line 1", open]);
    fails(b"a,b\n1,2\n3,\0\n5,6\n", &["line 3", "NUL byte"]);
    fails(b"a,b\n1,2\n\0", &["line 3", "NUL byte"]);
    fails(b"a,b\n1,2\n\0\n", &["line 3", "NUL byte"]);
    fails(b"a,b\0\n1,2\n", &["line 1", "NUL byte"]);
    fails(b"\0", &["line 1", "NUL byte"]);
    // A quote that is closed in the last byte, and one inside a cell.
    assert_eq!(run(b"a,b\n1,\"2\"").unwrap().1, [["1", "2"]]);
    assert_eq!(run(b"a,b\n1,2\"\n").unwrap().1, [["1", "2\""]]);
    assert_eq!(run(b"a\n\"x\n\"").unwrap().1, [["x"]]);
}

#[test]
fn other_delimiters_are_detected_or_given() {
    let expected =
        (vec!["a".to_owned(), "b".to_owned()], vec![vec!["1,5".to_owned(), "x|y".into()]]);
    assert_eq!(run(b"a;b\n1,5;x|y\n").unwrap(), expected);
    assert_eq!(run(b"\xef\xbb\xbfa\tb\r\n1,5\t\"x|y\"\r\n").unwrap(), expected);
    fails(b"a;b\n1,5;x|y;z\n", &["line 2 has 3 cells", "unquoted semicolon"]);
    fails(b"a;b,c\n1;2,3\n", &["the delimiter is unclear", "--delimiter"]);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bank.csv");
    std::fs::write(&path, b"a;b,c\n1;2,3\n").unwrap();
    let given = |delimiter| {
        let file = TableFile { delimiter: Some(delimiter), ..(&path).into() };
        open_table(file).unwrap().columns().to_vec()
    };
    assert_eq!(given(Delimiter::Comma), ["a;b", "c"]);
    assert_eq!(given(Delimiter::Semicolon), ["a", "b,c"]);
    assert_eq!(given(Delimiter::Pipe), ["a;b,c"]);
}

#[test]
fn a_table_longer_than_the_sample_is_read_to_its_end() {
    let n_rows = 3 * SAMPLE_BYTES as usize / 8;
    let rows: String = (0..n_rows).map(|i| format!("{i};\"x\n,\"\n")).collect();
    let (columns, rows) = run(format!("a;b\n{rows}").as_bytes()).unwrap();
    assert_eq!(columns, ["a", "b"]);
    assert_eq!(rows.len(), n_rows);
    assert!(rows.iter().enumerate().all(|(i, row)| row[0] == i.to_string() && row[1] == "x\n,"));
}

#[test]
fn a_file_with_the_wrong_name_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let says = |name: &str, bytes: &[u8], part: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let message = read(&path).unwrap_err().to_string();
        assert!(message.contains(name) && message.contains(part), "{message}");
    };
    says("a.csv.gz", b"a,b\n1,2\n", "cannot be read");
    says("a.csv.gz", b"a", "cannot be read");
    says("a.csv", b"\x1f\x8b\x08\0", "not UTF-8");
    says("a.csv", b"PK\x03\x04\x14\0...", "not UTF-8");
    says("a.csv", b"\xff\xfea\0,\0b\0", "Save the table as UTF-8");
}

#[test]
fn a_damaged_gz_file_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bank.csv.gz");
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gz.write_all(b"a,b\n1,2\n3,4\n").unwrap();
    let valid = gz.finish().unwrap();
    std::fs::write(&path, &valid[..valid.len() - 5]).unwrap();
    let message = read(&path).unwrap_err().to_string();
    assert!(message.contains("bank.csv.gz: cannot be read"), "{message}");
}

#[test]
fn numbers_are_short_and_read_back_exactly() {
    for (value, text) in [
        (1.0, "1"),
        (-0.0, "-0"),
        (0.1, "0.1"),
        (1e300, "1e300"),
        (5e-324, "5e-324"),
        (-1.5e-7, "-1.5e-7"),
        (123456789.125, "123456789.125"),
    ] {
        assert_eq!(text_of_number(value), text);
        assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits());
    }
}

fn text_of_number(value: f64) -> String {
    let mut text = Vec::new();
    shortest(value, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn numbers_are_as_short_as_the_standard_library_writes_them() {
    // A multiplicative generator runs through mantissas and signs; exponents cover the range without an exponent.
    let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
    for i in 0..200_000u32 {
        bits = bits.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let mantissa = f64::from_bits((bits >> 12) | 0x3ff0_0000_0000_0000);
        let value =
            mantissa * 10f64.powi((i % 21) as i32 - 5) * [1.0, -1.0][(bits >> 5 & 1) as usize];
        let rounded = (value * 1e3).round() / 1e3;
        for value in [value, rounded, f64::from(value as f32), value.round()] {
            if value == 0.0 || (1e-5..1e16).contains(&value.abs()) {
                // Of two shortest forms equally close, the standard library may choose the other.
                let text = text_of_number(value);
                assert_eq!(text.len(), value.to_string().len(), "{text}");
                assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{text}");
            }
        }
    }
    for value in
        [1e-5, 1e16, 1e15, 9_007_199_254_740_993.0, 1e16f64.next_down(), 1e-5f64.next_down()]
    {
        let plain = (1e-5..1e16).contains(&value);
        let expected = if plain { value.to_string() } else { format!("{value:e}") };
        assert_eq!(text_of_number(value), expected);
    }
}

#[test]
fn many_rows_are_written_in_order_by_any_number_of_threads() {
    let n_rows = PARTS * PART_ROWS * 2 + 77;
    let numbers: Vec<f64> = (0..n_rows).map(|i| i as f64 / 8.0).collect();
    let texts: Vec<String> = (0..n_rows).map(|i| format!("a,{i}")).collect();
    let columns = [
        OutputColumn::new("x", ColumnValues::Numbers(numbers)),
        OutputColumn::new("t", ColumnValues::Texts(texts)),
    ];
    let mut expected = String::from("x,t\n");
    (0..n_rows).for_each(|i| expected += &format!("{},\"a,{i}\"\n", i as f64 / 8.0));
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut out = Vec::new();
        pool.install(|| write(&mut out, &columns, n_rows)).unwrap();
        assert!(out == expected.as_bytes(), "{threads} threads");
    }
}
