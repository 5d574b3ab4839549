//! The most likely rates among those whose widest difference is a given gap.

use super::bootstrap::Cell;

/// Two cells of a condition: the one with the higher rate, and the one with the lower rate.
pub(super) type Ends = (usize, usize);

/// Halvings of the interval that contains the lower end.
const STEPS: usize = 30;

/// The rates of `cells` that maximise the likelihood while none differ by more than `gap`: those outside a window of
/// this width move to its ends. `ends` must lie at the ends, even if they are closer together.
pub(super) fn null_rates(cells: &[Cell], gap: f64, ends: Option<Ends>) -> Vec<f64> {
    let rate = |start: f64, index: usize| match ends {
        Some((top, _)) if top == index => start + gap,
        Some((_, bottom)) if bottom == index => start,
        _ => cells[index].smoothed.clamp(start, start + gap),
    };
    // The likelihood is concave in the window's start.
    let slope = |start: f64| -> f64 {
        let pull = |index: usize| {
            let (cell, rate) = (&cells[index], rate(start, index));
            cell.n as f64 * (cell.smoothed - rate) / variance(rate)
        };
        (0..cells.len()).map(pull).sum()
    };
    let (mut low, mut high) = (0.0, 1.0 - gap);
    for _ in 0..STEPS {
        let start = (low + high) / 2.0;
        if slope(start) < 0.0 {
            high = start;
        } else {
            low = start;
        }
    }
    (0..cells.len()).map(|index| rate((low + high) / 2.0, index)).collect()
}

/// The variance of one row with this rate, never 0.
pub(super) fn variance(rate: f64) -> f64 {
    (rate * (1.0 - rate)).max(1e-9)
}
