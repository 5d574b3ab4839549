#![allow(clippy::unwrap_used)]
use super::sentence::about;
use super::*;
use crate::fairness::Criterion;
use crate::groups::Groups;
use crate::rows::{Layout, Rows};

/// Metrics of groups g0, g1, …, each with `[selected, not selected]` positives, then negatives. The last is the reference.
fn metrics(groups: &[[[usize; 2]; 2]]) -> Metrics {
    let names = (0..groups.len()).map(|g| format!("g{g}")).collect();
    let groups_of_layout = Groups::new(names, groups.len() - 1).unwrap();
    let layout = Layout { n_x: 1, groups: groups_of_layout, as_feature: false, intercept: false };
    let (mut x, mut g, mut y) = (vec![], vec![], vec![]);
    for (group, labels) in groups.iter().enumerate() {
        for (label, counts) in [(true, labels[0]), (false, labels[1])] {
            for (score, count) in [(1.0, counts[0]), (-1.0, counts[1])] {
                x.extend(vec![score; count]);
                g.extend(vec![group as u8; count]);
                y.extend(vec![label; count]);
            }
        }
    }
    Metrics::of(&[1.0], &Rows::new(layout, &x, &g, &y).unwrap()).unwrap()
}

fn requirements(text: &str) -> Requirements {
    text.parse().unwrap()
}

/// Figures with an interval that the test chooses: judged are the numbers, not how they were found.
fn with_gap(low: f64, value: f64, high: f64) -> Metrics {
    let mut metrics = metrics(&[[[50, 50], [50, 50]], [[50, 50], [50, 50]]]);
    let gap = metrics.gaps.sp.as_mut().unwrap();
    (gap.low, gap.value, gap.high) = (low, value, high);
    metrics
}

fn verdict_of_gap(low: f64, value: f64, high: f64) -> Verdict {
    let judgements = with_gap(low, value, high).judge(requirements("gap=0.05"), Fairness::SP);
    assert_eq!(judgements.len(), 1);
    Verdict::of(&judgements)
}

#[test]
fn a_gap_is_judged_by_its_whole_interval_in_both_directions() {
    assert_eq!(verdict_of_gap(-0.04, 0.0, 0.05), Verdict::Pass);
    assert_eq!(verdict_of_gap(-0.05, -0.01, 0.03), Verdict::Pass);
    assert_eq!(verdict_of_gap(0.051, 0.1, 0.2), Verdict::Fail);
    assert_eq!(verdict_of_gap(-0.2, -0.1, -0.051), Verdict::Fail);
    assert_eq!(verdict_of_gap(-0.09, 0.03, 0.15), Verdict::Unknown);
    assert_eq!(verdict_of_gap(0.05, 0.1, 0.15), Verdict::Unknown, "the bound itself is allowed");
    assert_eq!(verdict_of_gap(-0.06, 0.0, 0.06), Verdict::Unknown);
    assert_eq!(verdict_of_gap(-0.06, -0.05, -0.04), Verdict::Unknown);
}

#[test]
fn accuracies_are_judged_by_their_whole_interval() {
    let judge = |low, high| {
        let mut metrics = with_gap(0.0, 0.0, 0.0);
        metrics.accuracy = Some(Estimate { value: 0.5 * (low + high), low, high });
        metrics.balanced_accuracy = metrics.accuracy;
        let required = requirements("accuracy=0.75,balanced-accuracy=0.75");
        let judgements = metrics.judge(required, Fairness::SP);
        assert_eq!(judgements[0].verdict, judgements[1].verdict);
        Verdict::of(&judgements)
    };
    assert_eq!(judge(0.75, 0.8), Verdict::Pass);
    assert_eq!(judge(0.7, 0.749), Verdict::Fail);
    assert_eq!(judge(0.7, 0.75), Verdict::Unknown);
    assert_eq!(judge(0.7, 0.8), Verdict::Unknown);
}

