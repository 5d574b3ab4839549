//! The logistic loss of one row and its derivatives, without overflow. Blocks of rows go through the `kernel` instead.

/// The derivatives of the loss `log(1 + exp(−m))` at a margin `m = y a·θ`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LossTerms {
    /// `σ(−m)`, minus the first derivative in `m`.
    pub(crate) residual: f64,
    /// `σ'(m) = σ(m) σ(−m)`, the second derivative in `m`.
    pub(crate) curvature: f64,
}

/// The terms at margin `m`, from one `exp(−|m|)`, which lies in [0, 1] for every finite `m`.
#[inline(always)]
pub(crate) fn loss_terms(m: f64) -> LossTerms {
    let e = (-m.abs()).exp();
    let near = 1.0 / (1.0 + e);
    let far = e * near;
    LossTerms { residual: if m > 0.0 { far } else { near }, curvature: near * far }
}

/// The loss `log(1 + exp(−m))`.
pub(crate) fn loss(m: f64) -> f64 {
    (-m).max(0.0) + (-m.abs()).exp().ln_1p()
}

/// `σ(z)`.
pub(crate) fn sigmoid(z: f64) -> f64 {
    loss_terms(-z).residual
}

/// `a·b`.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_textbook_formulas_at_moderate_margins() {
        for step in -300..=300 {
            let m = f64::from(step) / 20.0;
            let terms = loss_terms(m);
            let sigmoid = 1.0 / (1.0 + (-m).exp());
            assert!((terms.residual - (1.0 - sigmoid)).abs() < 1e-15);
            assert!((terms.curvature - sigmoid * (1.0 - sigmoid)).abs() < 1e-15);
        }
    }

    #[test]
    fn stays_finite_and_exact_at_huge_margins() {
        let wrong = loss_terms(-1e12);
        assert_eq!((wrong.residual, wrong.curvature), (1.0, 0.0));
        let right = loss_terms(1e12);
        assert_eq!((right.residual, right.curvature), (0.0, 0.0));
        // exp(-40) is far below the spacing of numbers near 1 and must not be rounded away.
        assert!((loss_terms(40.0).residual / (-40f64).exp() - 1.0).abs() < 1e-15);
    }
}
