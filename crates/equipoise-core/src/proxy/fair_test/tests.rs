//! Separable, nearly separable and degenerate proxies, and the verdict itself.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::rows::Layout;
use crate::test_rows::random_rows;

fn rows(intercept: bool, cases: &[(&[f64], bool, bool)]) -> Rows {
    let layout = Layout::two_groups(cases[0].0.len(), intercept);
    let x: Vec<f64> = cases.iter().flat_map(|c| c.0.iter().copied()).collect();
    let s: Vec<bool> = cases.iter().map(|c| c.1).collect();
    let y: Vec<bool> = cases.iter().map(|c| c.2).collect();
    Rows::new(layout, &x, &s, &y).unwrap()
}

fn fit_alone(rows: &Rows) -> Result<(Vec<f64>, Separation), Error> {
    fit_unregularised(rows, rows)
}

/// The direction proves separation: no row is on the wrong side, and at least one is strictly on the right side.
fn assert_proves_separation(rows: &Rows, direction: &[f64]) {
    let distances = signed_distances(rows, direction);
    let largest = distances.iter().copied().fold(0.0, f64::max);
    assert!(largest > 0.0 && distances.iter().all(|&d| d >= -ON_THE_PLANE * largest));
    assert!((norm(direction) - 1.0).abs() < 1e-12);
}

#[test]
fn complete_separation_is_proved() {
    let separable = rows(
        true,
        &[
            (&[2.0], true, true),
            (&[1.5], false, true),
            (&[1.2], true, false),
            (&[-1.0], false, false),
        ],
    );
    let (direction, separation) = fit_alone(&separable).unwrap();
    assert_eq!(separation, Separation::Complete);
    assert_proves_separation(&separable, &direction);
}

#[test]
fn a_single_class_is_complete_separation_with_an_intercept() {
    let one_class =
        rows(true, &[(&[2.0], true, true), (&[-3.0], false, true), (&[0.1], true, true)]);
    let (direction, separation) = fit_alone(&one_class).unwrap();
    assert_eq!(separation, Separation::Complete);
    assert_proves_separation(&one_class, &direction);
}

#[test]
fn quasi_separation_is_proved() {
    // The second feature is 1 for some positive rows only; the first does not separate.
    let quasi = rows(
        true,
        &[
            (&[1.0, 0.0], true, true),
            (&[-1.0, 0.0], false, true),
            (&[1.0, 0.0], false, false),
            (&[-1.0, 0.0], true, false),
            (&[0.5, 1.0], true, true),
            (&[-0.5, 1.0], false, true),
        ],
    );
    let (direction, separation) = fit_alone(&quasi).unwrap();
    assert_eq!(separation, Separation::Quasi);
    assert_proves_separation(&quasi, &direction);
}

#[test]
fn linearly_dependent_columns_have_a_model() {
    let base = random_rows(3, 200, 2, true);
    let x: Vec<f64> =
        (0..200).flat_map(|i| [base.x(i)[0], base.x(i)[1], 2.0 * base.x(i)[0]]).collect();
    let s: Vec<bool> = (0..200).map(|i| base.group(i) == 1).collect();
    let y: Vec<bool> = (0..200).map(|i| base.is_positive(i)).collect();
    let dependent = Rows::new(Layout::two_groups(3, true), &x, &s, &y).unwrap();
    let (theta, separation) = fit_alone(&dependent).unwrap();
    assert_eq!(separation, Separation::None);
    // Its scores are those of the model without the copy.
    let (plain, _) = fit_alone(&base).unwrap();
    for i in 0..200 {
        assert!((dot(dependent.a(i), &theta) - dot(base.a(i), &plain)).abs() < 1e-5);
    }
}

#[test]
fn a_direction_fitted_to_noise_does_not_change_the_verdict() {
    // The data has x_3 = x_1 + x_2 exactly; the proxy has it up to noise that a model can fit.
    let (base, data) = (random_rows(3, 400, 2, true), random_rows(4, 500, 2, true));
    let with_sum = |rows: &Rows, noise: f64| {
        let noisy = |i: usize| noise * ((i * i) as f64 * 0.37).sin();
        let x: Vec<f64> = (0..rows.len())
            .flat_map(|i| [rows.x(i)[0], rows.x(i)[1], rows.x(i)[0] + rows.x(i)[1] + noisy(i)])
            .collect();
        let s: Vec<bool> = (0..rows.len()).map(|i| rows.group(i) == 1).collect();
        let y: Vec<bool> = (0..rows.len()).map(|i| rows.is_positive(i)).collect();
        Rows::new(Layout::two_groups(3, true), &x, &s, &y).unwrap()
    };
    let plain = test_fair_proxy(&base, &data, Fairness::SP, 0.0).unwrap();
    for noise in [1e-9, 1e-7, 1e-6, 1e-5] {
        let found =
            test_fair_proxy(&with_sum(&base, noise), &with_sum(&data, 0.0), Fairness::SP, 0.0)
                .unwrap();
        assert_eq!(found.separation, Separation::None, "noise {noise}");
        // Noise explains little by chance with 400 rows.
        assert!((found.violation - plain.violation).abs() < 0.02, "noise {noise}: {found:?}");
    }
}

