//! Scales: the range of an axis and its ticks, at round values.

use crate::format::Format;

/// A linear scale.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    pub(super) ticks: Vec<Tick>,
}

#[derive(Debug, Clone)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// Values are clamped to this size so that the difference of two of them is finite.
const MAX_ABS: f64 = 1e300;

impl Tick {
    /// The class of its grid line.
    pub(super) fn class(&self) -> &'static str {
        if self.value == 0.0 { "zero" } else { "grid" }
    }
}

impl Scale {
    /// A linear scale over the values, rounded outwards, with about `n_ticks` ticks.
    pub(super) fn linear(values: impl Iterator<Item = f64>, format: Format, n_ticks: f64) -> Self {
        let (low, high) = widened(range(values).unwrap_or((0.0, 1.0)));
        let step = round_step((high - low) / n_ticks);
        let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
        let ticks = (0..=(last - first) as usize)
            .map(|i| {
                let value = (first + i as f64) * step;
                Tick { value, label: format.write_tick(value, step) }
            })
            .collect();
        Self { low: first * step, high: last * step, ticks }
    }

    /// The position of a value: 0 at the low end of the scale, 1 at the high end.
    pub(super) fn fraction(&self, value: f64) -> f64 {
        let value = value.clamp(-MAX_ABS, MAX_ABS);
        (value - self.low) / (self.high - self.low)
    }

    pub(super) fn contains(&self, value: f64) -> bool {
        (0.0..=1.0).contains(&self.fraction(value))
    }
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let values = values.filter(|v| v.is_finite()).map(|v| v.clamp(-MAX_ABS, MAX_ABS));
    values.fold(None, |range, v| {
        Some(range.map_or((v, v), |(low, high): (f64, f64)| (low.min(v), high.max(v))))
    })
}

/// Widens a range that is empty or too thin for round ticks.
fn widened((low, high): (f64, f64)) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    if high - low > 1e-9 * size {
        (low, high)
    } else if size == 0.0 {
        (0.0, 1.0)
    } else {
        (low - 0.1 * size, high + 0.1 * size)
    }
}

/// The smallest of 1, 2 or 5 times a power of ten that is at least `min`.
fn round_step(min: f64) -> f64 {
    let power = 10f64.powf(min.log10().floor());
    [1.0, 2.0, 5.0]
        .map(|m| m * power)
        .into_iter()
        .find(|&s| s >= min * 0.999)
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_span_all_values() {
        let scale = Scale::linear([0.0, 0.37].into_iter(), Format::Auto, 4.0);
        assert_eq!(labels(&scale), ["0.0", "0.1", "0.2", "0.3", "0.4"]);
        assert!(scale.fraction(0.37) < 1.0 && scale.fraction(0.0) == 0.0);
        let negative = Scale::linear([-3.0, 1.0].into_iter(), Format::Auto, 4.0);
        assert_eq!(labels(&negative), ["\u{2212}3", "\u{2212}2", "\u{2212}1", "0", "1"]);
    }

    #[test]
    fn degenerate_ranges_have_ticks_and_finite_fractions() {
        for values in [vec![], vec![0.0], vec![2.5, 2.5], vec![-1e-12], vec![f64::NAN, 3.0]] {
            let scale = Scale::linear(values.iter().copied(), Format::Auto, 5.0);
            assert!(scale.ticks.len() >= 2, "{values:?}");
            assert!(scale.fraction(3.0).is_finite());
        }
    }
}
