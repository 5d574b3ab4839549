//! `exp` and `log1p` of several numbers at once, in plain arithmetic that vectorises.

/// Rows that go through the loss together: two vectors of four.
pub(super) const BATCH: usize = 8;

/// `log(1 + exp(−m))`, `σ(−m)` and `σ'(m)` at each margin `m` of a batch.
pub(super) struct BatchTerms {
    pub(super) loss: [f64; BATCH],
    pub(super) miss: [f64; BATCH],
    pub(super) curvature: [f64; BATCH],
}

/// As for a single row in `logistic`: `exp` is only taken of `−|m|`, so nothing overflows.
#[inline(always)]
pub(super) fn batch_terms(margins: &[f64; BATCH]) -> BatchTerms {
    let mut e = [0.0; BATCH];
    for r in 0..BATCH {
        e[r] = exp_of_negative(-margins[r].abs());
    }
    let mut terms = BatchTerms { loss: [0.0; BATCH], miss: [0.0; BATCH], curvature: [0.0; BATCH] };
    for r in 0..BATCH {
        let near = 1.0 / (1.0 + e[r]);
        let far = e[r] * near;
        // Not `max`, which would lose a NaN: a loss that cannot be computed must not look like none.
        let linear = if margins[r] > 0.0 { 0.0 } else { -margins[r] };
        terms.loss[r] = linear + log_1p_of_unit(e[r]);
        terms.miss[r] = if margins[r] > 0.0 { far } else { near };
        terms.curvature[r] = near * far;
    }
    terms
}

/// Below this, `exp` is taken as 0: the smallest normal number is exp(−708.4).
const LOWEST: f64 = -708.0;

/// ln 2 in two parts; the first has zeros at its end, so that its products with integers are exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Adding and taking away 1.5 · 2⁵² rounds to the nearest integer.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// 1/k! from k = 13 down to 0.
const INVERSE_FACTORIALS: [f64; 14] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// `exp(x)` for `x ≤ 0`: with `k = round(x / ln 2)`, 2^k times the Taylor series of the remainder, which is
/// at most ln 2 / 2 in size; the first term left out is below 2⁻⁵⁷ of the sum.
#[inline(always)]
fn exp_of_negative(x: f64) -> f64 {
    let clamped = if x > LOWEST { x } else { LOWEST };
    let rounded = clamped * std::f64::consts::LOG2_E + ROUND;
    let k = rounded - ROUND;
    let rest = (clamped - k * LN_2_HIGH) - k * LN_2_LOW;
    let mut sum = INVERSE_FACTORIALS[0];
    for factor in &INVERSE_FACTORIALS[1..] {
        sum = sum * rest + factor;
    }
    // The low bits of `rounded` hold k: moved into the exponent they make 2^k.
    let power = f64::from_bits((rounded.to_bits() << 52).wrapping_add(1023 << 52));
    if x > LOWEST { sum * power } else { 0.0 }
}

/// 1/(2k+1) from k = 17 down to 1.
const INVERSE_ODDS: [f64; 17] = [
    1.0 / 35.0,
    1.0 / 33.0,
    1.0 / 31.0,
    1.0 / 29.0,
    1.0 / 27.0,
    1.0 / 25.0,
    1.0 / 23.0,
    1.0 / 21.0,
    1.0 / 19.0,
    1.0 / 17.0,
    1.0 / 15.0,
    1.0 / 13.0,
    1.0 / 11.0,
    1.0 / 9.0,
    1.0 / 7.0,
    1.0 / 5.0,
    1.0 / 3.0,
];

/// `ln(1 + e)` for `e` in [0, 1], as `2 artanh(s)` with `s = e / (2 + e) ≤ 1/3`. The first term is `2s = e − s e`,
/// and `e` is exact: written as a correction of `e`, the rounding of `s` and of the series in `s²` counts
/// only a third, and small `e` keep all their digits.
#[inline(always)]
fn log_1p_of_unit(e: f64) -> f64 {
    let s = e / (2.0 + e);
    let square = s * s;
    let mut sum = INVERSE_ODDS[0];
    for factor in &INVERSE_ODDS[1..] {
        sum = sum * square + factor;
    }
    e - s * (e - 2.0 * square * sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance in units of the last place of the expected number.
    fn ulps(found: f64, expected: f64) -> f64 {
        let spacing = f64::from_bits(expected.to_bits() + 1) - expected;
        (found - expected).abs() / spacing
    }

    #[test]
    fn exp_is_good_to_two_ulp_and_never_fails() {
        let worst = (0..2_000_000)
            .map(|i| -f64::from(i) * 3.5e-4)
            .map(|x| ulps(exp_of_negative(x), x.exp()))
            .fold(0.0, f64::max);
        assert!(worst <= 2.0, "{worst} ulp");
        assert_eq!(exp_of_negative(0.0), 1.0);
        assert_eq!(exp_of_negative(-1e300), 0.0);
        assert_eq!(exp_of_negative(f64::NEG_INFINITY), 0.0);
    }

    #[test]
    fn a_margin_that_is_not_a_number_gives_a_loss_that_is_none() {
        assert!(batch_terms(&[f64::NAN; BATCH]).loss.iter().all(|loss| loss.is_nan()));
    }

    #[test]
    fn log_1p_is_good_to_two_ulp() {
        let worst = (1..1_000_000)
            .map(|i| f64::from(i) * 1e-6)
            .chain((0..300).map(|k| 0.5f64.powi(k)))
            .map(|e| ulps(log_1p_of_unit(e), e.ln_1p()))
            .fold(0.0, f64::max);
        assert!(worst <= 2.0, "{worst} ulp");
        assert_eq!(log_1p_of_unit(0.0), 0.0);
    }
}
