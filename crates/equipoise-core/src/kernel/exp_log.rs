//! The loss of a row and its derivatives, from an `exp` and a `log1p` in plain arithmetic.
//!
//! Polynomials are interpolations at Chebyshev's nodes, computed in 200 bits; their errors are stated where
//! they are used. Even and odd powers are summed apart, for chains of half the length.

use super::lanes::Lanes;

/// `σ(−m)`, `√σ'(m)` and what the loss is made of, at four margins `m`.
#[derive(Clone, Copy)]
pub(super) struct Terms<V> {
    /// `max(−m, 0)`; the loss is this plus `log(1 + e)`. Not a number where `m` is none, so that a loss that
    /// cannot be computed does not look like none.
    pub(super) linear: V,
    /// `exp(−|m|)`.
    pub(super) e: V,
    /// `σ(−m)`.
    pub(super) miss: V,
    /// `√σ'(m)`.
    pub(super) bend: V,
}

/// As for a single row in `logistic`, `exp` is only taken of what is not positive, so nothing overflows; here it
/// is `h = exp(−|m|/2)`, so that `√σ'(m) = h / (1 + h²)` needs no root.
#[inline(always)]
pub(super) fn terms<V: Lanes>(m: V) -> Terms<V> {
    let zero = V::splat(0.0);
    let one = V::splat(1.0);
    let h = exp_of_negative(m.minus_abs().mul(V::splat(0.5)));
    let e = h.mul(h);
    let near = one.div(one.add(e));
    let far = e.mul(near);
    Terms { linear: zero.above_or(zero.sub(m)), e, miss: m.by_sign(near, far), bend: near.mul(h) }
}

/// Below this, `exp` is taken as 0: the smallest number whose square is normal is exp(−354.2).
const LOWEST: f64 = -354.0;

/// ln 2 in two parts; the first has zeros at its end, so that its products with integers are exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Adding and taking away 1.5 · 2⁵² rounds to the nearest integer.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// `q` in `exp(r) = 1 + r + r² q(r)`, from its constant up: off by 0.15 ulp at most for `|r| ≤ ln 2 / 2`.
const EXP: [f64; 10] = [
    0.5000000000000001,
    0.16666666666666669,
    0.04166666666662413,
    0.008333333333330062,
    0.0013888888917213717,
    0.00019841269863053618,
    2.4801521295954376e-05,
    2.7557268459997064e-06,
    2.7620088445409746e-07,
    2.510038549551032e-08,
];

/// `exp(x)` for `x ≤ 0`: with `k = round(x / ln 2)`, 2^k times the polynomial of the remainder.
#[inline(always)]
pub(super) fn exp_of_negative<V: Lanes>(x: V) -> V {
    let lowest = V::splat(LOWEST);
    let round = V::splat(ROUND);
    let clamped = x.above_or(lowest);
    let rounded = clamped.mul_add(V::splat(std::f64::consts::LOG2_E), round);
    let k = rounded.sub(round);
    let r = k.sub_from(V::splat(LN_2_HIGH), clamped);
    let r = k.sub_from(V::splat(LN_2_LOW), r);
    let r2 = r.mul(r);
    let mut even = V::splat(EXP[8]);
    let mut odd = V::splat(EXP[9]);
    for at in [6, 4, 2, 0] {
        even = even.mul_add(r2, V::splat(EXP[at]));
        odd = odd.mul_add(r2, V::splat(EXP[at + 1]));
    }
    let q = odd.mul_add(r, even);
    let sum = q.mul_add(r2, r).add(V::splat(1.0));
    sum.times_power(rounded).if_above(x, lowest)
}

/// `p` in `artanh(s) = s + s³ p(s²)`, from its constant up: off by 0.05 ulp at most for `s² ≤ 0.0295`.
const ARTANH: [f64; 7] = [
    0.3333333333333335,
    0.19999999999949444,
    0.14285714313126918,
    0.11111105544689748,
    0.09091446216268435,
    0.07665805861027504,
    0.07308903576708663,
];

