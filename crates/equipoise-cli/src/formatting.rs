//! Formats numbers and tables as text: few digits, aligned columns, no colour.

use comfy_table::{CellAlignment, Table, presets};
use equipoise_core::{Estimate, Gap};

/// A rate or a weight with three decimals; a dash if missing.
pub(crate) fn rate(value: Option<f64>) -> String {
    value.map_or_else(|| "—".to_string(), |value| format!("{value:.3}"))
}

/// A figure with three decimals; a dash if missing.
pub(crate) fn figure(estimate: Option<Estimate>) -> String {
    rate(estimate.map(|estimate| estimate.value))
}

/// A figure with its 95 % interval.
pub(crate) fn with_interval(estimate: Option<Estimate>) -> String {
    let text = |e: Estimate| format!("{:.3} [{:.3}, {:.3}]", e.value, e.low, e.high);
    estimate.map_or_else(|| "—".to_string(), text)
}

/// A signed gap with its 95 % interval.
pub(crate) fn gap_text(gap: Option<&Gap>) -> String {
    let text = |g: &Gap| format!("{} [{}, {}]", signed(g.value), signed(g.low), signed(g.high));
    gap.map_or_else(|| "—".to_string(), text)
}

/// Four significant digits, with an exponent if the number is very large or small.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_string()
    } else if (1e-4..1e5).contains(&size) {
        let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.3e}")
    }
}

/// `1 row`, `2 rows`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// A bar that fills `share` of `width` characters, to an eighth of a character.
pub(crate) fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (8 * width) as f64).round() as usize;
    // A nonzero share is always visible.
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// An aligned table: a header, then rows. The columns with an index in `numbers` are right-aligned.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>, numbers: &[usize]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    if !header.is_empty() {
        table.set_header(header.to_vec());
    }
    table.add_rows(rows);
    let n_columns = table.column_count();
    for (i, column) in table.column_iter_mut().enumerate() {
        // Two spaces between columns, none before the first.
        column.set_padding((0, if i + 1 < n_columns { 2 } else { 0 }));
        if numbers.contains(&i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = table.lines().map(|line| line.trim_end().to_string() + "\n");
    lines.collect()
}

fn signed(value: f64) -> String {
    format!("{value:+.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_significant_digits() {
        let cases = [
            (0.0, "0"),
            (0.123456, "0.1235"),
            (-12.3456, "-12.35"),
            (43210.9, "43211"),
            (1e-9, "1.000e-9"),
            (123456.0, "1.235e5"),
            (0.99999, "1.0000"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn bars_are_proportional_and_never_vanish() {
        assert_eq!(bar(1.0, 3), "███");
        assert_eq!(bar(0.5, 3), "█▌");
        assert_eq!(bar(1e-9, 3), "▏");
        assert_eq!(bar(0.0, 3), "");
    }

    #[test]
    fn tables_are_aligned_without_trailing_spaces() {
        let rows = vec![vec!["a".into(), "1".into()], vec!["long".into(), "10".into()]];
        assert_eq!(table(&["id", "n"], rows, &[1]), "id     n\na      1\nlong  10\n");
    }
}
