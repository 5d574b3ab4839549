#![allow(clippy::unwrap_used)]
use super::*;
use crate::fairness::Criterion;
use crate::metrics::Metrics;
use crate::rows::Layout;
use crate::test_rows::{layout, random_rows, random_rows_of};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows whose only feature is the score of the first model.
fn table(cases: &[(f64, bool, bool)]) -> (Vec<f64>, Rows) {
    let scores: Vec<f64> = cases.iter().map(|case| case.0).collect();
    let groups: Vec<bool> = cases.iter().map(|case| case.1).collect();
    let positive: Vec<bool> = cases.iter().map(|case| case.2).collect();
    let rows = Rows::new(Layout::two_groups(1, false), &scores, &groups, &positive).unwrap();
    (scores, rows)
}

#[test]
fn a_hand_computed_comparison() {
    // (score, privileged, positive). Selected: 2 of 3 privileged, 0 of 2 others.
    let (own, rows) = table(&[
        (1.0, true, true),
        (1.0, true, false),
        (-1.0, true, true),
        (-1.0, false, true),
        (-1.0, false, false),
    ]);
    // The other model selects one other person more: a gap of 2/3 − 1/2 instead of 2/3.
    let mut other = own.clone();
    other[3] = 1.0;
    let comparison = Comparison::of(&own, &other, &rows, Fairness::SP).unwrap();
    assert!((comparison.gap.value + 0.5).abs() < 1e-15);
    // log(1 + e) − log(1 + 1/e) = 1, on one of five rows.
    assert!((comparison.loss.value + 0.2).abs() < 1e-12);
    // The differences are 0, 0, 0, −1, 0: variance 0.2, standard error of the mean √(0.2/5) = 0.2; t of 4 is 2.776.
    assert!((comparison.loss.high - (-0.2 + 2.776_445 * 0.2)).abs() < 1e-3, "{comparison:?}");
    // Five rows cannot tell which group the other model favours: the sum of the gaps, 5/6, has a standard error of
    // √((24/81 + 2/16) · 5/4) = 0.73. So its gap may be as large as any.
    assert_eq!((comparison.gap.low, comparison.gap.high), (-1.0, 1.0));
}

/// 40 copies of the table above, so that all signs are known.
#[test]
fn a_hand_computed_interval_of_the_gap() {
    let one = [
        (1.0, true, true),
        (1.0, true, false),
        (-1.0, true, true),
        (-1.0, false, true),
        (-1.0, false, false),
    ];
    let (own, rows) = table(&one.repeat(40));
    let other: Vec<f64> =
        own.iter().enumerate().map(|(i, &score)| if i % 5 == 3 { 1.0 } else { score }).collect();
    let gap = Comparison::of(&own, &other, &rows, Fairness::SP).unwrap().gap;
    // Only the rate of the 80 others differs, by contributions of ±1/2 · 1/80; t of 199 is 1.971957.
    let half = (80.0f64 / 160.0f64.powi(2) * 200.0 / 199.0).sqrt() * 1.971_957;
    assert!((gap.value + 0.5).abs() < 1e-12, "{gap:?}");
    assert!((gap.low - (-0.5 - half)).abs() < 1e-6, "{gap:?}");
    // The sum of the gaps is 5/6, with contributions of 2 · (1/3, 1/3, −2/3)/120 and ±1/160, which is further from 0.
    assert!((gap.high - (-0.5 + half)).abs() < 1e-6, "{gap:?}");
}

#[test]
fn a_model_does_not_differ_from_itself() {
    let rows = random_rows(3, 60, 3, true);
    let scores = scores(&[0.5, -0.2, 0.4, 0.3, 0.1], &rows);
    let zero = Estimate { value: 0.0, low: 0.0, high: 0.0 };
    let same = Comparison::of(&scores, &scores, &rows, Fairness::SP).unwrap();
    assert_eq!((same.loss, same.gap), (zero, zero));
    assert!(!same.is_no_worse() && !same.is_worse());
}

#[test]
fn swapping_the_models_changes_the_signs() {
    let rows = random_rows_of(&layout(3, 2, true, true), 5, 90);
    let first = scores(&[0.5, -0.2, 0.4, 0.3, 0.1], &rows);
    let second = scores(&[0.1, 0.6, -0.4, 0.2, -0.1], &rows);
    let there = Comparison::of(&first, &second, &rows, Fairness::SP).unwrap();
    let back = Comparison::of(&second, &first, &rows, Fairness::SP).unwrap();
    for (a, b) in [(there.loss, back.loss), (there.gap, back.gap)] {
        assert!((a.value + b.value).abs() < 1e-12 && (a.low + b.high).abs() < 1e-12);
    }
}

#[test]
fn the_difference_is_that_of_the_worst_gaps_and_the_interval_contains_it() {
    let rows = random_rows_of(&layout(3, 2, true, true), 5, 90);
    let (first, second) = ([0.5, -0.2, 0.4, 0.3, 0.1], [0.1, 0.6, -0.4, 0.2, -0.1]);
    for fairness in [Fairness::SP, Fairness::EO, Criterion::EqualizedOdds.into()] {
        let [own, other] = [first, second].map(|theta| scores(&theta, &rows));
        let gap = Comparison::of(&own, &other, &rows, fairness).unwrap().gap;
        let size = |theta| Metrics::of(theta, &rows).unwrap().gap(fairness).unwrap().size();
        assert!((gap.value - (size(&second) - size(&first))).abs() < 1e-12, "{gap:?}");
        assert!(-1.0 <= gap.low && gap.low < gap.value && gap.value < gap.high && gap.high <= 1.0);
    }
}

