//! The loss of a row and its derivatives, from an `exp` and a `log1p` in plain arithmetic.
//!
//! The polynomials interpolate at Chebyshev nodes and were computed with 200 bits; each states its error. Even and odd
//! powers are summed separately, which halves the length of the dependency chain.

use super::lanes::Lanes;

/// Terms of the loss and its derivatives at four margins `m`.
#[derive(Clone, Copy)]
pub(super) struct Terms<V> {
    /// `max(−m, 0)`. The loss is this plus `log(1 + e)`. NaN if `m` is NaN, so that an invalid loss does not pass for 0.
    pub(super) linear: V,
    /// `exp(−|m|)`.
    pub(super) e: V,
    /// `σ(−m)`.
    pub(super) residual: V,
    /// `√σ'(m)`.
    pub(super) sqrt_curvature: V,
}

/// As for a single row in `logistic`, the argument of `exp` is never positive, so nothing overflows. Here it is
/// `h = exp(−|m|/2)`, so that `√σ'(m) = h / (1 + h²)` needs no square root.
#[inline(always)]
pub(super) fn terms<V: Lanes>(m: V) -> Terms<V> {
    let zero = V::splat(0.0);
    let one = V::splat(1.0);
    let h = exp_of_negative(m.neg_abs().mul(V::splat(0.5)));
    let e = h.mul(h);
    let near = one.div(one.add(e));
    let far = e.mul(near);
    Terms {
        linear: zero.max_or_second(zero.sub(m)),
        e,
        residual: m.select_by_sign(near, far),
        sqrt_curvature: near.mul(h),
    }
}

/// Below this, `exp` returns 0: the smallest number whose square is normal is exp(−354.2).
const LOWEST: f64 = -354.0;

/// ln 2 in two parts. The first ends in zero bits, so that its products with integers are exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Adding and subtracting 1.5 · 2⁵² rounds to the nearest integer.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Coefficients of `q` in `exp(r) = 1 + r + r² q(r)`, lowest first: within 0.15 ulp for `|r| ≤ ln 2 / 2`.
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
    let clamped = x.max_or_second(lowest);
    let rounded = clamped.mul_add(V::splat(std::f64::consts::LOG2_E), round);
    let k = rounded.sub(round);
    let r = k.neg_mul_add(V::splat(LN_2_HIGH), clamped);
    let r = k.neg_mul_add(V::splat(LN_2_LOW), r);
    let r2 = r.mul(r);
    let mut even = V::splat(EXP[8]);
    let mut odd = V::splat(EXP[9]);
    for at in [6, 4, 2, 0] {
        even = even.mul_add(r2, V::splat(EXP[at]));
        odd = odd.mul_add(r2, V::splat(EXP[at + 1]));
    }
    let q = odd.mul_add(r, even);
    let sum = q.mul_add(r2, r).add(V::splat(1.0));
    sum.mul_power_of_two(rounded).zero_unless_above(x, lowest)
}

/// Coefficients of `p` in `artanh(s) = s + s³ p(s²)`, lowest first: within 0.05 ulp for `s² ≤ 0.0295`.
const ARTANH: [f64; 7] = [
    0.3333333333333335,
    0.19999999999949444,
    0.14285714313126918,
    0.11111105544689748,
    0.09091446216268435,
    0.07665805861027504,
    0.07308903576708663,
];

/// `ln(1 + e)` for `0 ≤ e ≤ 2¹⁰`: with `1 + e = 2^k (1 + f)` it is `k ln 2 + 2 artanh(s)`, where `s = f / (2 + f)`. The
/// first term of the series is written as `2s = f − s f`, a correction of `f`. The rounding of `s` then hardly matters, and
/// a small `e`, for which `f = e`, keeps all its digits.
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
    let inner = two.mul(z).neg_mul_add(p, f);
    let log = s.neg_mul_add(inner, f);
    k.mul_add(V::splat(LN_2_HIGH), k.mul_add(V::splat(LN_2_LOW), log))
}

/// `(1 + a)(1 + b) − 1`, accurate for small `a` and `b`: the losses of several rows are the logarithm of one product.
#[inline(always)]
pub(super) fn compound<V: Lanes>(a: V, b: V) -> V {
    a.mul_add(b, a.add(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::lanes::Quad;

    /// Error in units in the last place of the expected number.
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
    fn exp_is_accurate_to_two_ulp_and_never_overflows() {
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
    fn log_1p_is_accurate_to_two_ulp() {
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
    fn the_log_of_compounded_terms_is_the_sum_of_their_logs() {
        for scale in [1.0, 1e-3, 1e-20] {
            let e: Vec<f64> = [0.9, 0.3, 1.0, 0.05].iter().map(|e| e * scale).collect();
            let one = |at: usize| Quad([e[at]; 4]);
            let all = compound(compound(one(0), one(1)), compound(one(2), one(3))).0[0];
            let sum: f64 = e.iter().map(|e| e.ln_1p()).sum();
            assert!(ulps(log(all), sum) <= 4.0);
        }
    }

    #[test]
    fn a_nan_margin_gives_a_nan_loss() {
        assert!(terms(Quad([f64::NAN; 4])).linear.0.iter().all(|linear| linear.is_nan()));
    }
}
