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
fn a_damaged_gz_file_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bank.csv.gz");
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gz.write_all(b"a,b\n1,2\n3,4\n").unwrap();
    let valid = gz.finish().unwrap();
    for damaged in [&valid[..valid.len() - 5], b"a,b\n1,2\n"] {
        std::fs::write(&path, damaged).unwrap();
        let message = read(&path).unwrap_err().to_string();
        assert!(message.contains("bank.csv.gz: cannot be read"), "{message}");
    }
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
        assert_eq!(shortest(value), text);
        assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits());
    }
}