/// Two models that are equally unfair, to different groups. Few rows shift both gaps by more than they differ.
#[test]
fn equal_gaps_of_opposite_sign_are_rarely_called_different() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let (n_samples, n) = (1000, 200);
    let mut wrong = 0;
    for _ in 0..n_samples {
        let draws: Vec<f64> = (0..n).map(|_| rng.random::<f64>()).collect();
        let groups: Vec<bool> = (0..n).map(|i| i % 2 == 0).collect();
        let decide = |rates: [f64; 2]| -> Vec<f64> {
            let rate = |group: bool| rates[usize::from(group)];
            draws.iter().zip(&groups).map(|(u, &group)| rate(group) - u).collect()
        };
        let (own, other) = (decide([0.5, 0.56]), decide([0.56, 0.5]));
        let positive: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
        let rows = Rows::new(Layout::two_groups(1, false), &own, &groups, &positive).unwrap();
        let gap = Comparison::of(&own, &other, &rows, Fairness::SP).unwrap().gap;
        wrong += usize::from(gap.high < 0.0 || gap.low > 0.0);
    }
    // The paired difference alone, −0.12 ± 0.04 with its sign taken from the larger gap, would be wrong in half of them.
    // Four standard errors above 5 %.
    assert!((wrong as f64) < (0.05 + 0.028) * f64::from(n_samples), "{wrong}");
}

/// The standard error against the spread of the difference over resampled rows, with fixed models.
#[test]
fn the_intervals_cover_the_true_difference() {
    let population = random_rows_of(&layout(2, 2, true, true), 7, 40_000);
    let first = [0.5, -0.2, 1.4, -0.3];
    let second = [0.6, 0.5, 0.3, 0.0];
    let whole = |rows: &Rows| {
        Comparison::of(&scores(&first, rows), &scores(&second, rows), rows, Fairness::SP).unwrap()
    };
    let truth = whole(&population);
    let n_samples = 400;
    let (mut loss, mut gap) = (0, 0);
    for sample in 0..n_samples {
        let indices: Vec<usize> = (0..100).map(|i| sample * 100 + i).collect();
        let found = whole(&population.select(&indices));
        let covers = |e: Estimate, truth: f64| usize::from(e.low <= truth && truth <= e.high);
        loss += covers(found.loss, truth.loss.value);
        gap += covers(found.gap, truth.gap.value);
    }
    // Four standard errors of a share of 0.95 over 400 samples are 0.044.
    for share in [loss, gap].map(|covered| covered as f64 / n_samples as f64) {
        assert!((0.906..=0.994).contains(&share), "{loss} and {gap} of {n_samples}");
    }
}

#[test]
fn no_worse_means_better_in_one_figure_by_what_matters_and_not_worse_in_the_other() {
    let e = |low: f64, high: f64| Estimate { value: 0.5 * (low + high), low, high };
    let compare = |loss, gap| Comparison { loss, gap };
    for (comparison, no_worse, worse) in [
        (compare(e(-0.03, -0.01), e(-0.05, 0.01)), true, false),
        (compare(e(-0.03, 0.005), e(-0.05, -0.01)), true, false),
        // Certainly better, but by too little.
        (compare(e(-0.009, -0.001), e(-0.05, 0.01)), false, false),
        (compare(e(-0.01, 0.005), e(-0.03, -0.001)), false, false),
        (compare(e(-0.03, -0.01), e(-0.05, 0.1)), false, false),
        (compare(e(-0.03, 0.05), e(-0.05, -0.01)), false, false),
        (compare(e(-0.01, 0.01), e(-0.01, 0.01)), false, false),
        (compare(e(0.01, 0.02), e(-0.05, -0.01)), false, true),
        (compare(e(-0.03, -0.01), e(0.01, 0.1)), false, true),
    ] {
        assert_eq!((comparison.is_no_worse(), comparison.is_worse()), (no_worse, worse));
    }
}

#[test]
fn the_best_constant_has_the_entropy_of_the_labels_and_no_gap() {
    let (own, rows) =
        table(&[(1.0, true, true), (-1.0, true, false), (-1.0, false, true), (-1.0, false, true)]);
    let comparison = compare_with_constant(&[1.0, 0.0], &rows, Fairness::SP).unwrap();
    let entropy = -(0.75 * 0.75f64.ln() + 0.25 * 0.25f64.ln());
    let mean = own.iter().zip(rows.labels()).map(|(s, y)| loss(s * y)).sum::<f64>() / 4.0;
    assert!((comparison.loss.value - (entropy - mean)).abs() < 1e-12);
    assert!((comparison.gap.value + 0.5).abs() < 1e-15);
    let (_, one_class) = table(&[(1.0, true, true), (1.0, false, true)]);
    assert_eq!(compare_with_constant(&[1.0, 0.0], &one_class, Fairness::SP), None);
}
