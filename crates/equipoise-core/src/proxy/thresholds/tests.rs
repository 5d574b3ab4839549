//! Proxies made for a target model: exact, fair by hard decisions, private, and the same for any number of threads.
#![allow(clippy::unwrap_used)]

use super::super::{Privacy, ProxyGenerator, generate_proxy};
use super::*;
use crate::fairness::{Criterion, Fairness};
use crate::metrics::Metrics;
use crate::observer::NoopObserver;
use crate::test_rows::{layout, random_rows, random_rows_of};

fn proxy(data: &Rows, settings: ProxySettings) -> GeneratedProxy {
    assert_eq!(settings.generator, ProxyGenerator::Thresholds);
    generate_proxy(data, &settings, &mut NoopObserver).unwrap()
}

fn gap(theta: &[f64], data: &Rows, fairness: Fairness) -> f64 {
    Metrics::of(theta, data).unwrap().gap(fairness).unwrap().size()
}

/// The model that a server would fit to the proxy.
fn refit(rows: &Rows) -> Vec<f64> {
    let settings = InnerSettings { tolerance: 1e-11, ..InnerSettings::default() };
    fit_logistic(rows, 1e-4, &settings).unwrap()
}

#[test]
fn the_model_of_the_proxy_is_fair_by_hard_decisions() {
    for (n_groups, seed) in [(2, 1), (3, 2), (4, 3)] {
        let data = random_rows_of(&layout(n_groups, 4, true, true), seed, 3000);
        for criterion in [Criterion::Sp, Criterion::Eo, Criterion::Fpr] {
            let fairness = Fairness::from(criterion);
            let generated = proxy(&data, ProxySettings::new(fairness));
            let summary = &generated.summary;
            assert!(summary.converged && summary.target_error.unwrap() < 1e-8, "{summary:?}");
            let theta = refit(&generated.rows);
            let (raw, fair) =
                (gap(&summary.start_theta, &data, fairness), gap(&theta, &data, fairness));
            // A rate is exact to half a row, and a group has at least 100 rows of each label.
            assert!(raw > 0.15, "{raw}");
            assert!((fair - 0.05 * raw).abs() < 0.01, "{criterion:?}: {fair} of {raw}");
        }
    }
}

/// Small clients, rare labels and criteria that one model cannot meet: what is promised is what the proxy's model has.
#[test]
fn the_model_of_the_proxy_has_the_promised_gap() {
    for (n_groups, n_rows, as_feature) in [(2, 160, true), (2, 900, false), (4, 700, true)] {
        let data = random_rows_of(&layout(n_groups, 3, as_feature, true), 14, n_rows);
        for criterion in ["sp", "eo", "fpr", "equalized-odds", "sp:0.5,eo:0.5"] {
            let fairness: Fairness = criterion.parse().unwrap();
            let generated = proxy(&data, ProxySettings::new(fairness));
            let promised = generated.summary.promised_gap.unwrap();
            let found = gap(&refit(&generated.rows), &data, fairness);
            assert!((found - promised).abs() < 1e-12, "{criterion}: {found}, {promised}");
        }
    }
}

#[test]
fn mixtures_and_equalised_odds_are_compromises() {
    let data = random_rows(4, 4000, 4, true);
    for criterion in ["equalized-odds", "sp:0.5,eo:0.5"] {
        let fairness: Fairness = criterion.parse().unwrap();
        let generated = proxy(&data, ProxySettings::new(fairness));
        let summary = &generated.summary;
        let (raw, fair) =
            (gap(&summary.start_theta, &data, fairness), gap(&summary.theta, &data, fairness));
        assert!(summary.converged && fair < 0.5 * raw, "{criterion}: {fair} of {raw}");
    }
}

#[test]
fn models_without_thresholds_of_their_own_are_fair_too() {
    for (n_groups, as_feature, intercept) in [(2, false, true), (3, false, true), (2, true, false)]
    {
        let data = random_rows_of(&layout(n_groups, 4, as_feature, intercept), 5, 4000);
        for criterion in [Criterion::Sp, Criterion::Eo] {
            let fairness = Fairness::from(criterion);
            let generated = proxy(&data, ProxySettings::new(fairness));
            let theta = refit(&generated.rows);
            let start = &generated.summary.start_theta;
            let (raw, fair) = (gap(start, &data, fairness), gap(&theta, &data, fairness));
            assert!(generated.summary.converged, "{:?}", generated.summary);
            assert!(fair < 0.15 * raw, "{n_groups} {as_feature} {criterion:?}: {fair} of {raw}");
        }
    }
}

