//! Statistics of a column, collected in one pass.

use crate::distinct::Distinct;
use crate::table::Cell;
use crate::value::Value;

/// Maximum number of levels of an inferred categorical feature.
pub(super) const MAX_LEVELS: usize = 100;

/// Counts, mean, standard deviation and distinct values of a column.
pub(super) struct Statistics {
    pub(super) distinct: Distinct,
    pub(super) n_missing: u64,
    /// First row and text of a value that is not a number.
    pub(super) first_text: Option<(u64, String)>,
    /// First row and text of a number that is not finite.
    pub(super) first_infinite: Option<(u64, String)>,
    /// A value that must occur.
    required: Option<Value>,
    pub(super) required_occurs: bool,
    /// Number of finite numbers.
    pub(super) n_numbers: u64,
    pub(super) mean: f64,
    /// Sum of squared distances from the mean (Welford's recurrence, which needs no second pass).
    squares: f64,
}

impl Statistics {
    pub(super) fn new(required: Option<&str>) -> Self {
        Self {
            required: required.map(Value::of_text),
            required_occurs: false,
            distinct: Distinct::new(MAX_LEVELS),
            n_missing: 0,
            first_text: None,
            first_infinite: None,
            n_numbers: 0,
            mean: 0.0,
            squares: 0.0,
        }
    }

    pub(super) fn add(&mut self, row: u64, cell: Cell<'_>) {
        self.distinct.add(cell);
        if !self.required_occurs {
            self.required_occurs = self.required.as_ref().is_some_and(|value| value.is(cell));
        }
        match cell.number() {
            Some(number) if number.is_finite() => {
                self.n_numbers += 1;
                let distance = number - self.mean;
                self.mean += distance / self.n_numbers as f64;
                self.squares += distance * (number - self.mean);
            }
            Some(_) => {
                self.first_infinite.get_or_insert_with(|| (row, cell.to_string()));
            }
            None if cell == Cell::Missing => self.n_missing += 1,
            None => {
                self.first_text.get_or_insert_with(|| (row, cell.to_string()));
            }
        }
    }

    /// Population standard deviation.
    pub(super) fn deviation(&self) -> f64 {
        (self.squares / self.n_numbers as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::Statistics;
    use crate::table::Cell;

    #[test]
    fn mean_and_deviation_are_those_of_the_numbers_present() {
        let mut statistics = Statistics::new(None);
        for (row, text) in ["2", "4", "", "4", "4", "5", "5", "NA", "7", "9"].iter().enumerate() {
            statistics.add(row as u64 + 1, Cell::of_text(text));
        }
        assert_eq!(statistics.n_missing, 2);
        // Mean 5 and deviation 2 are exact up to the rounding of the recurrence.
        assert!((statistics.mean - 5.0).abs() < 1e-14);
        assert!((statistics.deviation() - 2.0).abs() < 1e-14);
        assert!(statistics.first_text.is_none());
    }

    #[test]
    fn a_large_offset_does_not_spoil_the_deviation() {
        let mut statistics = Statistics::new(None);
        for i in 0..1000_u64 {
            statistics.add(i, Cell::Number(1e9 + (i % 2) as f64));
        }
        assert!((statistics.deviation() - 0.5).abs() < 1e-6);
    }
}
