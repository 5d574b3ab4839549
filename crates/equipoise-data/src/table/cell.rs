//! One cell of a table.

/// The content of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// A missing value; see [`Cell::of_text`] for the spellings. In Parquet also null and NaN.
    Missing,
    /// A number in a Parquet file, which may be infinite. Booleans are 0 and 1.
    Number(f64),
    /// Trimmed text: every cell of a CSV file that is not missing.
    Text(&'a str),
}

impl<'a> Cell<'a> {
    /// A text cell, missing if it is empty, `NA`, `N/A`, `NaN`, `null` (in any case) or `?`.
    pub fn of_text(text: &'a str) -> Self {
        let text = text.trim();
        let missing = text.is_empty()
            || text == "?"
            || ["na", "n/a", "nan", "null"].iter().any(|word| text.eq_ignore_ascii_case(word));
        if missing { Self::Missing } else { Self::Text(text) }
    }

    /// A number cell, missing if it is NaN.
    pub fn of_number(number: f64) -> Self {
        if number.is_nan() { Self::Missing } else { Self::Number(number) }
    }

    /// The cell as a number, which may be infinite. `None` if it is missing or other text.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Missing => None,
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.parse().ok(),
        }
    }
}

impl std::fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => Ok(()),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cell;

    #[test]
    fn every_spelling_of_missing_is_missing() {
        for text in
            ["", "  ", "NA", "na", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "?", " ? "]
        {
            assert_eq!(Cell::of_text(text), Cell::Missing, "{text:?}");
        }
        assert_eq!(Cell::of_number(f64::NAN), Cell::Missing);
        for text in ["0", "none", "nap", "-", "??"] {
            assert_eq!(Cell::of_text(text), Cell::Text(text));
        }
    }

    #[test]
    fn numbers_are_parsed_from_text() {
        assert_eq!(Cell::of_text(" 1.5 ").number(), Some(1.5));
        assert_eq!(Cell::of_text("1e400").number(), Some(f64::INFINITY));
        assert_eq!(Cell::of_text("abc").number(), None);
        assert_eq!(Cell::Missing.number(), None);
    }
}
