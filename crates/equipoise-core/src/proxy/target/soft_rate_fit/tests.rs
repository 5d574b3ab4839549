//! The gradient is right, and the fit reaches the hard rates of its goal.
#![allow(clippy::unwrap_used)]

use std::slice;

use super::super::super::ProxySettings;
use super::*;
use crate::fairness::{Condition, Criterion};
use crate::linalg::norm;
use crate::test_rows::{layout, random_rows_of};

fn goal(data: &Rows, theta: &[f64], fairness: Fairness) -> Goal {
    Goal::new(data, &scores_of(data, theta), &ProxySettings::new(fairness))
}

#[test]
fn the_gradient_agrees_with_finite_differences() {
    for (as_feature, criterion) in
        [(false, "sp"), (false, "eo"), (true, "equalized-odds"), (false, "fpr:0.4,sp:0.6")]
    {
        let layout = layout(3, 3, as_feature, true);
        let data = random_rows_of(&layout, 8, 400);
        let packed = PackedRows::of(slice::from_ref(&data)).unwrap();
        let fairness: Fairness = criterion.parse().unwrap();
        let theta: Vec<f64> = (0..layout.n()).map(|k| 0.9 - 0.35 * k as f64).collect();
        let goal = goal(&data, &theta, fairness);
        let terms = Term::all(&data, fairness, &goal);
        let targets = terms.iter().map(|term| term.goal).collect();
        let problem = SoftRateFit {
            data: &data,
            packed: &packed,
            penalty: Penalty::new(data.layout(), 0.3),
            covariance: covariance(&data),
            terms: &terms,
            targets,
        };
        let at = |theta: &[f64]| problem.at(theta.to_vec()).unwrap();
        let here = at(&theta);
        for k in 0..theta.len() {
            let moved = |by: f64| {
                let mut theta = theta.clone();
                theta[k] += by;
                (at(&theta).value, problem.soft_values(&theta).0)
            };
            let (up, down) = (moved(1e-5), moved(-1e-5));
            let slope = (up.0 - down.0) / 2e-5;
            // The rounding error of the difference quotient is about 1e-16 · F / 1e-5.
            assert!(
                (here.gradient[k] - slope).abs() < 1e-6 * norm(&here.gradient),
                "{criterion}, {k}"
            );
            for j in 0..terms.len() {
                let slope = (up.1[j] - down.1[j]) / 2e-5;
                assert!((here.state.slopes[j][k] - slope).abs() < 1e-8);
            }
        }
    }
}

#[test]
fn a_blind_model_gets_equal_rates_and_keeps_the_share_selected() {
    let layout = layout(3, 4, false, true);
    let data = random_rows_of(&layout, 9, 6000);
    let packed = PackedRows::of(slice::from_ref(&data)).unwrap();
    let raw = crate::inner_fit::fit_logistic(&data, 1e-3, &Default::default()).unwrap();
    let before = scores_of(&data, &raw);
    for criterion in [Criterion::Sp, Criterion::Eo, Criterion::Fpr, Criterion::EqualizedOdds] {
        let fairness = Fairness::from(criterion);
        let goal = goal(&data, &raw, fairness);
        let theta = fit_soft_rates(
            &data,
            &packed,
            &raw,
            Penalty::least(data.layout()),
            raw.clone(),
            fairness,
            &goal,
        )
        .unwrap();
        let worst = |scores: &[f64]| {
            let rates = Rates::of(&data, scores, 0.0);
            let gap = |(condition, _)| {
                let rates = (0..3).map(|group| rates.of_group(group, condition).unwrap());
                let (low, high) =
                    rates.fold((1f64, 0f64), |(l, h), rate| (l.min(rate), h.max(rate)));
                high - low
            };
            fairness.conditions().map(gap).fold(0.0, f64::max)
        };
        let after = scores_of(&data, &theta);
        assert!(worst(&before) > 0.1, "{}", worst(&before));
        assert!(worst(&after) < 0.1 * worst(&before), "{criterion:?}: {}", worst(&after));
        let selected = Rates::of(&data, &after, 0.0).together()[0].unwrap();
        assert!((selected - goal.overall).abs() < 0.01, "{criterion:?}: {selected}");
    }
}