#[test]
fn one_failure_outweighs_everything_and_one_doubt_a_pass() {
    let judge = |text| {
        let mut metrics = with_gap(-0.09, 0.03, 0.15);
        metrics.accuracy = Some(Estimate { value: 0.8, low: 0.78, high: 0.82 });
        Verdict::of(&metrics.judge(requirements(text), Fairness::SP))
    };
    assert_eq!(judge("accuracy=0.75"), Verdict::Pass);
    assert_eq!(judge("gap=0.2,accuracy=0.75"), Verdict::Pass);
    assert_eq!(judge("gap=0.05,accuracy=0.75"), Verdict::Unknown);
    assert_eq!(judge("gap=0.05,accuracy=0.9"), Verdict::Fail);
    assert_eq!(judge("none"), Verdict::None);
}

#[test]
fn every_condition_of_a_criterion_must_hold() {
    // The gap in the true positive rate is small and certain, that in the false positive rate large.
    let odds = metrics(&[[[9000, 1000], [400, 600]], [[9000, 1000], [600, 400]]]);
    let required = requirements("gap=0.05");
    let judge = |criterion: Criterion| odds.judge(required, criterion.into()).remove(0);
    assert_eq!(judge(Criterion::Eo).verdict, Verdict::Pass);
    assert_eq!(judge(Criterion::Fpr).verdict, Verdict::Fail);
    let both = judge(Criterion::EqualizedOdds);
    assert_eq!((both.verdict, both.condition), (Verdict::Fail, Some(Condition::Negatives)));
    // A certain small gap does not hide an uncertain smaller one.
    let few = metrics(&[[[9040, 960], [5, 5]], [[9000, 1000], [5, 5]]]);
    let both = few.judge(required, Criterion::EqualizedOdds.into()).remove(0);
    assert_eq!((both.verdict, both.condition), (Verdict::Unknown, Some(Condition::Positives)));
    let text = both.to_string();
    assert!(text.contains("rows of each label per group would be needed"), "{text}");
    let positives = few.judge(required, Fairness::EO).remove(0);
    assert_eq!(positives.verdict, Verdict::Pass, "{positives}");
}

#[test]
fn a_group_without_rows_prevents_a_pass_but_not_a_failure() {
    let fair = metrics(&[[[0, 0], [0, 0]], [[5000, 5000], [0, 0]], [[5000, 5000], [0, 0]]]);
    let judgement = fair.judge(requirements("gap=0.05"), Fairness::SP).remove(0);
    assert_eq!(judgement.verdict, Verdict::Unknown);
    assert_eq!(judgement.unmeasured_groups, ["g0"]);
    // All three pairs of equal groups must stay within the bound, so both ends of each may miss in .2 / 6 of the samples:
    // (1.95996 + 1.8339)² · 0.5 / 0.05² = 2878.7.
    let rows = judgement.rows_needed.unwrap();
    assert!((2870..2890).contains(&rows), "{rows}");
    let text = judgement.to_string();
    assert!(text.contains("not counting groups without rows: `g0`"), "{text}");
    let unfair = metrics(&[[[0, 0], [0, 0]], [[7000, 3000], [0, 0]], [[5000, 5000], [0, 0]]]);
    let judgements = unfair.judge(requirements("gap=0.05"), Fairness::SP);
    assert_eq!(Verdict::of(&judgements), Verdict::Fail);
    // Nobody is positive: there is no true positive rate at all.
    let none = metrics(&[[[0, 0], [5, 5]], [[0, 0], [5, 5]]]);
    let judgement = none.judge(requirements("gap=0.05"), Fairness::EO).remove(0);
    assert_eq!((judgement.verdict, judgement.figure), (Verdict::Unknown, None));
}

