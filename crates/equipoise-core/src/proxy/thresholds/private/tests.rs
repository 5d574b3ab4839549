//! Private proxies: fair and useful if the budget allows, and a function of the noisy releases alone.

#![allow(clippy::unwrap_used)]

use super::super::super::{EncodedColumn, EncodedColumns, generate_proxy};
use super::*;
use crate::fairness::{Criterion, Fairness};
use crate::metrics::Metrics;
use crate::observer::NoopObserver;
use crate::test_rows::{layout, random_rows_of};

fn settings(criterion: Criterion, epsilon: f64, test_seed: Option<u64>) -> ProxySettings {
    let privacy = Some(Privacy { epsilon, delta: 1e-6, test_seed });
    ProxySettings { privacy, ..ProxySettings::new(Fairness::from(criterion)) }
}

fn proxy(data: &Rows, settings: &ProxySettings) -> GeneratedProxy {
    generate_proxy(data, settings, &mut NoopObserver).unwrap()
}

#[test]
fn with_a_large_budget_the_model_is_as_good_and_as_fair_as_without_noise() {
    for (n_groups, seed) in [(2, 1), (3, 2)] {
        let data = random_rows_of(&layout(n_groups, 4, true, true), seed, 6000);
        for criterion in [Criterion::Sp, Criterion::Eo, Criterion::Fpr] {
            let private = proxy(&data, &settings(criterion, 50.0, Some(seed)));
            let public = proxy(&data, &ProxySettings::new(Fairness::from(criterion)));
            let metrics = |made: &GeneratedProxy| Metrics::of(&made.summary.theta, &data).unwrap();
            let accuracy = |made: &GeneratedProxy| metrics(made).accuracy.unwrap().value;
            assert!(private.summary.converged);
            assert!(accuracy(&private) > accuracy(&public) - 0.02, "{criterion:?}");
            let gap = metrics(&private).gap(Fairness::from(criterion)).unwrap().size();
            assert!(gap < 0.05, "{n_groups} groups, {criterion:?}: {gap}");
        }
    }
}

#[test]
fn noise_grows_as_the_budget_shrinks_and_is_declared() {
    let data = random_rows_of(&layout(2, 4, true, true), 5, 4000);
    let mut last = f64::INFINITY;
    for epsilon in [0.3, 1.0, 3.0] {
        let made = proxy(&data, &settings(Criterion::Sp, epsilon, Some(3)));
        let statement = made.privacy.unwrap();
        assert!(statement.epsilon <= epsilon && !statement.private);
        assert_eq!(statement.contradiction(), None);
        let variance = statement.releases[0].sigma_squared as f64;
        assert!(variance < last);
        last = variance;
    }
    assert_eq!(proxy(&data, &ProxySettings::new(Fairness::SP)).privacy, None);
}

/// Sums of integers do not depend on the order of rows, and nothing else is used.
#[test]
fn a_private_proxy_does_not_depend_on_the_order_of_rows() {
    let data = random_rows_of(&layout(2, 3, true, true), 6, 2000);
    let reversed: Vec<usize> = (0..data.len()).rev().collect();
    let settings = settings(Criterion::Eo, 2.0, Some(11));
    assert_eq!(proxy(&data, &settings).rows, proxy(&data.select(&reversed), &settings).rows);
}

#[test]
fn the_number_of_rows_is_protected_too() {
    let data = random_rows_of(&layout(2, 3, true, true), 6, 2000);
    let sizes = (0..8).map(|_| proxy(&data, &settings(Criterion::Sp, 1.0, None)).rows.len());
    let sizes: Vec<usize> = sizes.collect();
    assert!(sizes.iter().any(|&n| n != sizes[0]), "{sizes:?}");
    assert!(sizes.iter().all(|&n| n.abs_diff(2000) < 200), "{sizes:?}");
}

#[test]
fn blind_models_and_rows_of_levels_work_too() {
    let plain = random_rows_of(&layout(2, 4, true, true), 8, 3000);
    // The first three features become a column of levels.
    let x = (0..plain.len()).flat_map(|i| {
        let own = plain.x(i);
        let level = usize::from(own[0] > 0.0) + usize::from(own[1] > 0.0);
        [f64::from(level == 0), f64::from(level == 1), f64::from(level == 2), own[3]]
    });
    let x: Vec<f64> = x.collect();
    let positive: Vec<bool> = (0..plain.len()).map(|i| plain.is_positive(i)).collect();
    let levels = EncodedColumn::Levels { n: 3, complete: true };
    let columns = EncodedColumns::new(vec![levels, EncodedColumn::Number]);
    for as_feature in [true, false] {
        let rows =
            Rows::new(layout(2, 4, as_feature, true), &x, plain.groups(), &positive).unwrap();
        let data = ClientData { rows: &rows, columns: columns.clone() };
        let made = generate_proxy(data, &settings(Criterion::Sp, 20.0, Some(2)), &mut NoopObserver)
            .unwrap();
        // Every row has exactly one level, up to rounding.
        for i in 0..made.rows.len() {
            let sum: f64 = made.rows.x(i)[..3].iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        }
        let metrics = Metrics::of(&made.summary.theta, &rows).unwrap();
        assert!(metrics.gap(Fairness::SP).unwrap().size() < 0.1);
    }
}

#[test]
fn only_smoothed_thresholds_can_be_private() {
    let data = random_rows_of(&layout(2, 3, true, true), 6, 300);
    let private = settings(Criterion::Sp, 1.0, None);
    for wrong in [
        ProxySettings { generator: crate::ProxyGenerator::Paper, ..private },
        ProxySettings { start: crate::ProxyStart::Data, ..private },
    ] {
        let error = generate_proxy(&data, &wrong, &mut NoopObserver).unwrap_err();
        assert!(error.to_string().contains("differentially private"), "{error}");
    }
    for (epsilon, delta) in [(0.0, 1e-6), (f64::NAN, 1e-6), (1.0, 0.0), (1.0, 1.0)] {
        let privacy = Some(Privacy { epsilon, delta, test_seed: None });
        let wrong = ProxySettings { privacy, ..private };
        assert!(generate_proxy(&data, &wrong, &mut NoopObserver).is_err());
    }
}

/// Tables that noise drowns, and tables at the edge of that: a clear error or a proxy, never a panic.
#[test]
fn tiny_tables_give_an_error_or_a_proxy() {
    let mut outcomes = [0, 0];
    for n_rows in [12, 30, 60, 120, 240] {
        for epsilon in [0.05, 0.5, 2.0, 10.0] {
            for seed in 0..6 {
                let data = random_rows_of(&layout(2, 3, seed % 2 == 0, true), seed, n_rows);
                let criterion = if seed < 3 { Criterion::Sp } else { Criterion::Eo };
                let settings = settings(criterion, epsilon, Some(seed));
                match generate_proxy(&data, &settings, &mut NoopObserver) {
                    Ok(made) => {
                        outcomes[0] += 1;
                        assert!(made.summary.theta.iter().all(|t| t.is_finite()));
                    }
                    Err(error) => {
                        outcomes[1] += 1;
                        assert!(!error.to_string().is_empty());
                    }
                }
            }
        }
    }
    assert!(outcomes.iter().all(|n| *n > 10), "{outcomes:?}");
}
