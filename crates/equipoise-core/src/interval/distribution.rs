//! The normal distribution's cumulative probabilities, and quantiles of Student's t.

use std::f64::consts::PI;

/// The probability that a standard normal variable is at most `x`.
pub fn normal_cdf(x: f64) -> f64 {
    if x.abs() < 4.0 {
        // Φ(x) = 1/2 + φ(x) (x + x³/3 + x⁵/(3·5) + …)
        let (mut term, mut sum, mut odd) = (x, x, 1.0);
        while term.abs() > 1e-18 {
            odd += 2.0;
            term *= x * x / odd;
            sum += term;
        }
        return 0.5 + normal_density(x) * sum;
    }
    // Upper tail: φ(x) / (x + 1/(x + 2/(x + …))), from the innermost term outwards.
    let size = x.abs();
    let fraction = (1..=60).rev().fold(size, |inner, k| size + f64::from(k) / inner);
    let tail = if size.is_finite() { normal_density(size) / fraction } else { 0.0 };
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// The probability that a variable with Student's t distribution is at most `t`. `freedom` is positive, not
/// necessarily whole.
pub(super) fn student_t_cdf(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return if t > 0.0 { 1.0 } else { 0.0 };
    }
    let tail = half_beta_tail(t * t, freedom) / 2.0;
    if t > 0.0 { 1.0 - tail } else { tail }
}

fn normal_density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / (2.0 * PI).sqrt()
}

/// The `t` at which [`student_t_cdf`] is `probability`; infinite at 0 and 1, NaN outside.
///
/// Newton's method, kept inside a bracket. It works on the lower tail, where probabilities keep their relative precision.
pub fn student_t_quantile(probability: f64, freedom: f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) {
        return f64::NAN;
    }
    if probability == 0.5 {
        return 0.0;
    }
    let (tail, sign) =
        if probability < 0.5 { (probability, -1.0) } else { (1.0 - probability, 1.0) };
    if tail == 0.0 {
        return sign * f64::INFINITY;
    }
    let constant = gamma_half_step(freedom / 2.0) / (freedom * PI).sqrt();
    let density = |t: f64| constant * (-(freedom + 1.0) / 2.0 * (t * t / freedom).ln_1p()).exp();
    let (mut below, mut above) = (0.0, 1.0);
    while student_t_cdf(-above, freedom) > tail {
        below = above;
        above *= 2.0;
    }
    let mut x = (below + above) / 2.0;
    for _ in 0..200 {
        let excess = student_t_cdf(-x, freedom) - tail;
        if excess > 0.0 {
            below = x;
        } else {
            above = x;
        }
        let newton = x + excess / density(x);
        let next = if newton > below && newton < above { newton } else { (below + above) / 2.0 };
        let step = (next - x).abs();
        x = next;
        if step <= 1e-15 * x {
            break;
        }
    }
    sign * x
}

/// The probability that |T| exceeds `√t_squared`: the incomplete beta function `I_x(ν/2, 1/2)` at `x = ν/(ν + t²)`.
fn half_beta_tail(t_squared: f64, freedom: f64) -> f64 {
    if t_squared == 0.0 {
        return 1.0;
    }
    let (a, b) = (freedom / 2.0, 0.5);
    let x = freedom / (freedom + t_squared);
    let rest = t_squared / (freedom + t_squared);
    // x^a (1 − x)^b / B(a, 1/2), with B(a, 1/2) = √π Γ(a) / Γ(a + 1/2).
    let log_x = -(t_squared / freedom).ln_1p();
    let front = (a * log_x).exp() * rest.sqrt() * gamma_half_step(a) / PI.sqrt();
    // The continued fraction converges fast on one side of the mean, so the other side uses the symmetry.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(rest, b, a) / b
    }
}

/// The continued fraction of the incomplete beta function, by the modified Lentz algorithm.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..=10_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        value *= c * d;
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        value *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

/// `Γ(a + 1/2) / Γ(a)`. The difference of two logarithms of Γ would lose digits for large `a`; this recurrence up to
/// 20 and the asymptotic series there do not.
fn gamma_half_step(a: f64) -> f64 {
    let (mut a, mut factor) = (a, 1.0);
    while a < 20.0 {
        factor *= a / (a + 0.5);
        a += 1.0;
    }
    // ln(Γ(a + 1/2)/Γ(a)) = ln(a)/2 − 1/(8a) + 1/(192a³) − 1/(640a⁵) + 17/(14336a⁷) − 31/(18432a⁹) + …
    let inverse = 1.0 / a;
    let square = inverse * inverse;
    let series = inverse
        * (-1.0 / 8.0
            + square
                * (1.0 / 192.0
                    + square
                        * (-1.0 / 640.0 + square * (17.0 / 14336.0 - square * 31.0 / 18432.0))));
    factor * a.sqrt() * series.exp()
}
