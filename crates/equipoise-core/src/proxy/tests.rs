//! Generated proxies are fair and useful, contain no copies, and depend only on data, settings and seed.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::fairness::Covariance;
use crate::inner_fit::{InnerSettings, fit_logistic};
use crate::metrics::Metrics;
use crate::observer::NoopObserver;
use crate::packed_rows::PackedRows;
use crate::rows::Layout;
use crate::statistics::{ClientStatistics, Order};
use crate::test_rows::random_rows;

fn generate(data: &Rows, settings: ProxySettings) -> GeneratedProxy {
    generate_proxy(data, &settings, &mut NoopObserver).unwrap()
}

#[test]
fn a_proxy_is_fair_and_as_accurate_as_fairness_allows() {
    for intercept in [false, true] {
        let data = random_rows(11, 1500, 4, intercept);
        for fairness in [Fairness::SP, Fairness::EO, "sp:0.5,eo:0.5".parse().unwrap()] {
            let generated = generate(&data, ProxySettings::paper(fairness));
            let summary = &generated.summary;
            assert!(summary.converged);
            assert!(summary.violation < 2e-3 && summary.start_violation > 0.05, "{summary:?}");
            let test = test_fair_proxy(&generated.rows, &data, fairness, 2e-3).unwrap();
            assert!(test.fair, "{test:?}");
            // No model can have a lower F: the proxy's model is the minimiser of F itself, which is
            // convex. Moving it along any axis must not help.
            let source = PackedRows::of(std::slice::from_ref(&data)).unwrap();
            let covariance = Covariance::of(&data);
            let value = |theta: &[f64]| {
                source.evaluate(theta, Order::Loss).unwrap().weighted_loss(&[1.0]) / 1500.0
                    + 0.5 * summary.rho * covariance.violation(theta).size(fairness).powi(2)
            };
            let lowest = value(&summary.theta);
            for i in 0..summary.theta.len() {
                for by in [-0.02, 0.02] {
                    let mut moved = summary.theta.clone();
                    moved[i] += by;
                    assert!(value(&moved) > lowest - 1e-7);
                }
            }
        }
    }
}

#[test]
fn proxies_of_any_size_are_fair() {
    let data = random_rows(12, 800, 3, true);
    for n_rows in [60, 800, 2500] {
        let settings = ProxySettings { rows: Some(n_rows), ..ProxySettings::paper(Fairness::SP) };
        let generated = generate(&data, settings);
        assert_eq!(generated.rows.len(), n_rows);
        assert!(generated.summary.violation < 1e-3, "{n_rows}: {:?}", generated.summary);
        let theta = fit_logistic(&generated.rows, 1e-4, &InnerSettings::default()).unwrap();
        let spd = Metrics::of(&theta, &data).unwrap().gaps.sp.unwrap().value;
        let raw = fit_logistic(&data, 1e-4, &InnerSettings::default()).unwrap();
        let raw_spd = Metrics::of(&raw, &data).unwrap().gaps.sp.unwrap().value;
        assert!(spd.abs() < 0.5 * raw_spd.abs(), "{spd} against {raw_spd}");
    }
}

#[test]
fn adam_makes_fair_proxies_but_moves_rows_further() {
    let data = random_rows(17, 500, 3, false);
    let from_data = ProxySettings { start: ProxyStart::Data, ..ProxySettings::paper(Fairness::SP) };
    let adam = generate(&data, ProxySettings { solver: ProxySolver::Adam, ..from_data });
    let smallest = generate(&data, from_data);
    assert!(adam.summary.violation < 0.02, "{:?}", adam.summary);
    let moved = |generated: &GeneratedProxy| -> f64 {
        let squares =
            generated.rows.values().iter().zip(data.values()).map(|(a, b)| (a - b) * (a - b));
        squares.sum()
    };
    assert!(moved(&adam) > moved(&smallest));
}

