#![allow(clippy::unwrap_used)]
use super::*;
use crate::fairness::{Condition, Criterion};
use crate::metrics::is_selected;
use crate::rows::Layout;
use crate::test_rows::{layout, random_rows, random_rows_of};

const CRITERIA: [Criterion; 4] =
    [Criterion::Sp, Criterion::Eo, Criterion::Fpr, Criterion::EqualizedOdds];

fn rate(scores: &[f64], cut: f64, positive: &[bool], fairness: Fairness) -> f64 {
    let of = |condition: Condition| {
        let counted: Vec<bool> = (0..scores.len())
            .filter(|&i| condition.includes(positive[i]))
            .map(|i| scores[i] > cut)
            .collect();
        counted.iter().filter(|selected| **selected).count() as f64 / counted.len() as f64
    };
    fairness.conditions().map(|(condition, weight)| weight * of(condition)).sum()
}

/// Rows of a group: scores and labels.
fn group(rows: &Rows, scores: &[f64], g: usize) -> (Vec<f64>, Vec<bool>) {
    let members = (0..rows.len()).filter(|&i| rows.group(i) == g);
    members.map(|i| (scores[i], rows.is_positive(i))).unzip()
}

#[test]
fn cuts_are_the_most_accurate_of_all_with_equal_rates() {
    for (seed, n_groups) in [(1, 2), (2, 2), (3, 3), (4, 4)] {
        let rows = random_rows_of(&layout(n_groups, 2, true, true), seed, 100 * n_groups);
        let theta = vec![0.7; rows.layout().n()];
        let scores = scores(&theta, &rows);
        for fairness in CRITERIA.map(Fairness::from) {
            let found = choose_cuts(&scores, &rows, fairness);
            assert_eq!(found.sharing, Vec::<usize>::new());
            let groups: Vec<_> = (0..n_groups).map(|g| group(&rows, &scores, g)).collect();
            // At each rate, the cuts halfway between two counted scores whose rates are nearest: one for each group, or two.
            let correct_at = |target: f64| -> [usize; 2] {
                let of_group = |(scores, positive): &(Vec<f64>, Vec<bool>)| -> [usize; 2] {
                    let is_counted = |&i: &usize| {
                        fairness.conditions().any(|(condition, _)| condition.includes(positive[i]))
                    };
                    let mut counted: Vec<f64> =
                        (0..scores.len()).filter(is_counted).map(|i| scores[i]).collect();
                    counted.sort_by(f64::total_cmp);
                    let halfway = counted.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
                    let ends = [counted[0] - 1e-6, counted[counted.len() - 1] + 1e-6];
                    let cuts: Vec<f64> = halfway.chain(ends).collect();
                    let off = |cut: f64| (rate(scores, cut, positive, fairness) - target).abs();
                    let least = cuts.iter().map(|&cut| off(cut)).fold(f64::INFINITY, f64::min);
                    let correct = |&cut: &f64| {
                        (0..scores.len()).filter(|&i| (scores[i] > cut) == positive[i]).count()
                    };
                    let nearest = cuts.iter().filter(|cut| off(**cut) <= least + 1e-12);
                    let correct: Vec<usize> = nearest.map(correct).collect();
                    [*correct.iter().min().unwrap(), *correct.iter().max().unwrap()]
                };
                groups.iter().map(of_group).fold([0, 0], |a, b| [a[0] + b[0], a[1] + b[1]])
            };
            let grid: Vec<[usize; 2]> =
                (1..100).map(|step| correct_at(f64::from(step) / 100.0)).collect();
            let most = [0, 1].map(|end| grid.iter().map(|correct| correct[end]).max().unwrap());
            let is_correct =
                |&i: &usize| (scores[i] > found.by_group[rows.group(i)]) == rows.is_positive(i);
            let correct = (0..rows.len()).filter(is_correct).count();
            assert!((most[0]..=most[1]).contains(&correct), "{correct}, not {most:?}");
            let rates: Vec<f64> = groups
                .iter()
                .zip(&found.by_group)
                .map(|((scores, positive), &cut)| rate(scores, cut, positive, fairness))
                .collect();
            let fewest = groups.iter().map(|(_, p)| {
                let positives = p.iter().filter(|p| **p).count();
                positives.min(p.len() - positives)
            });
            let step = 1.0 / fewest.min().unwrap() as f64;
            assert!(rates.iter().all(|r| (r - rates[0]).abs() <= step), "{rates:?}");
        }
    }
}

