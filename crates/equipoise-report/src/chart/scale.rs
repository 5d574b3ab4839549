//! Axes: the range that values span, rounded outwards to ticks a person would choose.

use crate::format::Format;

/// An axis from `low` to `high`, linear or logarithmic.
#[derive(Debug, Clone)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    pub(crate) ticks: Vec<Tick>,
}

/// A place on an axis with its name.
#[derive(Debug, Clone)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// Far beyond any figure; the difference of two such ends is still a number.
const LARGEST: f64 = 1e300;

impl Scale {
    /// A linear axis over the values, with about `n_ticks` ticks.
    pub(crate) fn linear(values: impl Iterator<Item = f64>, format: Format, n_ticks: f64) -> Self {
        let (low, high) = opened(range(values).unwrap_or((0.0, 1.0)));
        let step = nice_step((high - low) / n_ticks);
        let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
        let ticks = (0..=(last - first) as usize)
            .map(|i| {
                let value = (first + i as f64) * step;
                Tick { value, label: format.write_tick(value, step) }
            })
            .collect();
        Self { low: first * step, high: last * step, log: false, ticks }
    }

    /// The same without rounding outwards: for counts along x, where a line should use the whole width.
    pub(crate) fn tight(values: impl Iterator<Item = f64>, format: Format, n_ticks: f64) -> Self {
        let (low, high) = opened(range(values).unwrap_or((0.0, 1.0)));
        let rounded = Self::linear([low, high].into_iter(), format, n_ticks);
        let ticks = rounded.ticks.into_iter().filter(|t| (low..=high).contains(&t.value)).collect();
        Self { low, high, log: false, ticks }
    }

    /// A logarithmic axis over the values above 0.
    pub(crate) fn logarithmic(values: impl Iterator<Item = f64>, format: Format) -> Self {
        let (low, high) = range(values.filter(|&v| v > 0.0)).unwrap_or((0.1, 1.0));
        let (first, last) = ((low.log10() + 1e-9).floor(), (high.log10() - 1e-9).ceil());
        let (first, last) = if last > first { (first, last) } else { (first, first + 1.0) };
        let decades = last - first;
        let (mut from, mut to) = (first, last);
        let mut values: Vec<f64> = Vec::new();
        if decades <= 2.0 {
            // Within one or two decades the powers of ten alone say too little.
            let within = |exponent: f64| [1.0, 2.0, 5.0].map(|m| m * 10f64.powf(exponent));
            values = (0..=decades as usize).flat_map(|i| within(first + i as f64)).collect();
            let below = values.iter().copied().filter(|&v| v <= low).fold(f64::MIN, f64::max);
            let above = values.iter().copied().filter(|&v| v >= high).fold(f64::MAX, f64::min);
            if below < above {
                (from, to) = (below.log10(), above.log10());
            }
            let inside = |v: &f64| (from - 1e-9..=to + 1e-9).contains(&v.log10());
            values.retain(inside);
        } else {
            let stride = (decades / 6.0).ceil() as usize;
            values.extend(
                (0..=decades as usize).step_by(stride).map(|i| 10f64.powf(first + i as f64)),
            );
        }
        let tick = |value: f64| Tick { value, label: format.write_log_tick(value) };
        Self { low: from, high: to, log: true, ticks: values.into_iter().map(tick).collect() }
    }

    /// Where a value lies: 0 at the low end, 1 at the high one.
    pub(crate) fn fraction(&self, value: f64) -> f64 {
        let value = value.clamp(-LARGEST, LARGEST);
        let value = if self.log { value.log10() } else { value };
        (value - self.low) / (self.high - self.low)
    }

    /// Whether the value can be drawn.
    pub(crate) fn holds(&self, value: f64) -> bool {
        value.is_finite() && (!self.log || value > 0.0)
    }
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let values = values.filter(|v| v.is_finite()).map(|v| v.clamp(-LARGEST, LARGEST));
    values.fold(None, |range, v| {
        Some(range.map_or((v, v), |(low, high): (f64, f64)| (low.min(v), high.max(v))))
    })
}

/// A range of one value is opened around it, and one too thin for rounding is as well.
fn opened((low, high): (f64, f64)) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    if high - low > 1e-9 * size {
        (low, high)
    } else if size == 0.0 {
        (0.0, 1.0)
    } else {
        (low - 0.1 * size, high + 0.1 * size)
    }
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `rough`.
fn nice_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0]
        .map(|m| m * power)
        .into_iter()
        .find(|&s| s >= rough * 0.999)
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_hold_all_values() {
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
            let tight = Scale::tight(values.iter().copied(), Format::Auto, 5.0);
            assert!(!tight.ticks.is_empty() && tight.fraction(1.0).is_finite(), "{values:?}");
            let log = Scale::logarithmic(values.iter().copied(), Format::Auto);
            assert!(!log.ticks.is_empty() && log.fraction(3.0).is_finite(), "{values:?}");
        }
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten_or_finer_within_two_decades() {
        let wide = Scale::logarithmic([1e-4, 30.0].into_iter(), Format::Auto);
        assert_eq!(labels(&wide), ["10⁻⁴", "0.001", "0.01", "0.1", "1", "10", "100"]);
        let close = Scale::logarithmic([0.3, 0.8].into_iter(), Format::Auto);
        assert_eq!(labels(&close), ["0.2", "0.5", "1"]);
        assert!(!close.holds(0.0) && close.holds(0.1));
    }
}
