//! Distilled proxies: small, exact, and the same for any number of threads.
#![allow(clippy::unwrap_used)]

use super::super::{ProxyGenerator, generate_proxy};
use super::*;
use crate::fairness::Fairness;
use crate::inner_fit::{InnerSettings, fit_logistic};
use crate::linalg::norm;
use crate::logistic::{dot, sigmoid};
use crate::observer::NoopObserver;
use crate::rows::Rows;
use crate::test_rows::{layout, random_rows, random_rows_of};

fn settings(fairness: Fairness) -> ProxySettings {
    ProxySettings { generator: ProxyGenerator::Distillation, ..ProxySettings::new(fairness) }
}

fn generate(data: &Rows, settings: ProxySettings) -> GeneratedProxy {
    generate_proxy(data, &settings, &mut NoopObserver).unwrap()
}

/// The model that a server would fit.
fn refit(rows: &Rows) -> Vec<f64> {
    let settings = InnerSettings { tolerance: 1e-11, ..InnerSettings::default() };
    fit_logistic(rows, 1e-4, &settings).unwrap()
}

#[test]
fn two_hundred_rows_have_the_model_of_the_whole_proxy() {
    for (n_groups, as_feature) in [(2, true), (3, true), (2, false)] {
        let data = random_rows_of(&layout(n_groups, 4, as_feature, true), 3, 5000);
        for fairness in [Fairness::SP, Fairness::EO] {
            let whole = generate(&data, ProxySettings::new(fairness));
            let distilled = generate(&data, settings(fairness));
            assert_eq!(distilled.rows.len(), 200);
            assert!(distilled.summary.converged, "{:?}", distilled.summary);
            assert_eq!(distilled.summary.promised_gap, whole.summary.promised_gap);
            assert_eq!(distilled.summary.closeness.copies, 0);
            let (a, b) = (refit(&whole.rows), refit(&distilled.rows));
            for i in 0..data.len() {
                let [a, b] = [&a, &b].map(|theta| sigmoid(dot(data.a(i), theta)));
                assert!((a - b).abs() < 1e-6, "{a} {b}");
            }
        }
    }
}

/// A server meets the rows at other models, too: at those between 0 and the target, their gradients are close to the whole
/// proxy's, much closer than those of any 200 of its rows.
#[test]
fn gradients_match_along_the_path() {
    let data = random_rows(4, 6000, 5, true);
    let whole = generate(&data, ProxySettings::new(Fairness::SP));
    let distilled = generate(&data, settings(Fairness::SP));
    let sampled = ProxySettings { rows: Some(200), ..ProxySettings::new(Fairness::SP) };
    let sampled = generate(&data, sampled);
    for share in [0.0, 0.1, 0.4, 0.6, 0.9, 1.2] {
        let theta: Vec<f64> = whole.summary.theta.iter().map(|t| share * t).collect();
        let wanted = PathGradients::of(&whole.rows, vec![theta]);
        let error = |proxy: &GeneratedProxy| norm(&wanted.residual(&proxy.rows));
        let (found, by_sampling) = (error(&distilled), error(&sampled));
        assert!(found < 0.01 && found < 0.5 * by_sampling, "{share}: {found}, {by_sampling}");
    }
}

#[test]
fn any_number_of_rows_that_determine_a_model_will_do() {
    let data = random_rows_of(&layout(3, 3, true, true), 5, 1500);
    let expected = generate(&data, settings(Fairness::SP)).summary.theta;
    for rows in [20, 50, 500] {
        let made = generate(&data, ProxySettings { rows: Some(rows), ..settings(Fairness::SP) });
        assert_eq!(made.rows.len(), rows);
        for (a, b) in made.summary.theta.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-6, "{rows}: {a}, {b}");
        }
    }
    // A small table needs no more rows than it has, and a wide one needs more than 200.
    let small = data.select(&(0..150).collect::<Vec<_>>());
    assert_eq!(generate(&small, settings(Fairness::SP)).rows.len(), 150);
    let wide = random_rows(8, 600, 80, true);
    assert_eq!(generate(&wide, settings(Fairness::SP)).rows.len(), 3 * 82);
    let few = ProxySettings { rows: Some(6), ..settings(Fairness::SP) };
    let error = generate_proxy(&data, &few, &mut NoopObserver).unwrap_err();
    assert!(matches!(error, Error::FewProxyRows { found: 6, minimum: 7 }), "{error}");
}

