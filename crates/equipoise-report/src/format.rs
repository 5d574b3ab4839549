//! Number formats. A missing or non-finite value is written as a dash.

use equipoise_core::Estimate;

/// Shown in place of a missing value.
pub(crate) const MISSING: &str = "–";

/// A number format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// About four significant digits; scientific notation for very large and very small numbers.
    #[default]
    Auto,
    /// A fixed number of decimals.
    Fixed(usize),
    /// A percentage with this many decimals: 0.25 is "25 %".
    Percent(usize),
    /// A difference of percentages, in percentage points with this many decimals: 0.25 is "25 pp".
    Points(usize),
}

impl Format {
    /// Formats a value.
    pub fn write(&self, value: Option<f64>) -> String {
        let Some(value) = value.filter(|v| v.is_finite()) else { return MISSING.to_owned() };
        match *self {
            Self::Auto => auto(value),
            _ if value.abs() >= 1e12 => scientific(value, 2),
            Self::Fixed(decimals) => grouped(value, decimals),
            Self::Percent(decimals) | Self::Points(decimals) => {
                grouped(100.0 * value, decimals) + self.unit()
            }
        }
    }

    fn unit(&self) -> &'static str {
        match self {
            Self::Auto | Self::Fixed(_) => "",
            Self::Percent(_) => "\u{202f}%",
            Self::Points(_) => "\u{202f}pp",
        }
    }

    /// Formats a value and the ends of its interval: "0.04 (0.01 to 0.09)".
    pub fn write_interval(&self, value: Option<f64>, interval: Option<[f64; 2]>) -> String {
        match (value, interval.filter(|ends| ends.iter().all(|end| end.is_finite()))) {
            (Some(_), Some(ends)) => {
                let [low, high] = ends.map(|end| self.write(Some(end)));
                // A unit is written once.
                let low = low.strip_suffix(self.unit()).unwrap_or(&low);
                format!("{} ({low}\u{a0}to\u{a0}{high})", self.write(value))
            }
            _ => self.write(value),
        }
    }

    /// Formats a figure and its interval.
    pub fn write_estimate(&self, estimate: Option<Estimate>) -> String {
        self.write_interval(estimate.map(|e| e.value), estimate.map(|e| [e.low, e.high]))
    }

    /// Labels a tick of a linear axis, with the decimals that the step between ticks needs.
    pub(crate) fn write_tick(&self, value: f64, step: f64) -> String {
        match self {
            Self::Percent(_) | Self::Points(_) => {
                grouped(100.0 * value, decimals(100.0 * step)) + self.unit()
            }
            _ if value != 0.0 && !(1e-4..1e6).contains(&step) => scientific(value, 1),
            _ => grouped(value, decimals(step)),
        }
    }
}

/// A count with grouped digits: "12,345".
pub fn count(n: usize) -> String {
    grouped(n as f64, 0)
}

/// "1 client", "2 clients".
pub(crate) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// "a", "a and b", "a, b and c".
pub(crate) fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn auto(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if !(1e-4..1e6).contains(&size) {
        scientific(value, 2)
    } else {
        let whole = size.log10().floor() as i32;
        let digits = grouped(value, usize::try_from(3 - whole).unwrap_or(0).min(6));
        without_trailing_zeros(&digits).to_owned()
    }
}

fn without_trailing_zeros(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

/// Fixed decimals, a typographic minus sign, and groups of three digits.
fn grouped(value: f64, decimals: usize) -> String {
    let digits = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut text = String::new();
    if value < 0.0 && digits.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        text.push('\u{2212}');
    }
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

/// "1.2×10⁻⁵".
fn scientific(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$e}", value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let sign = if value < 0.0 { "\u{2212}" } else { "" };
    let power: String = exponent.chars().map(superscript).collect();
    match without_trailing_zeros(mantissa) {
        "1" => format!("{sign}10{power}"),
        mantissa => format!("{sign}{mantissa}×10{power}"),
    }
}

fn superscript(character: char) -> char {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    character.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize])
}

/// The number of decimals a step needs: two for 0.05.
fn decimals(step: f64) -> usize {
    let mut decimals = 0;
    let mut scaled = step.abs();
    while decimals < 8 && (scaled - scaled.round()).abs() > 1e-6 * scaled.max(1e-9) {
        scaled *= 10.0;
        decimals += 1;
    }
    decimals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_keeps_four_significant_digits() {
        let texts = [0.0, 0.25, -1.5, 12.3456, 1234.0, 123_456.7, 1e-7, -2.5e9]
            .map(|x| Format::Auto.write(Some(x)));
        let expected =
            ["0", "0.25", "\u{2212}1.5", "12.35", "1,234", "123,457", "10⁻⁷", "\u{2212}2.5×10⁹"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn missing_and_non_finite_values_are_dashes() {
        for value in [None, Some(f64::NAN), Some(f64::INFINITY)] {
            assert_eq!(Format::Fixed(3).write(value), "–");
        }
        let written = Format::Fixed(1).write_interval(Some(1.0), Some([0.0, f64::NAN]));
        assert_eq!(written, "1.0");
        assert_eq!(Format::Fixed(1).write_interval(None, Some([0.0, 1.0])), "–");
    }

    #[test]
    fn intervals_need_not_be_symmetric() {
        let estimate = Estimate { value: 0.021, low: -0.04, high: 0.1 };
        let written = Format::Percent(1).write_estimate(Some(estimate));
        assert_eq!(written, "2.1\u{202f}% (\u{2212}4.0\u{a0}to\u{a0}10.0\u{202f}%)");
        let points = Format::Points(1).write_estimate(Some(estimate.abs()));
        assert_eq!(points, "2.1\u{202f}pp (0.0\u{a0}to\u{a0}10.0\u{202f}pp)");
    }

    #[test]
    fn zero_after_rounding_has_no_sign() {
        assert_eq!(Format::Fixed(2).write(Some(-0.001)), "0.00");
        assert_eq!(Format::Percent(1).write(Some(0.1234)), "12.3\u{202f}%");
        assert_eq!(Format::Fixed(3).write(Some(1e300)), "10³⁰⁰");
    }

    #[test]
    fn ticks_have_the_decimals_of_their_step() {
        assert_eq!(Format::Auto.write_tick(0.1, 0.05), "0.10");
        assert_eq!(Format::Percent(1).write_tick(0.2, 0.1), "20\u{202f}%");
        assert_eq!(Format::Auto.write_tick(2000.0, 500.0), "2,000");
    }

    #[test]
    fn lists_end_with_and() {
        let items = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(listed(&items[..1]), "a");
        assert_eq!(listed(&items[..2]), "a and b");
        assert_eq!(listed(&items), "a, b and c");
    }
}