/// The penalty alone would leave 3 % of the gap, and soft rates would differ from hard ones.
#[test]
fn hard_rates_are_exact_to_a_few_rows() {
    // One penalty for two rates is less exact.
    for (as_feature, criteria, exact) in
        [(false, &["sp", "eo", "fpr"][..], 0.002), (true, &["equalized-odds"], 0.01)]
    {
        let layout = layout(2, 5, as_feature, true);
        for (seed, criterion) in (20..23).flat_map(|seed| criteria.iter().map(move |c| (seed, c))) {
            let data = random_rows_of(&layout, seed, 6000);
            let packed = PackedRows::of(slice::from_ref(&data)).unwrap();
            let raw = crate::inner_fit::fit_logistic(&data, 1e-3, &Default::default()).unwrap();
            let fairness: Fairness = criterion.parse().unwrap();
            let goal = goal(&data, &raw, fairness);
            let terms = Term::all(&data, fairness, &goal);
            let theta = fit_soft_rates(
                &data,
                &packed,
                &raw,
                Penalty::least(data.layout()),
                raw.clone(),
                fairness,
                &goal,
            )
            .unwrap();
            let covariance = covariance(&data);
            let problem = SoftRateFit {
                data: &data,
                packed: &packed,
                penalty: Penalty::least(data.layout()),
                covariance,
                terms: &terms,
                targets: vec![],
            };
            let miss =
                |theta: &[f64]| worst_miss(&terms, &problem.hard_values(&scores_of(&data, theta)));
            assert!(miss(&raw) > 0.05, "{criterion}, seed {seed}: {}", miss(&raw));
            assert!(miss(&theta) < exact, "{criterion}, seed {seed}: {}", miss(&theta));
        }
    }
}

#[test]
fn hard_rates_are_counted_like_the_goal() {
    let layout = layout(3, 2, false, true);
    let data = random_rows_of(&layout, 2, 300);
    let packed = PackedRows::of(slice::from_ref(&data)).unwrap();
    let theta = vec![0.7, 0.4, -0.1];
    // With all of the gap remaining, the goal is what the model has.
    let fairness = Fairness::from(Criterion::EqualizedOdds);
    let settings = ProxySettings { remaining_gap: 1.0, ..ProxySettings::new(fairness) };
    let goal = Goal::new(&data, &scores_of(&data, &theta), &settings);
    let terms = Term::all(&data, fairness, &goal);
    let problem = SoftRateFit {
        data: &data,
        packed: &packed,
        penalty: Penalty::least(data.layout()),
        covariance: covariance(&data),
        terms: &terms,
        targets: vec![],
    };
    for (term, hard) in terms.iter().zip(problem.hard_values(&scores_of(&data, &theta))) {
        assert!((term.goal - hard).abs() < 1e-12);
    }
    // Soft rates do not depend on the size of the scores.
    let small: Vec<f64> = theta.iter().map(|t| 1e-3 * t).collect();
    for (a, b) in problem.soft_values(&theta).0.iter().zip(problem.soft_values(&small).0) {
        assert!((a - b).abs() < 1e-12, "{a}, {b}");
    }
}

#[test]
fn the_covariance_is_that_of_the_scores() {
    let layout = layout(3, 2, true, true);
    let data = random_rows_of(&layout, 4, 2500);
    let theta = [0.7, -0.4, 0.3, 0.2, 5.0];
    let scores = scores_of(&data, &theta);
    let mean = scores.iter().sum::<f64>() / 2500.0;
    let variance = scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 2500.0;
    let found = variance_of_scores(&covariance(&data), &theta);
    assert!((found - variance).abs() < 1e-9, "{found}, {variance}");
}