#[test]
fn equal_means_make_the_worse_gap_of_equalised_odds_smallest() {
    let rows = random_rows(5, 4000, 2, true);
    let scores = scores(&[0.7; 4], &rows);
    let fairness = Criterion::EqualizedOdds.into();
    let cuts = choose_cuts(&scores, &rows, fairness).by_group;
    let gap = |cut: f64| {
        let gaps = [Criterion::Eo, Criterion::Fpr].map(|criterion| {
            let of = |g: usize, cut: f64| {
                let (scores, positive) = group(&rows, &scores, g);
                rate(&scores, cut, &positive, criterion.into())
            };
            (of(0, cuts[0]) - of(1, cut)).abs()
        });
        gaps[0].max(gaps[1])
    };
    let (found, smallest) = (gap(cuts[1]), (-400..400).map(|i| gap(f64::from(i) / 100.0)));
    assert!(found <= smallest.fold(1.0, f64::min) + 0.005, "{found}");
}

#[test]
fn the_adapted_model_decides_as_the_cuts() {
    for n_groups in [2, 3, 5] {
        let rows = random_rows_of(&layout(n_groups, 3, true, true), 9, 400);
        let theta: Vec<f64> = (0..rows.layout().n()).map(|j| (j as f64).sin()).collect();
        let before = scores(&theta, &rows);
        let cuts = choose_cuts(&before, &rows, Fairness::SP);
        let adapted = adapt(&theta, &rows, None, Fairness::SP).unwrap();
        let [kept, moved, _] = &adapted.theta;
        assert_eq!(*kept, theta);
        for (i, score) in scores(moved, &rows).into_iter().enumerate() {
            assert_eq!(is_selected(score), before[i] > cuts.by_group[rows.group(i)]);
        }
        assert_eq!(moved[..3], theta[..3]);
    }
}

#[test]
fn the_same_rows_give_the_same_answer_on_any_number_of_threads() {
    let rows = random_rows(11, 900, 3, true);
    let theta = vec![0.4; rows.layout().n()];
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| adapt(&theta, &rows, None, Fairness::EO).unwrap())
    };
    let (one, four) = (run(1), run(4));
    assert_eq!(one, four);
    for (a, b) in one.theta.iter().zip(&four.theta) {
        assert!(a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}

#[test]
fn every_row_is_decided_by_a_model_of_the_other_folds_which_have_their_share_of_each_cell() {
    let rows = random_rows(12, 203, 2, true);
    let mut cells = Vec::new();
    let number_of_fold = |train: &Rows| {
        cells.push(train.cell_counts());
        Ok([vec![0.0, 0.0, 0.0, cells.len() as f64]])
    };
    let folds = Folds::of(&rows);
    let [scores] = folds.decide(number_of_fold).unwrap();
    let decided_by = folds.fold.iter().map(|fold| (fold + 1) as f64);
    assert!(scores.iter().copied().eq(decided_by));
    for cells in &cells {
        for (train, all) in cells.iter().flatten().zip(rows.cell_counts().iter().flatten()) {
            let share = *all as f64 / FOLDS as f64;
            assert!(((all - train) as f64 - share).abs() <= 1.0, "{train} of {all}");
        }
    }
}

#[test]
fn own_thresholds_are_recommended_where_they_help_and_not_where_they_do_not() {
    let rows = random_rows(21, 3000, 3, true);
    let own = own_fair_model(&rows, Fairness::SP).unwrap();
    // The best that the rows know: nothing is better.
    let kept = adapt(&own, &rows, None, Fairness::SP).unwrap();
    assert_eq!(kept.recommended, HomeModel::Global, "{}", kept.reason);
    assert!(kept.reason.contains("adapted is not better beyond chance"), "{}", kept.reason);
    // The same model with the threshold of other people: too few of group 0 are selected.
    let mut unfair = own.clone();
    *unfair.last_mut().unwrap() -= 1.5;
    unfair[3] += 1.5;
    let adapted = adapt(&unfair, &rows, None, Fairness::SP).unwrap();
    assert_eq!(adapted.recommended, HomeModel::Adapted, "{}", adapted.reason);
    assert!(adapted.reason.starts_with("the gap of global is larger by"), "{}", adapted.reason);
    let gap = |metrics: &Metrics| metrics.gap(Fairness::SP).unwrap().size();
    assert!(gap(&adapted.metrics[1]) < 0.03 && gap(&adapted.metrics[0]) > 0.1);
    // A model of other features: no threshold repairs it.
    let mut useless = vec![0.0; own.len()];
    useless[0] = -1.0;
    let alone = adapt(&useless, &rows, None, Fairness::SP).unwrap();
    assert_eq!(alone.recommended, HomeModel::Own, "{}", alone.reason);
    // The model of a proxy is taken as it is.
    let with_proxy = adapt(&useless, &rows, Some(&rows), Fairness::SP).unwrap();
    let model_of_rows = fit_logistic(&rows, PROXY_LAMBDA, &InnerSettings::default()).unwrap();
    assert_eq!(with_proxy.theta[2], model_of_rows);
    assert_eq!(with_proxy.metrics[2].rows, rows.len());
}

/// The first `n` rows of group 0, and all of the others.
fn with_few_rows(rows: &Rows, n: usize) -> Rows {
    let (few, others): (Vec<usize>, Vec<usize>) =
        (0..rows.len()).partition(|&i| rows.group(i) == 0);
    rows.select(&[&few[..n], &others[..]].concat())
}

#[test]
fn small_groups_share_a_threshold() {
    let rows = with_few_rows(&random_rows_of(&layout(3, 2, true, true), 31, 600), 4);
    let theta = [0.7; 5];
    let cuts = choose_cuts(&scores(&theta, &rows), &rows, Fairness::SP);
    assert_eq!(cuts.sharing, [0]);
    assert_ne!(cuts.by_group[1], cuts.by_group[2]);
    let warnings = adapt(&theta, &rows, None, Fairness::SP).unwrap().warnings;
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].message.ends_with("`g0`"), "{}", warnings[0]);
    // If one of two groups is too small, both have the same threshold.
    for (n, sharing) in [(4, vec![0, 1]), (5, vec![])] {
        let rows = with_few_rows(&random_rows(32, 300, 2, true), n);
        let cuts = choose_cuts(&scores(&[0.7; 4], &rows), &rows, Fairness::SP);
        assert_eq!(cuts.by_group[0] == cuts.by_group[1], n == 4);
        assert_eq!(cuts.sharing, sharing);
    }
    // A group without rows is not worth a warning, but has a threshold.
    let rows = with_few_rows(&random_rows_of(&layout(3, 2, true, true), 31, 600), 0);
    let adapted = adapt(&theta, &rows, None, Fairness::SP).unwrap();
    assert_eq!(adapted.warnings, []);
}

