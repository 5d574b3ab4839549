//! Gaps in figures and in words. A gap is always shown as a size, from 0; words say which group is ahead.

use equipoise_core::{Estimate, Gap};

use crate::format::Format;

/// The format of a difference of rates.
pub(super) const POINTS: Format = Format::Points(1);

/// The size of a gap with its interval, which begins at 0 if these rows do not show which group is ahead.
pub(super) fn size(gap: &Gap) -> Estimate {
    gap.estimate().abs()
}

/// The size of a gap as text, or a dash.
pub(super) fn size_text(gap: Option<&Gap>) -> String {
    POINTS.write_estimate(gap.map(size))
}

/// Which group has the higher rate.
pub(super) fn in_words(gap: &Gap) -> String {
    let [first, second] = gap.groups.each_ref().map(|name| quoted(name));
    let (high, low) = if gap.value < 0.0 { (&second, &first) } else { (&first, &second) };
    let rate = gap.condition.rate_name();
    if POINTS.write(Some(gap.size())) == POINTS.write(Some(0.0)) {
        format!("{first} and {second} have the same {rate}")
    } else {
        format!("the {rate} of {high} is higher than that of {low}")
    }
}

/// A name in running text. One with a comma would fall apart without quotation marks.
pub(super) fn quoted(name: &str) -> String {
    if name.contains(',') { format!("“{name}”") } else { name.to_owned() }
}
