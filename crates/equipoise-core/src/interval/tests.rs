//! Figures and intervals against fairlearn, scikit-learn, statsmodels and SciPy (`bench/reference/fairness_figures.py`),
//! against the equations that define them, and against cases computed by hand.
#![allow(clippy::unwrap_used)]

mod figures;
mod worst_gap;

use serde_json::Value;

use super::*;

fn reference() -> Value {
    let text = include_str!("../../tests/fixtures/fairness_figures.json");
    serde_json::from_str(text).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn floats(value: &Value) -> Vec<f64> {
    list(value).iter().map(|v| v.as_f64().unwrap()).collect()
}

fn count(value: &Value) -> Count {
    let pair = list(value);
    Count { successes: pair[0].as_u64().unwrap() as usize, n: pair[1].as_u64().unwrap() as usize }
}

#[track_caller]
fn assert_close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "found {found}, expected {expected}");
}

#[test]
fn normal_and_t_agree_with_scipy() {
    let reference = &reference()["quantiles"];
    for case in list(&reference["normal_cdf"]) {
        let case = floats(case);
        assert_close(normal_cdf(case[0]), case[1], 1e-15 + 1e-12 * case[1].min(1e-3));
    }
    for case in list(&reference["student_t"]) {
        let case = floats(case);
        assert_close(student_t(case[0] as usize) / case[1], 1.0, 2e-3);
    }
}

#[test]
fn quantiles_have_closed_forms_and_ends() {
    // One degree of freedom is Cauchy's distribution, two have a quantile in closed form.
    assert_close(student_t(1), (std::f64::consts::PI * 0.475).tan(), 1e-11);
    assert_close(student_t(2), 0.95 / (1.95f64 * 0.025).sqrt(), 1e-11);
    assert_close(student_t(1_000_000), Z, 1e-5);
    assert_close(normal_cdf(Z), 0.975, 1e-15);
    assert_eq!((normal_cdf(f64::NEG_INFINITY), normal_cdf(f64::INFINITY)), (0.0, 1.0));
}

#[test]
fn rates_and_differences_agree_with_statsmodels() {
    let reference = &reference()["intervals"];
    let mut exact = 0;
    for case in list(&reference["rates"]) {
        let n = case["n"].as_u64().unwrap() as usize;
        let rate = Count { successes: case["successes"].as_u64().unwrap() as usize, n }.rate();
        // One or two rows have exact limits.
        let method = if n < 3 { "mid_p" } else { "wilson" };
        exact += usize::from(n < 3);
        let (rate, limits) = (rate.unwrap(), floats(&case[method]));
        assert_close(rate.low, limits[0], 1e-12);
        assert_close(rate.high, limits[1], 1e-12);
    }
    assert!(exact > 0);
    for case in list(&reference["differences"]) {
        let difference = rate_difference(count(&case["a"]), count(&case["b"])).unwrap();
        let limits = floats(&case["newcombe"]);
        assert_close(difference.low, limits[0], 1e-12);
        assert_close(difference.high, limits[1], 1e-12);
    }
}

#[test]
fn no_rows_give_no_figure() {
    let (none, some) = (Count { successes: 0, n: 0 }, Count { successes: 2, n: 5 });
    assert!(none.rate().is_none() && rate_difference(none, some).is_none());
    assert!(rate_ratio(some, none).is_none() && balanced_accuracy(none, some).is_none());
    assert!(rate_ratio(some, Count { successes: 0, n: 9 }).is_none());
    assert!(paired_mean(&[1.0]).is_none());
    assert!(calibration(&[], &[]).is_none() && calibration(&[0.5], &[]).is_none());
    assert!(Auc::of(&[0.5, 0.7], &[true, true]).is_none());
    assert!(Auc::of(&[f64::NAN, 0.7], &[true, false]).is_none());
    assert!(Auc::of(&[0.7], &[true, false]).is_none());
}

/// The limits `R` of a ratio solve `(p − R q)² = (p − p_limit)² + R² (q_limit − q)²`.
#[test]
fn ratio_limits_solve_their_equation() {
    let counts = [(56, 70, 48, 80), (1, 40, 39, 40), (30, 40, 1, 40), (9, 9, 9, 9), (0, 12, 5, 10)];
    for (a, m, b, n) in counts {
        let (a, b) = (Count { successes: a, n: m }, Count { successes: b, n });
        let ratio = rate_ratio(a, b).unwrap();
        let (p, q) = (a.rate().unwrap(), b.rate().unwrap());
        assert_close(ratio.value, p.value / q.value, 1e-15);
        assert!(ratio.low <= ratio.value && ratio.value <= ratio.high);
        for (r, p_limit, q_limit) in [(ratio.low, p.low, q.high), (ratio.high, p.high, q.low)] {
            let left = (p.value - r * q.value).powi(2);
            let right = (p.value - p_limit).powi(2) + (r * (q_limit - q.value)).powi(2);
            assert_close(left, right, 1e-12 * (1.0 + left));
        }
    }
}

#[test]
fn balanced_accuracy_by_hand() {
    let found =
        balanced_accuracy(Count { successes: 8, n: 10 }, Count { successes: 15, n: 30 }).unwrap();
    // statsmodels: Wilson's limits of 8 of 10 are .490162 and .943318, those of 15 of 30 are .331541 and .668459.
    assert_close(found.value, 0.65, 1e-15);
    assert_close(found.low, 0.65 - 0.309_838f64.hypot(0.168_459) / 2.0, 1e-6);
    assert_close(found.high, 0.65 + 0.143_318f64.hypot(0.168_459) / 2.0, 1e-6);
}

#[test]
fn paired_figures_by_hand() {
    // Mean 2.5, standard error √(5/3/4), t with 3 degrees of freedom 3.182446305284263.
    let mean = paired_mean(&[1.0, 2.0, 3.0, 4.0]).unwrap();
    assert_close(mean.value, 2.5, 1e-15);
    assert_close(mean.half_width(), 3.182_446_305_284_263 * (5.0f64 / 12.0).sqrt(), 0.02);
    assert!(paired_mean(&[0.3; 5]).is_none());
}

#[test]
fn absolute_values_keep_zero() {
    let crossing = Estimate { value: -0.1, low: -0.3, high: 0.1 };
    assert_eq!(crossing.abs(), Estimate { value: 0.1, low: 0.0, high: 0.3 });
    let negative = Estimate { value: -0.2, low: -0.3, high: -0.1 };
    assert_eq!(negative.abs(), -negative);
}

#[test]
fn paired_rates_by_hand() {
    // 8 and 1 of 28 rows differ: centre 7/30, variance (11/30 − 49/900)/30.
    let rates = paired_rates(8, 1, 28).unwrap();
    assert_close(rates.value, 0.25, 1e-15);
    let half = Z * ((11.0f64 / 30.0 - 49.0 / 900.0) / 30.0).sqrt();
    assert_close(rates.low, 7.0 / 30.0 - half, 1e-14);
    assert_close(rates.high, 7.0 / 30.0 + half, 1e-14);
    let equal = paired_rates(0, 0, 50).unwrap();
    assert!(equal.low < -0.02 && equal.high > 0.02);
}
