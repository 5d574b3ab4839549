//! When two contenders are tied: differences paired over seeds.

use equipoise_core::paired_mean;

/// Mean gaps that differ by no more than this are tied.
pub(super) const TIE_MARGIN: f64 = 0.005;

/// Whether the gaps `a` are larger than the gaps `b`, seed by seed: the mean difference is above [`TIE_MARGIN`], and
/// its 95 % t-interval is above 0. A single seed has no interval, so the margin alone decides.
pub(super) fn is_larger(a: &[f64], b: &[f64]) -> bool {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    mean > TIE_MARGIN && paired_mean(&differences).is_none_or(|estimate| estimate.low > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_difference_is_a_tie_however_certain() {
        assert!(!is_larger(&[0.0149, 0.0151, 0.015], &[0.0101, 0.0099, 0.0102]));
    }

    #[test]
    fn an_uncertain_difference_is_a_tie_however_large() {
        // Differences 0.2 and 0.0: mean 0.1, standard error 0.1, t(0.975; 1) = 12.7.
        assert!(!is_larger(&[0.3, 0.1], &[0.1, 0.1]));
        // Differences 0.02, 0.04, 0.06: mean 0.04, standard error 0.01155, t(0.975; 2) = 4.303, so 0.04 ± 0.0497.
        assert!(!is_larger(&[0.03, 0.05, 0.07], &[0.01, 0.01, 0.01]));
    }

    #[test]
    fn a_certain_difference_above_the_margin_is_not_a_tie() {
        // Differences 0.03, 0.04, 0.05: mean 0.04, standard error 0.00577, so 0.04 ± 0.0248.
        assert!(is_larger(&[0.04, 0.05, 0.06], &[0.01, 0.01, 0.01]));
        assert!(!is_larger(&[0.01, 0.01, 0.01], &[0.04, 0.05, 0.06]));
        // Equal differences have no spread, and one difference has no interval.
        assert!(is_larger(&[0.5, 0.75], &[0.25, 0.5]));
        assert!(is_larger(&[0.016], &[0.01]) && !is_larger(&[0.0149], &[0.01]));
    }

    #[test]
    fn differences_are_paired() {
        // The gaps vary far more over seeds than the two contenders differ.
        assert!(is_larger(&[0.11, 0.31, 0.512], &[0.1, 0.3, 0.5]));
    }
}
