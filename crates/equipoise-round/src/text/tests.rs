#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn foreign_text_cannot_control_a_terminal() {
    let hostile = "a\x1b[2J\x07b\u{202e}c\nd\u{9b}e\u{200b}f\u{e0041}";
    let shown = printable(hostile);
    assert_eq!(shown, "a\\u{1b}[2J\\u{7}b\\u{202e}c\\u{a}d\\u{9b}e\\u{200b}f\\u{e0041}");
    assert_eq!(printable("Größe: 3 °C"), "Größe: 3 °C");
    assert_eq!(printable(&"x".repeat(500)), format!("{}…", "x".repeat(200)));
}

#[test]
fn names_are_safe_in_paths_and_urls() {
    for good in ["north", "Site-3.a_b", "7"] {
        assert!(good.parse::<Name>().is_ok(), "{good}");
    }
    for bad in ["", ".", "..", "a/b", "-x", "a b", "é", "a\n", &"x".repeat(65)] {
        assert!(bad.parse::<Name>().is_err(), "{bad}");
    }
}
