//! The distinct values of a column, up to a limit.

use crate::table::Cell;
use crate::value::Value;

/// Distinct values in order of appearance, and whether there are more than the limit.
#[derive(Debug, Clone)]
pub(crate) struct Distinct {
    values: Vec<Value>,
    limit: usize,
    more: bool,
}

impl Distinct {
    pub(crate) fn new(limit: usize) -> Self {
        Self { values: Vec::new(), limit, more: false }
    }

    pub(crate) fn add(&mut self, cell: Cell<'_>) {
        if self.more || self.values.iter().any(|value| value.is(cell)) {
            return;
        }
        if let Some(value) = Value::of_cell(cell) {
            if self.values.len() < self.limit {
                self.values.push(value);
            } else {
                self.more = true;
            }
        }
    }

    /// Whether there were more values than the limit.
    pub(crate) fn is_more(&self) -> bool {
        self.more
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len() + usize::from(self.more)
    }

    /// Numbers in ascending order, then texts in alphabetical order.
    pub(crate) fn sorted(&self) -> Vec<Value> {
        let mut values = self.values.clone();
        values.sort_by(Value::order);
        values
    }

    /// The [sorted](Self::sorted) values as texts, followed by "…" if there are more.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.sorted().iter().map(Value::to_string).collect();
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

    #[test]
    fn values_are_kept_once_and_up_to_the_limit() {
        let mut distinct = Distinct::new(3);
        for text in ["b", "10", "9", "10.0", "b"] {
            distinct.add(Cell::Text(text));
        }
        distinct.add(Cell::Missing);
        assert_eq!(distinct.names(), ["9", "10", "b"]);
        assert!(!distinct.is_more());
        distinct.add(Cell::Text("c"));
        assert!(distinct.is_more());
        assert_eq!(distinct.len(), 4);
    }
}