#[test]
fn the_rows_needed_follow_the_formula() {
    // Rates of 0.6 and 0.5 among 96 rows each; two successes and two failures more leave 0.596 and 0.5.
    let judged = metrics(&[[[48, 48], [0, 0]], [[58, 38], [0, 0]]])
        .judge(requirements("gap=0.05"), Fairness::SP)
        .remove(0);
    let (p, q, gap) = (60.0 / 100.0, 50.0 / 100.0, 10.0 / 96.0);
    let expected = (2.801_585_218f64 / (gap - 0.05)).powi(2) * (p * (1.0f64 - p) + q * (1.0 - q));
    assert_eq!(judged.rows_needed, Some(expected.ceil() as usize));
    // The closed form: at that many rows, the interval's half-width is margin · z₀.₉₇₅ / (z₀.₉₇₅ + z₀.₈).
    let rows = judged.rows_needed.unwrap() as f64;
    let half_width = 1.96 * ((p * (1.0 - p) + q * (1.0 - q)) / rows).sqrt();
    assert!((half_width / (gap - 0.05) - 0.6996).abs() < 1e-3, "{half_width}");
    assert_eq!(rows_to_exclude(0.0, 0.5), None);
    assert_eq!(rows_to_exclude(1e-6, 0.5), None);
    assert_eq!(rows_to_exclude(0.9, 0.01), Some(1));
    assert_eq!(rows_to_exclude(-0.1, 0.25), rows_to_exclude(0.1, 0.25));
}

#[test]
fn the_sentence_says_what_was_found_and_what_is_missing() {
    let sentence = |metrics: &Metrics, text: &str| {
        describe_verdict(&metrics.judge(requirements(text), Fairness::SP), "this root")
    };
    let unknown = sentence(&with_gap(-0.09, 0.03, 0.15), "gap=0.05").unwrap();
    assert_eq!(
        unknown,
        "cannot tell with this root: the gap in selection rate is +0.030 [-0.090, +0.150], required: at most 0.05; \
         about 2,200 rows per group would be needed"
    );
    let mut failed = with_gap(-0.3, -0.2, -0.1);
    failed.accuracy = Some(Estimate { value: 0.8, low: 0.78, high: 0.82 });
    assert_eq!(
        sentence(&failed, "gap=0.05,accuracy=0.75").unwrap(),
        "fail: the gap in selection rate is -0.200 [-0.300, -0.100], required: at most 0.05\nmet: the accuracy is \
         0.800 [0.780, 0.820], required: at least 0.75"
    );
    let undecided = sentence(&failed, "gap=0.15,accuracy=0.75").unwrap();
    let (unknown, met) = undecided.split_once("\nmet: ").unwrap();
    assert!(unknown.starts_with("cannot tell with this root: the gap in selection rate"));
    assert!(!unknown.contains("the accuracy") && met.starts_with("the accuracy is 0.800"));
    let passed = sentence(&failed, "accuracy=0.75").unwrap();
    assert!(passed.starts_with("pass: the accuracy is 0.800"), "{passed}");
    assert_eq!(sentence(&failed, "none"), None);
    let at_the_bound = metrics(&[[[55, 45], [0, 0]], [[50, 50], [0, 0]]]);
    let at_the_bound = sentence(&at_the_bound, "gap=0.05").unwrap();
    assert!(at_the_bound.ends_with("for any practical number of rows to tell"), "{at_the_bound}");
    assert_eq!(
        [1, 9, 10, 99, 101, 9805, 12_345, 1_234_567].map(about),
        ["1", "9", "10", "99", "110", "9,900", "13,000", "1,300,000"]
    );
}

#[test]
fn more_rows_than_anyone_would_collect_are_not_asked_for() {
    // 0.5 · (2.8016 / 0.01)² is about 39,000 rows per group, 390 times those found.
    let few = metrics(&[[[54, 46], [0, 0]], [[50, 50], [0, 0]]]);
    let judgement = few.judge(requirements("gap=0.05"), Fairness::SP).remove(0);
    assert_eq!((judgement.verdict, judgement.rows_needed), (Verdict::Unknown, None));
    // A root of 8000 rows per group can grow to five times that size.
    let many = metrics(&[[[4320, 3680], [0, 0]], [[4000, 4000], [0, 0]]]);
    let judgement = many.judge(requirements("gap=0.05"), Fairness::SP).remove(0);
    assert_eq!(judgement.verdict, Verdict::Unknown);
    assert!(judgement.rows_needed.is_some_and(|rows| rows > 30_000), "{judgement}");
}
