//! Equality of values: as numbers if both are finite numbers, otherwise as trimmed text.

use std::cmp::Ordering;

use crate::table::Cell;

/// A value, parsed once and compared many times.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    Text(String),
}

impl Value {
    pub(crate) fn of_text(text: &str) -> Self {
        finite_number(text).map_or_else(|| Self::Text(text.trim().to_string()), Self::Number)
    }

    /// `None` if the cell is missing. An infinite number is kept as text, equal only to itself.
    pub(crate) fn of_cell(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Missing => None,
            Cell::Number(number) if number.is_finite() => Some(Self::Number(number)),
            Cell::Number(number) => Some(Self::Text(number.to_string())),
            Cell::Text(text) => Some(Self::of_text(text)),
        }
    }

    /// Numbers in ascending order, then texts in alphabetical order.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Number(_), Self::Text(_)) => Ordering::Less,
            (Self::Text(_), Self::Number(_)) => Ordering::Greater,
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
        }
    }

    pub(crate) fn is(&self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            (Self::Number(own), Cell::Number(other)) => *own == other,
            (Self::Number(own), Cell::Text(text)) => finite_number(text) == Some(*own),
            (Self::Text(own), Cell::Text(text)) => own == text.trim(),
            (Self::Text(_), Cell::Number(_)) | (_, Cell::Missing) => false,
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // Adding 0 turns −0 into 0, which equals it.
            Self::Number(number) => write!(f, "{}", number + 0.0),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// The number that a text spells, if it is finite.
pub(crate) fn finite_number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::Value;
    use crate::table::Cell;

    #[test]
    fn numbers_compare_as_numbers_and_the_rest_as_trimmed_text() {
        let one = Value::of_text("1");
        for spelling in ["1", "1.0", " 1 ", "+1", "1e0", "01"] {
            assert!(one.is(Cell::Text(spelling)), "{spelling:?}");
            assert_eq!(Value::of_text(spelling), one);
        }
        assert!(one.is(Cell::Number(1.0)));
        assert!(!one.is(Cell::Text("one")));
        assert!(!one.is(Cell::Missing));
        let white = Value::of_text(" White ");
        assert!(white.is(Cell::Text("White")));
        assert!(!white.is(Cell::Text("white")));
        assert!(!white.is(Cell::Number(1.0)));
    }

    #[test]
    fn values_that_are_not_finite_stay_text() {
        assert_eq!(Value::of_text("1e400"), Value::Text("1e400".into()));
        assert!(!Value::of_text("inf").is(Cell::Text("1e400")));
        assert_eq!(Value::of_cell(Cell::Missing), None);
        assert_eq!(Value::Number(-0.0).to_string(), "0");
    }
}