#[test]
fn the_share_selected_is_kept_or_moves_to_the_label_rate() {
    let data = random_rows(6, 5000, 3, true);
    let selected = |theta: &[f64]| {
        scores(&data, theta).iter().filter(|score| **score > 0.0).count() as f64 / 5000.0
    };
    let kept = proxy(&data, ProxySettings::new(Fairness::SP)).summary;
    assert!((selected(&kept.theta) - selected(&kept.start_theta)).abs() < 0.001);
    let label_rate = data.labels().iter().filter(|y| **y > 0.0).count() as f64 / 5000.0;
    assert!((selected(&kept.theta) - label_rate).abs() > 0.01, "the test needs a difference");
    let settings = ProxySettings { towards_label_rate: 1.0, ..ProxySettings::new(Fairness::SP) };
    let moved = proxy(&data, settings).summary;
    assert!((selected(&moved.theta) - label_rate).abs() < 0.001);
    assert!(gap(&moved.theta, &data, Fairness::SP) < 0.05);
}

#[test]
fn a_remaining_share_of_the_gap_is_what_remains() {
    let data = random_rows(7, 5000, 3, true);
    for share in [1.0, 0.25, 0.0, -1.0] {
        let settings = ProxySettings { remaining_gap: share, ..ProxySettings::new(Fairness::SP) };
        let summary = proxy(&data, settings).summary;
        let signed = |theta: &[f64]| Metrics::of(theta, &data).unwrap().gaps.sp.unwrap().value;
        let (raw, found) = (signed(&summary.start_theta), signed(&summary.theta));
        assert!((found - share * raw).abs() < 0.002, "{share}: {found} of {raw}");
    }
}

/// A file of 200 rows stands for the model as exactly as one of all rows.
#[test]
fn two_hundred_rows_have_the_target_as_their_model() {
    for seed in 1..=5 {
        let data = random_rows_of(&layout(2, 4, true, true), seed, 5000);
        for fairness in [Fairness::SP, Fairness::EO] {
            let settings = ProxySettings { rows: Some(200), seed, ..ProxySettings::new(fairness) };
            let made = TargetRows::of(&data, 5000, &settings, &mut |_, _| Ok(())).unwrap();
            let few = proxy(&data, settings).rows;
            assert_eq!(few.len(), 200);
            let differences = refit(&few).into_iter().zip(&made.target);
            let largest = differences.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(largest < 1e-9, "seed {seed}, {fairness}: {largest:e}");
        }
    }
}

#[test]
fn proxies_of_any_size_have_the_same_model() {
    let data = random_rows_of(&layout(3, 3, true, true), 8, 900);
    let model = |rows: usize| {
        let settings = ProxySettings { rows: Some(rows), ..ProxySettings::new(Fairness::SP) };
        let generated = proxy(&data, settings);
        assert_eq!(generated.rows.len(), rows);
        refit(&generated.rows)
    };
    let own = model(900);
    for rows in [40, 300, 4000] {
        for (a, b) in model(rows).iter().zip(&own) {
            assert!((a - b).abs() < 1e-6, "{rows}: {a}, {b}");
        }
    }
    let settings = ProxySettings { rows: Some(6), ..ProxySettings::new(Fairness::SP) };
    let error = generate_proxy(&data, &settings, &mut NoopObserver).unwrap_err();
    assert!(matches!(error, Error::FewProxyRows { found: 6, minimum: 7 }), "{error}");
}

/// Private or not, a large table has no more rows in its proxy than its model needs.
#[test]
fn a_proxy_has_at_most_20_000_rows_by_default() {
    let data = random_rows(15, 20_400, 2, true);
    let rows = |settings: ProxySettings| proxy(&data, settings).rows.len();
    let defaults = ProxySettings { closeness_rows: 0, ..ProxySettings::new(Fairness::SP) };
    assert_eq!(rows(defaults), 20_000);
    assert_eq!(rows(ProxySettings { rows: Some(20_400), ..defaults }), 20_400);
    let privacy = Some(Privacy { epsilon: 3.0, delta: 1e-6, test_seed: Some(1) });
    assert_eq!(rows(ProxySettings { privacy, ..defaults }), 20_000);
}