#[test]
fn the_worst_miss_by_hand() {
    let term = |group, condition, goal| Term { group, condition, weight: 0.5, goal };
    let terms = [
        term(Some(0), Condition::Positives, 0.1),
        term(Some(1), Condition::Positives, -0.1),
        term(Some(2), Condition::Positives, 0.0),
        term(None, Condition::All, 0.5),
    ];
    // Misses of +0.1, −0.1 and 0: a spread of 0.2, plus half of 0.04.
    assert!((worst_miss(&terms, &[0.2, -0.2, 0.0, 0.54]) - 0.22).abs() < 1e-12);
    // A common miss is no gap.
    assert!(worst_miss(&terms, &[0.2, 0.0, 0.1, 0.5]).abs() < 1e-12);
}

/// One feature cannot make the rates of three groups equal, which differ by chance. The gap must not grow, and the scores
/// must not vanish.
#[test]
fn a_model_that_cannot_be_fair_is_no_less_fair_than_the_raw_one() {
    let layout = layout(3, 1, false, true);
    for seed in 0..8 {
        let data = random_rows_of(&layout, 40 + seed, 150);
        let packed = PackedRows::of(slice::from_ref(&data)).unwrap();
        let raw = crate::inner_fit::fit_logistic(&data, 1e-3, &Default::default()).unwrap();
        let goal = goal(&data, &raw, Fairness::EO);
        let theta = fit_soft_rates(
            &data,
            &packed,
            &raw,
            Penalty::least(data.layout()),
            raw.clone(),
            Fairness::EO,
            &goal,
        )
        .unwrap();
        let terms = Term::all(&data, Fairness::EO, &goal);
        let covariance = covariance(&data);
        let targets = vec![];
        let problem = SoftRateFit {
            data: &data,
            packed: &packed,
            penalty: Penalty::least(data.layout()),
            covariance,
            terms: &terms,
            targets,
        };
        let miss =
            |theta: &[f64]| worst_miss(&terms, &problem.hard_values(&scores_of(&data, theta)));
        assert!(miss(&theta) <= miss(&raw) + 1e-12, "seed {seed}");
        let spread = |theta: &[f64]| variance_of_scores(&problem.covariance, theta).sqrt();
        let share = spread(&theta) / spread(&raw);
        assert!(share > MIN_SPREAD - 1e-9, "seed {seed}: {share}");
    }
}

#[test]
fn a_large_table_is_fitted_to_a_sample_first_and_reaches_its_goal() {
    let layout = layout(3, 2, false, true);
    let data = random_rows_of(&layout, 10, 2 * SAMPLE_ROWS + 3001);
    let sample = data.thinned(SAMPLE_ROWS).unwrap();
    assert_eq!(sample.len(), SAMPLE_ROWS);
    assert!(sample.thinned(SAMPLE_ROWS).is_none());
    let last = (SAMPLE_ROWS - 1) * data.len() / SAMPLE_ROWS;
    assert_eq!(data.a(last), sample.a(SAMPLE_ROWS - 1));

    let packed = PackedRows::of(slice::from_ref(&data)).unwrap();
    let raw = crate::inner_fit::fit_logistic(&data, 1e-3, &Default::default()).unwrap();
    let goal = goal(&data, &raw, Fairness::SP);
    let theta = fit_soft_rates(
        &data,
        &packed,
        &raw,
        Penalty::least(data.layout()),
        raw.clone(),
        Fairness::SP,
        &goal,
    )
    .unwrap();
    let rates = Rates::of(&data, &scores_of(&data, &theta), 0.0);
    for group in 0..3 {
        let found = rates.of_group(group, Condition::All).unwrap();
        let wanted = goal.by_group[group][0].unwrap();
        assert!((found - wanted).abs() < 0.01, "{group}: {found}, {wanted}");
    }
}
