//! Statistics of a column, collected in one pass or combined from descriptions.

use crate::distinct::Distinct;
use crate::table::Cell;
use crate::value::Value;

/// Maximum number of levels of an inferred categorical feature.
pub(super) const MAX_LEVELS: usize = 100;

/// Counts, mean, standard deviation and distinct values of a column.
pub(super) struct Statistics {
    pub(super) distinct: Distinct,
    pub(super) n_missing: u64,
    /// Whether some value is not a number.
    pub(super) has_text: bool,
    /// The first value that is not a number, if a table was read.
    pub(super) first_text: Option<Place>,
    /// The first number that is not finite.
    pub(super) first_infinite: Option<Place>,
    /// A value that must occur.
    required: Option<Value>,
    pub(super) required_occurs: bool,
    /// Number of finite numbers.
    pub(super) n_numbers: u64,
    pub(super) mean: f64,
    /// Sum of squared distances from the mean (Welford's recurrence, which needs no second pass).
    squares: f64,
    /// Rows whose values descriptions withhold. No other figure includes them.
    pub(super) n_withheld: u64,
}

/// A cell: the index of its table, its row and its text.
pub(super) struct Place {
    pub(super) table: usize,
    pub(super) row: u64,
    pub(super) text: String,
}

impl Statistics {
    pub(super) fn new(required: Option<&str>) -> Self {
        Self {
            required: required.map(Value::of_text),
            required_occurs: false,
            distinct: Distinct::new(MAX_LEVELS),
            n_missing: 0,
            has_text: false,
            first_text: None,
            first_infinite: None,
            n_numbers: 0,
            mean: 0.0,
            squares: 0.0,
            n_withheld: 0,
        }
    }

    pub(super) fn add(&mut self, table: usize, row: u64, cell: Cell<'_>) {
        self.distinct.add(cell);
        if !self.required_occurs {
            self.required_occurs = self.required.as_ref().is_some_and(|value| value.is(cell));
        }
        let place = || Place { table, row, text: cell.to_string() };
        match cell.number() {
            Some(number) if number.is_finite() => {
                self.n_numbers += 1;
                let distance = number - self.mean;
                self.mean += distance / self.n_numbers as f64;
                self.squares += distance * (number - self.mean);
            }
            Some(_) => {
                self.first_infinite.get_or_insert_with(place);
            }
            None if cell == Cell::Missing => self.n_missing += 1,
            None => {
                self.has_text = true;
                self.first_text.get_or_insert_with(place);
            }
        }
    }

    /// Adds a value that occurs `n` times, without its moments.
    pub(super) fn add_level(&mut self, value: Value, n: u64) {
        self.required_occurs |= self.required.as_ref() == Some(&value);
        self.distinct.add_count(value, n);
    }

    /// Adds the moments of other numbers (Chan's formula).
    pub(super) fn add_moments(&mut self, count: u64, mean: f64, variance: f64) {
        if count == 0 {
            return;
        }
        let (own, other) = (self.n_numbers as f64, count as f64);
        let distance = mean - self.mean;
        self.n_numbers += count;
        let all = self.n_numbers as f64;
        self.mean += distance * (other / all);
        self.squares += variance * other + distance * distance * (own * other / all);
    }

    /// Population variance.
    pub(super) fn variance(&self) -> f64 {
        self.squares / self.n_numbers as f64
    }

    /// Population standard deviation.
    pub(super) fn deviation(&self) -> f64 {
        self.variance().sqrt()
    }

    /// The most frequent value, and the first in order of several.
    pub(super) fn mode(&self) -> Option<Value> {
        let most =
            |most: (Value, u64), next: (Value, u64)| if next.1 > most.1 { next } else { most };
        self.distinct.sorted().into_iter().reduce(most).map(|(value, _)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::Statistics;
    use crate::table::Cell;
    use crate::value::Value;

    #[test]
    fn mean_and_deviation_are_those_of_the_numbers_present() {
        let mut statistics = Statistics::new(None);
        for (row, text) in ["2", "4", "", "4", "4", "5", "5", "NA", "7", "9"].iter().enumerate() {
            statistics.add(0, row as u64 + 1, Cell::of_text(text));
        }
        assert_eq!(statistics.n_missing, 2);
        // Mean 5 and deviation 2 are exact up to the rounding of the recurrence.
        assert!((statistics.mean - 5.0).abs() < 1e-14);
        assert!((statistics.deviation() - 2.0).abs() < 1e-14);
        assert!(!statistics.has_text);
    }

    #[test]
    fn a_large_offset_does_not_spoil_the_deviation() {
        let mut statistics = Statistics::new(None);
        for i in 0..1000_u64 {
            statistics.add(0, i, Cell::Number(1e9 + (i % 2) as f64));
        }
        assert!((statistics.deviation() - 0.5).abs() < 1e-6);
    }

    #[test]
    fn moments_of_parts_combine_to_those_of_the_whole() {
        let numbers: Vec<f64> = (0..999).map(|i| 1e3 + f64::from(i * i % 83)).collect();
        let of = |numbers: &[f64]| {
            let mut statistics = Statistics::new(None);
            numbers.iter().for_each(|n| statistics.add(0, 1, Cell::Number(*n)));
            statistics
        };
        let (whole, mut combined) = (of(&numbers), Statistics::new(None));
        for part in [&numbers[..5], &numbers[5..400], &numbers[400..]].map(of) {
            combined.add_moments(part.n_numbers, part.mean, part.variance());
        }
        combined.add_moments(0, f64::NAN, f64::NAN);
        assert_eq!(combined.n_numbers, 999);
        assert!((combined.mean / whole.mean - 1.0).abs() < 1e-14);
        assert!((combined.deviation() / whole.deviation() - 1.0).abs() < 1e-13);
    }

    #[test]
    fn the_mode_is_the_most_frequent_value_and_the_first_of_several() {
        let mut statistics = Statistics::new(None);
        for text in ["b", "a", "b", "a", "c"] {
            statistics.add(0, 1, Cell::of_text(text));
        }
        assert_eq!(statistics.mode(), Some(Value::of_text("a")));
    }
}