#[test]
fn one_hot_columns_stay_exact() {
    // Three one-hot columns that add up to 1, one of them rare, an intercept, and a constant column.
    let base = random_rows(9, 1200, 2, true);
    let x: Vec<f64> = (0..1200)
        .flat_map(|i| {
            let level = if i % 150 == 0 { 2 } else { (i * 7) % 2 };
            let one_hot = |l: usize| f64::from(u8::from(level == l));
            [base.x(i)[0], base.x(i)[1], one_hot(0), one_hot(1), one_hot(2), 3.0]
        })
        .collect();
    let positive: Vec<bool> = (0..1200).map(|i| base.is_positive(i)).collect();
    let data = Rows::new(Layout::two_groups(6, true), &x, base.groups(), &positive).unwrap();
    let generated = proxy(&data, ProxySettings::new(Fairness::SP));
    assert!(generated.summary.target_error.unwrap() < 1e-7, "{:?}", generated.summary);
    for i in 0..generated.rows.len() {
        let row = generated.rows.x(i);
        assert!((row[2] + row[3] + row[4] - 1.0).abs() < 1e-9 && (row[5] - 3.0).abs() < 1e-9);
    }
    let theta = refit(&generated.rows);
    let raw = gap(&generated.summary.start_theta, &data, Fairness::SP);
    assert!((gap(&theta, &data, Fairness::SP) - 0.05 * raw).abs() < 0.002);
}

#[test]
fn groups_with_few_rows_or_none_are_no_obstacle() {
    // Of four groups, group 1 has three rows, all negative, and group 2 has none.
    let layout = layout(4, 3, true, true);
    let base = random_rows(10, 1000, 3, true);
    let x: Vec<f64> = (0..1000).flat_map(|i| base.x(i).to_vec()).collect();
    let group = |i: usize| if i < 3 { 1 } else { 3 * base.groups()[i] };
    let groups: Vec<u8> = (0..1000).map(group).collect();
    let positive: Vec<bool> = (0..1000).map(|i| i >= 3 && base.is_positive(i)).collect();
    let data = Rows::new(layout, &x, &groups, &positive).unwrap();
    for criterion in ["sp", "eo", "fpr", "equalized-odds", "sp:0.5,fpr:0.5"] {
        let fairness: Fairness = criterion.parse().unwrap();
        let generated = proxy(&data, ProxySettings::new(fairness));
        let summary = &generated.summary;
        assert!(summary.converged, "{criterion}: {summary:?}");
        // Nothing is known about group 2, so its coefficient is that of the baseline.
        assert_eq!(summary.theta[4], 0.0);
        // The two large groups become fair.
        let condition = fairness.conditions().next().unwrap().0;
        let gap = |theta: &[f64]| {
            let metrics = Metrics::of(theta, &data).unwrap();
            let rate = |group: usize| metrics.groups[group].rate(condition).unwrap().value;
            (rate(0) - rate(3)).abs()
        };
        let (raw, fair) = (gap(&summary.start_theta), gap(&summary.theta));
        assert!(fair < 0.5 * raw, "{criterion}: {fair} of {raw}");
    }
}

#[test]
fn proxies_contain_no_row_of_the_data_and_depend_on_the_seed_alone() {
    let data = random_rows_of(&layout(3, 3, true, true), 11, 5000);
    let with = |seed| proxy(&data, ProxySettings { seed, ..ProxySettings::new(Fairness::EO) });
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let three_threads = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let first = with(7);
    assert_eq!(first.summary.closeness.copies, 0);
    for pool in [one_thread, three_threads] {
        let again = pool.install(|| with(7));
        assert_eq!((&again.rows, &again.summary), (&first.rows, &first.summary));
    }
    assert_ne!(with(8).rows, first.rows);
}

#[test]
fn blind_proxies_depend_on_the_seed_alone() {
    let data = random_rows_of(&layout(2, 3, false, true), 12, 4000);
    let make = || proxy(&data, ProxySettings::new(Fairness::SP)).rows;
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(one_thread.install(make), make());
}

#[test]
fn labels_follow_the_model_in_every_group() {
    let data = random_rows_of(&layout(3, 3, true, true), 13, 3000);
    let generated = proxy(&data, ProxySettings::new(Fairness::SP));
    // At a minimum without a ridge, labels and predicted probabilities have the same sum in every group.
    let scores = scores(&generated.rows, &generated.summary.theta);
    for group in 0..3 {
        let members = (0..scores.len()).filter(|&i| generated.rows.group(i) == group);
        let excess = members.map(|i| {
            f64::from(u8::from(generated.rows.is_positive(i))) - crate::logistic::sigmoid(scores[i])
        });
        // The ridge allows for a little more.
        let allowance: f64 = generated.summary.theta.iter().map(|t| t.abs()).sum();
        assert!(excess.sum::<f64>().abs() < 3000.0 * ridge(1e-4, 6) * allowance);
    }
}
