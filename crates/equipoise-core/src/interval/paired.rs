//! Means of differences, row by row.

use super::distribution::student_t;
use super::{Estimate, Z};

/// The mean of paired differences with Student's interval. `None` for fewer than two differences, or if all are equal: their
/// variance is then unknown.
pub fn paired_mean(differences: &[f64]) -> Option<Estimate> {
    let n = differences.len() as f64;
    if differences.len() < 2 {
        return None;
    }
    let mean = differences.iter().sum::<f64>() / n;
    let squares: f64 = differences.iter().map(|d| (d - mean) * (d - mean)).sum();
    let error = (squares / (n - 1.0) / n).sqrt();
    if !error.is_finite() || differences.iter().all(|d| *d == differences[0]) {
        return None;
    }
    let half = student_t(differences.len() - 1) * error;
    Some(Estimate { value: mean, low: mean - half, high: mean + half })
}

/// The difference of two paired rates, such as the accuracies of two models on the same `n` rows: `first_only` rows
/// are successes of the first model alone, `second_only` of the second alone. Bonett and Price's interval, which adds
/// one row of either kind to the variance, so that models that agree on every row still get an honest width. `None`
/// over no rows.
pub(crate) fn paired_rates(first_only: usize, second_only: usize, n: usize) -> Option<Estimate> {
    if n == 0 {
        return None;
    }
    let total = n as f64;
    let (first, second) =
        ((first_only as f64 + 1.0) / (total + 2.0), (second_only as f64 + 1.0) / (total + 2.0));
    let centre = first - second;
    let half = Z * ((first + second - centre * centre) / (total + 2.0)).max(0.0).sqrt();
    Some(Estimate {
        value: (first_only as f64 - second_only as f64) / total,
        low: (centre - half).max(-1.0),
        high: (centre + half).min(1.0),
    })
}

/// The mean of `score − label` (1 or 0): by how much the mean score exceeds the base rate. The interval is normal. Its
/// variance counts one more row of each label with the wrong score, so that a few rows that agree are not certain. `None`
/// without rows or if the lengths differ.
pub fn calibration(scores: &[f64], positive: &[bool]) -> Option<Estimate> {
    let differences = scores.iter().zip(positive).map(|(s, &p)| s - f64::from(u8::from(p)));
    let (sum, squares) =
        differences.fold((0.0, 0.0), |(sum, squares), d| (sum + d, squares + d * d));
    let n = scores.len() as f64;
    let value = sum / n;
    if scores.len() != positive.len() || !value.is_finite() {
        return None;
    }
    let variance = (squares + 2.0 - sum * sum / (n + 2.0)) / (n + 1.0);
    let half = Z * (variance / n).sqrt();
    Some(Estimate { value, low: (value - half).max(-1.0), high: (value + half).min(1.0) })
}
