//! Exact samples of the discrete Gaussian, `P(x) ∝ exp(−x²/2σ²)` over the integers, after Canonne, Kamath and Steinke (2020).
//!
//! Adding a floating-point Gaussian to a sum leaks through the low bits: which numbers can occur depends on the sum, so
//! one sample can reveal it (Mironov 2012). Here sums are integers, and samples are drawn with integer arithmetic and
//! fair bits alone, so every integer has exactly the probability that the proof needs.

use rand::Rng;

/// The largest variance. Up to here, no product below exceeds 128 bits.
pub(super) const MAX_VARIANCE: u64 = 1 << 56;

/// A sample with the variance parameter `variance`, between 1 and [`MAX_VARIANCE`].
pub(super) fn discrete_gaussian(variance: u64, rng: &mut impl Rng) -> i64 {
    let variance = u128::from(variance.clamp(1, MAX_VARIANCE));
    let scale = variance.isqrt() + 1;
    loop {
        let candidate = discrete_laplace(scale, rng);
        // Accept with probability exp(−(|x| − σ²/t)² / 2σ²).
        let distance = (u128::from(candidate.unsigned_abs()) * scale).abs_diff(variance);
        // Beyond 2⁶³, the probability is below exp(−2¹²).
        if distance >= 1 << 63 {
            continue;
        }
        if bernoulli_exp(distance * distance, 2 * variance * scale * scale, rng) {
            return candidate;
        }
    }
}

/// A sample of `P(x) ∝ exp(−|x|/scale)` over the integers.
fn discrete_laplace(scale: u128, rng: &mut impl Rng) -> i64 {
    loop {
        let within = below(scale, rng);
        if !bernoulli_exp(within, scale, rng) {
            continue;
        }
        let mut size = within;
        while bernoulli_exp(1, 1, rng) {
            size += scale;
        }
        let is_negative = below(2, rng) == 1;
        if is_negative && size == 0 {
            continue;
        }
        // Larger ones have a probability below exp(−2³⁰).
        let Ok(size) = i64::try_from(size) else { continue };
        return if is_negative { -size } else { size };
    }
}

/// `true` with probability `exp(−numerator/denominator)`.
fn bernoulli_exp(numerator: u128, denominator: u128, rng: &mut impl Rng) -> bool {
    for _ in 0..numerator / denominator {
        if !bernoulli_exp_below_1(1, 1, rng) {
            return false;
        }
    }
    bernoulli_exp_below_1(numerator % denominator, denominator, rng)
}

/// As [`bernoulli_exp`], for at most 1: the number of successes in a row, each with probability `γ/k`, is even with
/// probability `exp(−γ)`.
fn bernoulli_exp_below_1(numerator: u128, denominator: u128, rng: &mut impl Rng) -> bool {
    let mut k = 1;
    while below(denominator * k, rng) < numerator {
        k += 1;
    }
    k % 2 == 1
}

/// A uniform integer below `n`, by rejection: the library's own range is biased by up to 2⁻⁶⁴.
fn below(n: u128, rng: &mut impl Rng) -> u128 {
    let mask = u128::MAX.checked_shr((n - 1).leading_zeros()).unwrap_or(0);
    loop {
        let bits = (u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64())) & mask;
        if bits < n {
            return bits;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;

    #[test]
    fn frequencies_are_those_of_the_definition() {
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        for variance in [1, 2, 9, 1000] {
            let n = 200_000;
            let mut counts = std::collections::BTreeMap::<i64, f64>::new();
            for _ in 0..n {
                *counts.entry(discrete_gaussian(variance, &mut rng)).or_default() += 1.0;
            }
            let weight = |x: i64| (-0.5 * (x as f64).powi(2) / variance as f64).exp();
            let total: f64 = (-400..=400).map(weight).sum();
            // Pearson's statistic over the values that are expected at least 20 times.
            let (mut statistic, mut cells) = (0.0, 0.0);
            for x in -400..=400 {
                let expected = f64::from(n) * weight(x) / total;
                if expected >= 20.0 {
                    let found = counts.get(&x).copied().unwrap_or(0.0);
                    statistic += (found - expected).powi(2) / expected;
                    cells += 1.0;
                }
            }
            // Within five standard deviations of its mean.
            let limit = cells + 5.0 * f64::sqrt(2.0 * cells);
            assert!(statistic < limit, "σ² = {variance}: {statistic} over {cells} values");
        }
    }

    #[test]
    fn large_variances_are_reached() {
        let mut rng = ChaCha20Rng::seed_from_u64(8);
        for variance in [1 << 40, MAX_VARIANCE] {
            let n = 4000;
            let sum: f64 =
                (0..n).map(|_| (discrete_gaussian(variance, &mut rng) as f64).powi(2)).sum();
            let ratio = sum / f64::from(n) / variance as f64;
            assert!((ratio - 1.0).abs() < 0.15, "{ratio}");
        }
    }

    #[test]
    fn uniform_integers_cover_their_range() {
        let mut rng = ChaCha20Rng::seed_from_u64(9);
        assert_eq!(below(1, &mut rng), 0);
        let mut counts = [0; 5];
        for _ in 0..50_000 {
            counts[below(5, &mut rng) as usize] += 1;
        }
        assert!(counts.iter().all(|&count: &i32| (count - 10_000).abs() < 500), "{counts:?}");
    }
}
