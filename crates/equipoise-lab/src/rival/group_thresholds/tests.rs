#![allow(clippy::unwrap_used)]

use super::*;
use equipoise_core::{Groups, Metrics};

/// Rows whose score under the model (1, 0, …, 0) is `score`: (score, group, positive).
fn rows(layout: &Layout, rows: &[(f64, u8, bool)]) -> Rows {
    let x: Vec<f64> = rows.iter().map(|row| row.0).collect();
    let groups: Vec<u8> = rows.iter().map(|row| row.1).collect();
    let positive: Vec<bool> = rows.iter().map(|row| row.2).collect();
    Rows::new(layout.clone(), &x, &groups, &positive).unwrap()
}

/// The model (1, 0, …, 0) with the thresholds chosen on `root`.
fn with_thresholds(root: &Rows, fairness: Fairness) -> Vec<f64> {
    let mut theta = vec![0.0; root.layout().n()];
    theta[0] = 1.0;
    let cuts = choose_cuts(&theta, root, fairness);
    apply(&cuts, root.layout(), &mut theta);
    theta
}

#[test]
fn groups_get_equal_rates_at_the_best_accuracy() {
    let layout = Layout::two_groups(1, true);
    // Group 0 scores 1 lower. Half of each group is positive: above −1 and above 0.
    let root = rows(
        &layout,
        &[
            (-3.0, 0, false),
            (-2.0, 0, false),
            (-0.8, 0, true),
            (-0.4, 0, true),
            (-2.0, 1, false),
            (-1.0, 1, false),
            (0.5, 1, true),
            (1.0, 1, true),
        ],
    );
    // Midpoints of −2 and −0.8, and of −1 and 0.5.
    let theta = with_thresholds(&root, Fairness::SP);
    for (found, expected) in theta.iter().zip([1.0, -1.4 + 0.25, 1.4]) {
        assert!((found - expected).abs() < 1e-12, "{theta:?}");
    }
    let metrics = Metrics::of(&theta, &root).unwrap();
    assert_eq!(metrics.accuracy.unwrap().value, 1.0);
    assert_eq!(metrics.gaps.sp.unwrap().value, 0.0);
}

#[test]
fn each_criterion_equalises_its_own_rate_in_three_groups() {
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    let groups = Groups::new(names, 0).unwrap();
    let layout = Layout { n_x: 1, groups, as_feature: true, intercept: true };
    let mut table = Vec::new();
    for (group, shift) in [(0_u8, 0.0), (1, -0.7), (2, 0.9)] {
        for i in 0..12 {
            // Labels follow the score, with some noise.
            let score = f64::from(i) / 3.0 - 2.0 + shift;
            table.push((score, group, i >= 6 || (i + i32::from(group)) % 5 == 0));
        }
    }
    let root = rows(&layout, &table);
    let before = Metrics::of(&[1.0, 0.0, 0.0, 0.0], &root).unwrap();
    for name in ["sp", "eo", "fpr", "equalized-odds", "sp:0.5,eo:0.5"] {
        let fairness: Fairness = name.parse().unwrap();
        let after = Metrics::of(&with_thresholds(&root, fairness), &root).unwrap();
        let [before, after] = [&before, &after].map(|m| m.gap(fairness).unwrap().size());
        // The smallest step of a rate in a cell of 4 to 8 rows.
        assert!(after <= 0.26 && after < 0.5 * before, "{name}: {before} and {after}");
    }
}

#[test]
fn without_an_intercept_the_first_group_keeps_its_threshold() {
    let layout = Layout::two_groups(1, false);
    let table = [
        (1.0, 0, true),
        (-1.0, 0, false),
        (-2.0, 0, false),
        (-3.0, 0, false),
        (4.0, 1, true),
        (3.0, 1, false),
        (2.0, 1, true),
        (1.0, 1, true),
    ];
    // A quarter of the first group is selected; so is a quarter of the second, between 3 and 4.
    assert_eq!(with_thresholds(&rows(&layout, &table), Fairness::SP), [1.0, -3.5]);
}

#[test]
fn a_group_without_root_rows_takes_the_common_threshold() {
    let layout = Layout::two_groups(1, true);
    let root = rows(&layout, &[(1.0, 0, false), (2.0, 0, true), (3.0, 0, true)]);
    assert_eq!(with_thresholds(&root, Fairness::SP), [1.0, 0.0, -1.5]);
}

#[test]
fn a_blind_model_stays_as_it_is() {
    let layout = Layout { as_feature: false, ..Layout::two_groups(1, true) };
    let table = [(1.0, 0, true), (0.5, 0, false), (2.0, 1, true), (0.8, 1, false), (-1.0, 1, true)];
    let proxy = rows(&layout, &table);
    let input = RivalInput {
        proxies: vec![&proxy],
        roots: vec![&proxy],
        models: vec![vec![0.0; 2]],
        fairness: Fairness::SP,
        lambda: 1e-4,
    };
    let pooled = fit_logistic(&proxy, 1e-4, &InnerSettings::default()).unwrap();
    assert_eq!(run(&input).unwrap().theta, pooled);
}