#[test]
fn rows_on_the_wrong_side_rule_out_separation() {
    let line: Vec<(f64, bool)> =
        (1..40).flat_map(|i| [(f64::from(i), true), (-f64::from(i), false)]).collect();
    let build = |line: &[(f64, bool)]| {
        let x: Vec<[f64; 1]> = line.iter().map(|c| [c.0]).collect();
        let cases: Vec<(&[f64], bool, bool)> =
            line.iter().zip(&x).enumerate().map(|(i, (c, x))| (&x[..], i % 3 == 0, c.1)).collect();
        rows(false, &cases)
    };
    assert_eq!(fit_alone(&build(&line)).unwrap().1, Separation::Complete);
    let mut mixed = line;
    mixed.push((-0.5, true));
    mixed.push((0.25, false));
    assert_eq!(fit_alone(&build(&mixed)).unwrap().1, Separation::None);
}

#[test]
fn the_verdict_depends_on_the_tolerance() {
    let (proxy, data) = (random_rows(1, 300, 3, true), random_rows(2, 400, 3, true));
    let test = |epsilon| test_fair_proxy(&proxy, &data, Fairness::SP, epsilon).unwrap();
    let violation = test(0.0).violation;
    assert!(violation > 1e-3);
    assert!(test(violation * 1.001).fair && !test(violation * 0.999).fair);
    // Definition 1 by hand: the covariance of s with the scores of the proxy's model on the data.
    let theta = test(0.0).theta;
    let scores: Vec<f64> = (0..400).map(|i| dot(data.a(i), &theta)).collect();
    let s: Vec<f64> = (0..400).map(|i| f64::from(data.group(i) == 1)).collect();
    let mean = s.iter().sum::<f64>() / 400.0;
    let by_hand = scores.iter().zip(&s).map(|(d, s)| (s - mean) * d).sum::<f64>() / 400.0;
    assert!((by_hand.abs() - violation).abs() < 1e-12);
}

#[test]
fn the_verdict_does_not_depend_on_the_units_of_a_feature() {
    let (proxy, data) = (random_rows(1, 300, 3, true), random_rows(2, 400, 3, true));
    let plain = test_fair_proxy(&proxy, &data, Fairness::SP, 0.0).unwrap();
    for scale in [1e-8, 1e-3, 1e5, 1e8, 1e11] {
        let scales = [1.0 / scale, 1.0, 1.0, 1.0, 1.0];
        let scaled = test_fair_proxy(
            &proxy.with_columns_divided(&scales),
            &data.with_columns_divided(&scales),
            Fairness::SP,
            0.0,
        )
        .unwrap();
        assert_eq!(scaled.separation, Separation::None, "scale {scale}");
        assert!((scaled.violation - plain.violation).abs() < 1e-6, "scale {scale}: {scaled:?}");
    }
}

#[test]
fn large_noise_features_do_not_hide_an_unfair_label() {
    // Features are noise of any size. The label is the group, except in every fifth row.
    for scale in [1.0, 1e4, 1e8, 1e11] {
        let x: Vec<f64> = (0..300).map(|i| scale * (f64::from(i) * 1.7).sin()).collect();
        let s: Vec<bool> = (0..300).map(|i| i % 2 == 0).collect();
        let y: Vec<bool> = (0..300).map(|i| (i % 2 == 0) != (i % 5 == 0)).collect();
        let proxy = Rows::new(Layout::two_groups(1, true), &x, &s, &y).unwrap();
        let test =
            test_fair_proxy(&proxy, &random_rows(2, 50, 1, true), Fairness::SP, 0.05).unwrap();
        assert!(!test.fair && test.separation == Separation::None, "scale {scale}: {test:?}");
    }
}

#[test]
fn a_separable_proxy_is_never_fair() {
    let separable = rows(true, &[(&[2.0], true, true), (&[-1.0], false, false)]);
    let test =
        test_fair_proxy(&separable, &random_rows(2, 50, 1, true), Fairness::EO, 1e9).unwrap();
    assert!(!test.fair && test.separation == Separation::Complete);
}