#[test]
fn a_blind_model_gets_one_threshold_and_one_without_intercept_an_error() {
    let blind = random_rows_of(&layout(2, 3, false, true), 41, 500);
    let adapted = adapt(&[0.5, 0.5, 0.5, 3.0], &blind, None, Fairness::SP).unwrap();
    assert_eq!(adapted.theta[1][..3], [0.5, 0.5, 0.5]);
    assert!(adapted.theta[1][3] < 3.0);
    assert!(adapted.warnings[0].message.starts_with("the model is blind"));
    let rows = random_rows(42, 500, 3, false);
    let error = adapt(&[0.5; 4], &rows, None, Fairness::SP).unwrap_err().to_string();
    assert!(error.contains("no intercept") && error.contains("intercept = true"), "{error}");
}

#[test]
fn rows_that_cannot_be_judged_are_refused() {
    let rows = random_rows(51, 200, 2, true);
    let of = |keep: &dyn Fn(usize) -> bool| {
        rows.select(&(0..rows.len()).filter(|&i| keep(i)).collect::<Vec<_>>())
    };
    let refuse = |rows: &Rows, fairness, text: &str| {
        let error = adapt(&[0.7; 4], rows, None, fairness).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    };
    refuse(&of(&|i| rows.is_positive(i)), Fairness::SP, "all labels are the same");
    refuse(&of(&|i| rows.group(i) == 0), Fairness::SP, "in the group `others`");
    let no_positive = of(&|i| rows.group(i) == 1 || !rows.is_positive(i));
    refuse(&no_positive, Fairness::EO, "equal opportunity needs positive rows");
    refuse(&of(&|i| i < 8), Fairness::SP, "at least 5 rows of each label");
    refuse(&of(&|_| false), Fairness::SP, "all labels are the same");
    let error = adapt(&[0.7; 3], &rows, None, Fairness::SP).unwrap_err().to_string();
    assert!(error.contains("expected rows of 4 entries, found 3"), "{error}");
    let error = adapt(&[1e308; 4], &rows, None, Fairness::SP).unwrap_err().to_string();
    assert!(error.contains("not finite numbers"), "{error}");
    let other = random_rows_of(&Layout::two_groups(3, true), 1, 50);
    assert!(adapt(&[0.7; 4], &rows, Some(&other), Fairness::SP).is_err());
}

#[test]
fn equal_scores_are_never_separated() {
    // One feature with three values: six scores.
    let layout = Layout::two_groups(1, true);
    let x: Vec<f64> = (0..600).map(|i| f64::from(i % 3)).collect();
    let groups: Vec<bool> = (0..600).map(|i| i % 7 < 3).collect();
    let positive: Vec<bool> = (0..600).map(|i| i % 3 == 2 || i % 11 == 0).collect();
    let rows = Rows::new(layout, &x, &groups, &positive).unwrap();
    let adapted = adapt(&[0.1 + 0.2, 1e6, -0.3], &rows, None, Fairness::SP).unwrap();
    let metrics = Metrics::of(&adapted.theta[1], &rows).unwrap();
    assert!(metrics.gap(Fairness::SP).unwrap().size() < 0.02, "{:?}", metrics.gaps.sp);
    assert!(metrics.accuracy.unwrap().value > 0.9);
}
