//! The normal distribution's cumulative probabilities, and a quantile of Student's t.

use std::f64::consts::PI;

use super::Z;

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

fn normal_density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / (2.0 * PI).sqrt()
}

/// The 97.5 % quantile of Student's t: exact for one and two degrees of freedom, and to 0.2 % otherwise, by the
/// expansion of Cornish and Fisher.
pub(crate) fn student_t(freedom: usize) -> f64 {
    match freedom {
        1 => 12.706_204_736_174_696,
        2 => 4.302_652_729_749_462,
        _ => {
            let (z, square, inverse) = (Z, Z * Z, 1.0 / freedom as f64);
            let terms = [
                z * (square + 1.0) / 4.0,
                z * ((5.0 * square + 16.0) * square + 3.0) / 96.0,
                z * (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0,
                z * ((((79.0 * square + 776.0) * square + 1482.0) * square - 1920.0) * square
                    - 945.0)
                    / 92160.0,
            ];
            terms.iter().rev().fold(0.0, |sum, term| (sum + term) * inverse) + z
        }
    }
}