#[test]
fn linear_relations_of_the_data_hold_in_the_proxy() {
    // Two one-hot columns that add up to 1, an intercept, and a constant column.
    let base = random_rows(18, 900, 2, true);
    let x: Vec<f64> = (0..900)
        .flat_map(|i| {
            let level = f64::from(u8::from((i * 7) % 5 < 2));
            [base.x(i)[0], base.x(i)[1], level, 1.0 - level, 3.0]
        })
        .collect();
    let s: Vec<bool> = (0..900).map(|i| base.group(i) == 1).collect();
    let y: Vec<bool> = (0..900).map(|i| base.is_positive(i)).collect();
    let data = Rows::new(Layout::two_groups(5, true), &x, &s, &y).unwrap();
    let generated = generate(&data, ProxySettings::paper(Fairness::SP));
    for i in 0..generated.rows.len() {
        let row = generated.rows.x(i);
        assert!((row[2] + row[3] - 1.0).abs() < 1e-9 && (row[4] - 3.0).abs() < 1e-9, "{row:?}");
    }
    let test = test_fair_proxy(&generated.rows, &data, Fairness::SP, 2e-3).unwrap();
    assert!(test.fair, "{test:?}");
}

#[test]
fn a_tolerance_is_met_and_ends_generation_early() {
    let data = random_rows(13, 1000, 3, true);
    let loose = generate(
        &data,
        ProxySettings { epsilon: Some(0.05), ..ProxySettings::paper(Fairness::SP) },
    );
    let tight = generate(
        &data,
        ProxySettings { epsilon: Some(1e-6), ..ProxySettings::paper(Fairness::SP) },
    );
    assert_eq!((loose.summary.epsilon_met, tight.summary.epsilon_met), (Some(true), Some(true)));
    assert!(loose.summary.rho < tight.summary.rho);
    assert!(loose.summary.loss < tight.summary.loss, "less fairness costs less accuracy");
    assert!(tight.summary.violation <= 1e-6);
}

#[test]
fn only_proxies_that_start_as_the_data_are_close_to_it() {
    let data = random_rows(14, 600, 3, true);
    let smoothed = generate(&data, ProxySettings::paper(Fairness::SP)).summary.closeness;
    assert_eq!(smoothed.copies, 0);
    assert!(smoothed.proxy_to_data.minimum > 0.0);
    assert!(smoothed.proxy_to_data.median > 0.5 * smoothed.data_to_data.median);
    let from_data = ProxySettings { start: ProxyStart::Data, ..ProxySettings::paper(Fairness::SP) };
    let from_data = generate(&data, from_data).summary;
    assert!(from_data.violation < 1e-3);
    assert!(from_data.closeness.proxy_to_data.median < smoothed.proxy_to_data.median);
}

#[test]
fn distances_agree_with_hand_computed_ones() {
    let layout = Layout::two_groups(1, true);
    let rows =
        |x: &[f64], s: &[bool]| Rows::new(layout.clone(), x, s, &vec![true; x.len()]).unwrap();
    let data = rows(&[0.0, 1.0, 5.0], &[true, true, true]);
    let proxy = rows(&[0.5, 5.0, 9.0], &[true, false, true]);
    let found = measure_closeness(&proxy, &data, 1);
    // 0.5 → 0.5; (5, s = 0) → 1 to (5, s = 1); 9 → 4. Among the data: 1, 1, 4.
    assert_eq!(found.proxy_to_data, Distances { rows: 3, median: 1.0, minimum: 0.5 });
    assert_eq!(found.data_to_data, Distances { rows: 3, median: 1.0, minimum: 1.0 });
    assert_eq!(measure_closeness(&data, &data, 1).copies, 3);
}

#[test]
fn proxies_depend_on_the_seed_but_not_on_threads() {
    let data = random_rows(15, 3000, 3, true);
    let with =
        |seed| generate(&data, ProxySettings { seed, ..ProxySettings::paper(Fairness::EO) }).rows;
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(with(7), one_thread.install(|| with(7)));
    assert_ne!(with(7), with(8));
}

#[test]
fn rejects_data_without_both_classes_and_groups() {
    let data = random_rows(16, 200, 2, true);
    let error_of = |keep: &dyn Fn(usize) -> bool| {
        let rows: Vec<usize> = (0..data.len()).filter(|&i| keep(i)).collect();
        let settings = ProxySettings::paper(Fairness::EO);
        generate_proxy(&data.select(&rows), &settings, &mut NoopObserver).unwrap_err()
    };
    assert!(matches!(error_of(&|i| data.is_positive(i)), Error::OneClass { .. }));
    assert!(matches!(error_of(&|i| data.group(i) == 1), Error::OneGroup { .. }));
    let no_privileged_positive = error_of(&|i| !((data.group(i) == 1) && data.is_positive(i)));
    assert!(matches!(no_privileged_positive, Error::NoRate { label: "positive", .. }));
    assert!(matches!(error_of(&|_| false), Error::OneClass { rows: 0, .. }));
}