/// `ln(1 + e)` for `0 ≤ e ≤ 2¹⁰`. With `1 + e = 2^k (1 + f)`, `k ln 2 + 2 artanh(s)`, where `s = f / (2 + f)`. The first
/// term of the series is `2s = f − s f`: written as a correction of `f`, the rounding of `s` hardly counts,
/// and a small `e`, for which `f` is `e` itself, keeps all its digits.
#[inline(always)]
pub(super) fn log_1p<V: Lanes>(e: V) -> V {
    let one = V::splat(1.0);
    let two = V::splat(2.0);
    let (k, power) = one.add(e).split_exponent();
    let f = e.mul_add(power, power.sub(one));
    let s = f.div(two.add(f));
    let z = s.mul(s);
    let z2 = z.mul(z);
    let mut even = V::splat(ARTANH[6]);
    let mut odd = V::splat(ARTANH[5]);
    for at in [4, 2] {
        even = even.mul_add(z2, V::splat(ARTANH[at]));
        odd = odd.mul_add(z2, V::splat(ARTANH[at - 1]));
    }
    even = even.mul_add(z2, V::splat(ARTANH[0]));
    let p = odd.mul_add(z, even);
    let inner = two.mul(z).sub_from(p, f);
    let log = s.sub_from(inner, f);
    k.mul_add(V::splat(LN_2_HIGH), k.mul_add(V::splat(LN_2_LOW), log))
}

/// `(1 + a)(1 + b) − 1`, without loss of digits where both are small: the losses of several rows are the
/// logarithm of one product.
#[inline(always)]
pub(super) fn joined<V: Lanes>(a: V, b: V) -> V {
    a.mul_add(b, a.add(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::lanes::Quad;

    /// Distance in units of the last place of the expected number.
    fn ulps(found: f64, expected: f64) -> f64 {
        let spacing = f64::from_bits(expected.to_bits() + 1) - expected;
        (found - expected).abs() / spacing
    }

    fn exp(x: f64) -> f64 {
        exp_of_negative(Quad([x; 4])).0[3]
    }

    fn log(e: f64) -> f64 {
        log_1p(Quad([e; 4])).0[0]
    }

    #[test]
    fn exp_is_good_to_two_ulp_and_never_fails() {
        let worst = (0..2_000_000)
            .map(|i| -f64::from(i) * 1.75e-4)
            .map(|x| ulps(exp(x), x.exp()))
            .fold(0.0, f64::max);
        assert!(worst <= 2.0, "{worst} ulp");
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1e300), 0.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
    }

    #[test]
    fn log_1p_is_good_to_two_ulp() {
        let worst = (1..1_000_000)
            .map(|i| f64::from(i) * 1e-6)
            .chain((0..300).map(|k| 0.5f64.powi(k)))
            .chain((0..1_000_000).map(|i| 1.0 + f64::from(i) * 1e-3))
            .map(|e| ulps(log(e), e.ln_1p()))
            .fold(0.0, f64::max);
        assert!(worst <= 2.0, "{worst} ulp");
        assert_eq!(log(0.0), 0.0);
    }

    #[test]
    fn losses_joined_are_the_sum_of_the_losses() {
        for scale in [1.0, 1e-3, 1e-20] {
            let e: Vec<f64> = [0.9, 0.3, 1.0, 0.05].iter().map(|e| e * scale).collect();
            let one = |at: usize| Quad([e[at]; 4]);
            let all = joined(joined(one(0), one(1)), joined(one(2), one(3))).0[0];
            let sum: f64 = e.iter().map(|e| e.ln_1p()).sum();
            assert!(ulps(log(all), sum) <= 4.0);
        }
    }

    #[test]
    fn a_margin_that_is_not_a_number_gives_a_loss_that_is_none() {
        assert!(terms(Quad([f64::NAN; 4])).linear.0.iter().all(|linear| linear.is_nan()));
    }
}
