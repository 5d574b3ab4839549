//! The distinct values of a column and how often they occur, up to a limit.

use crate::table::Cell;
use crate::value::Value;

/// Distinct values in order of appearance, with their counts, and whether there are more than the limit.
#[derive(Debug, Clone)]
pub(crate) struct Distinct {
    values: Vec<(Value, u64)>,
    limit: usize,
    more: bool,
}

impl Distinct {
    pub(crate) fn new(limit: usize) -> Self {
        Self { values: Vec::new(), limit, more: false }
    }

    /// Values that nobody listed, more than any limit.
    pub(crate) fn unlisted() -> Self {
        Self { values: Vec::new(), limit: 0, more: true }
    }

    pub(crate) fn add(&mut self, cell: Cell<'_>) {
        if self.more {
            return;
        }
        if let Some(value) = Value::of_cell(cell) {
            self.add_count(value, 1);
        }
    }

    /// Adds a value that occurs `n` times.
    pub(crate) fn add_count(&mut self, value: Value, n: u64) {
        if let Some((_, count)) = self.values.iter_mut().find(|(known, _)| *known == value) {
            *count += n;
        } else if self.values.len() < self.limit {
            self.values.push((value, n));
        } else {
            self.more = true;
        }
    }

    /// Whether there were more values than the limit. Counts are complete only if there were not.
    pub(crate) fn is_more(&self) -> bool {
        self.more
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len() + usize::from(self.more)
    }

    /// Whether there is at most one value.
    pub(crate) fn is_constant(&self) -> bool {
        !self.more && self.values.len() < 2
    }

    /// Values and counts: numbers in ascending order, then texts in alphabetical order.
    pub(crate) fn sorted(&self) -> Vec<(Value, u64)> {
        let mut values = self.values.clone();
        values.sort_by(|(a, _), (b, _)| a.order(b));
        values
    }

    /// The [sorted](Self::sorted) values as texts, followed by "…" if there are more.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.sorted().iter().map(|(value, _)| value.to_string()).collect();
        if self.more {
            names.push("…".into());
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::Distinct;
    use crate::table::Cell;
    use crate::value::Value;

    #[test]
    fn values_are_kept_once_and_up_to_the_limit() {
        let mut distinct = Distinct::new(3);
        for text in ["b", "10", "9", "10.0", "b"] {
            distinct.add(Cell::Text(text));
        }
        distinct.add(Cell::Missing);
        assert_eq!(distinct.names(), ["9", "10", "b"]);
        let counts: Vec<u64> = distinct.sorted().into_iter().map(|(_, count)| count).collect();
        assert_eq!(counts, [1, 2, 2]);
        distinct.add_count(Value::of_text("b"), 5);
        assert_eq!(distinct.sorted()[2], (Value::of_text("b"), 7));
        assert!(!distinct.is_more());
        distinct.add(Cell::Text("c"));
        assert!(distinct.is_more());
        assert_eq!(distinct.len(), 4);
    }
}