#[test]
fn distilled_rows_depend_on_the_seed_but_not_on_threads() {
    let data = random_rows_of(&layout(3, 3, true, true), 6, 2500);
    let with = |seed| generate(&data, ProxySettings { seed, ..settings(Fairness::EO) }).rows;
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(with(7), one_thread.install(|| with(7)));
    assert_ne!(with(7), with(8));
}

#[test]
fn private_rows_are_refused_as_a_start() {
    let data = random_rows(7, 600, 3, true);
    let settings = ProxySettings { start: ProxyStart::Data, ..settings(Fairness::SP) };
    let error = generate_proxy(&data, &settings, &mut NoopObserver).unwrap_err();
    assert!(error.to_string().contains("smoothed"), "{error}");
}

/// Rows with a number that has more than ten binary digits after the point.
fn long_rows(rows: &Rows) -> usize {
    let is_long = |x: &f64| (1024.0 * x).fract() != 0.0;
    (0..rows.len()).filter(|&i| rows.x(i).iter().any(is_long)).count()
}

/// One of `n_levels` for each row, as one-hot columns, and a number.
fn levels(n_groups: usize, n_levels: usize, as_feature: bool, n_rows: usize) -> Rows {
    let base = random_rows_of(&layout(n_groups, 2, as_feature, true), 9, n_rows);
    let x: Vec<f64> = (0..n_rows)
        .flat_map(|i| {
            let level =
                (f64::from(u32::try_from(n_levels).unwrap()) * sigmoid(base.x(i)[1])) as usize;
            let one_hot = (0..n_levels).map(move |k| f64::from(u8::from(k == level)));
            [base.x(i)[0]].into_iter().chain(one_hot)
        })
        .collect();
    let positive: Vec<bool> = (0..n_rows).map(|i| base.is_positive(i)).collect();
    let layout = layout(n_groups, 1 + n_levels, as_feature, true);
    Rows::new(layout, &x, base.groups(), &positive).unwrap()
}

#[test]
fn nearly_all_rows_have_short_numbers() {
    for (n_groups, n_levels, as_feature, rows) in [
        (2, 3, true, 200),
        (2, 1, true, 50),
        (2, 1, false, 200),
        (4, 2, true, 200),
        (4, 5, false, 500),
        (2, 40, true, 200),
        (3, 40, false, 500),
    ] {
        let case = format!("{n_groups} groups, {n_levels} levels, {as_feature}, {rows} rows");
        let data = levels(n_groups, n_levels, as_feature, 4000);
        for fairness in [Fairness::SP, Fairness::EO] {
            let made = generate(&data, ProxySettings { rows: Some(rows), ..settings(fairness) });
            assert!(made.summary.converged, "{case}: {:?}", made.summary);
            assert_eq!((made.rows.len(), made.summary.closeness.copies), (rows, 0), "{case}");
            let long = long_rows(&made.rows);
            assert!(long <= rows / 8, "{case}, {fairness}: {long} rows with long numbers");
        }
    }
}

#[test]
fn small_groups_and_constant_columns_are_no_obstacle() {
    // Of group 2, three rows; of group 1, both labels once.
    let base = levels(3, 4, true, 1200);
    let (mut seen, mut chosen) = ([[0; 2]; 3], Vec::new());
    for i in 0..1200 {
        let n = &mut seen[base.group(i)][usize::from(base.is_positive(i))];
        *n += 1;
        let most = [1200, 1, 2 - usize::from(base.is_positive(i))][base.group(i)];
        if *n <= most {
            chosen.push(i);
        }
    }
    let small = base.select(&chosen);
    assert_eq!(small.cell_counts()[1..], [[1, 1], [2, 1]]);
    let constant: Vec<f64> =
        (0..1200).flat_map(|i| [base.x(i)[0], 0.3, 0.0, base.x(i)[1], -7.0]).collect();
    let positive: Vec<bool> = (0..1200).map(|i| base.is_positive(i)).collect();
    let constant =
        Rows::new(layout(3, 5, true, true), &constant, base.groups(), &positive).unwrap();
    for (data, rows) in [(&small, 60), (&small, 200), (&constant, 100), (&constant, 2000)] {
        for fairness in [Fairness::SP, Fairness::EO] {
            let made = generate(data, ProxySettings { rows: Some(rows), ..settings(fairness) });
            assert!(made.summary.converged && made.rows.len() == rows, "{:?}", made.summary);
            assert!(made.rows.values().iter().all(|v| v.is_finite() && v.abs() < 100.0));
        }
    }
    let made = generate(&constant, settings(Fairness::SP)).rows;
    assert!((0..made.len()).all(|i| made.x(i)[4] == -7.0 && made.x(i)[2] == 0.0));
}
