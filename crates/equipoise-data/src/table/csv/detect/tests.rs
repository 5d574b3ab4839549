#![allow(clippy::unwrap_used)]

use super::*;

fn detected(text: &str) -> Delimiter {
    detect(text.as_bytes(), true, &[]).unwrap()
}

#[test]
fn every_delimiter_is_detected() {
    for delimiter in Delimiter::ALL {
        let separator = char::from(delimiter.byte()).to_string();
        let text = |lines: &str| lines.replace('_', &separator);
        assert_eq!(detected(&text("a_b_c\n1_2_3\n4_5_6\n")), delimiter);
        assert_eq!(detected(&text("a_b_c")), delimiter, "a header without rows");
        assert_eq!(detected(&text("\u{feff}\"a\"_b_c\r\n1_2_3\r\n")), delimiter);
        assert_eq!(detected(&text("\n\na_b\n\n1_2\n")), delimiter, "blank lines");
        assert_eq!(detected(&text("a_b\n1_2_3\n4_5_6\n")), delimiter, "too many cells");
    }
}

#[test]
fn other_delimiters_in_cells_do_not_matter() {
    let semicolon = Delimiter::Semicolon;
    assert_eq!(detected("a;b;c\n1,5;2,5;3,5\n2,5;3,5;4,5\n"), semicolon, "decimal commas");
    assert_eq!(detected("name;city\nAnn;Paris, France\nBob;Rome, Italy\n"), semicolon);
    assert_eq!(detected("name;\"city, country\"\nAnn;\"Paris, France\"\n"), semicolon);
    assert_eq!(detected("a;\"b,c,d\"\n1;\"x,y,z\"\n"), semicolon, "quoted in every row");
    assert_eq!(detected("a;\"b\"\",\"\n1;2\n"), semicolon, "a quote in quotes");
    assert_eq!(detected("name;city, country\nAnn;Paris, France\nBob;Rome\n"), semicolon);
    assert_eq!(detected("a,b|c,d\n1,2,3\n1,2,3\n"), Delimiter::Comma);
    assert_eq!(detected("size,b\n5\",1\n6\"|x,2\n"), Delimiter::Comma, "inches are no quotes");
    assert_eq!(detected("a,\"two\nlines;x\",c\n1,2,3\n"), Delimiter::Comma);
}

#[test]
fn one_column_is_a_table_too() {
    for text in ["", "\n", "a", "a\n1\n", "a\n1,2\n", "a\nx;y\nx;y\n", "\"a;b\"\n1\n"] {
        assert_eq!(detected(text), Delimiter::Comma, "{text:?}");
    }
}

#[test]
fn ambiguous_files_name_the_option() {
    for text in ["a;b,c", "a;b,c\n1;2,3\n4;5,6\n", "a;b,c\n1\n"] {
        let problem = detect(text.as_bytes(), true, &[]).unwrap_err().to_string();
        assert!(problem.contains("2 columns if a comma separates them"), "{problem}");
        assert!(problem.contains("2 columns if a semicolon"), "{problem}");
        assert!(problem.contains("--delimiter comma"), "{problem}");
    }
}

#[test]
fn the_columns_that_the_table_should_have_decide() {
    let text = b"id;a,b;c\n1;2,3;4\n5;6,7;8\n";
    let with = |columns: &[&str]| detect(text, true, columns);
    assert_eq!(with(&["c", "id"]).unwrap(), Delimiter::Semicolon);
    assert_eq!(with(&["id;a"]).unwrap(), Delimiter::Comma);
    assert!(with(&["id", "b;c"]).is_err());
    // Even if the rows suggest otherwise: the reader then says what is wrong with them.
    assert_eq!(detect(b"a,b|c\n1|2\n3|4\n", true, &["a", "b|c"]).unwrap(), Delimiter::Comma);
}

#[test]
fn a_row_that_is_cut_off_does_not_count() {
    let text = b"a;b,c;d\n1;2,3;4\n5;6";
    assert!(detect(text, false, &[]).is_err());
    assert_eq!(detect(b"a;b,c;d\n1,1;2,3;4\n5;6", false, &[]).unwrap(), Delimiter::Semicolon);
    // A header longer than the sample is all there is.
    assert_eq!(detect(b"a;b;\"c", false, &[]).unwrap(), Delimiter::Semicolon);
}
