#![allow(clippy::unwrap_used)]
use super::*;
use crate::comparison::{compare_with_constant, compare_with_pooled, compare_with_root_only};
use crate::defense::Defense;
use crate::fairness::Fairness;
use crate::metrics::Metrics;
use crate::observer::NoopObserver;
use crate::root::RootWeighting;
use crate::round::{Client, Round};
use crate::rows::{Layout, Rows};
use crate::settings::Settings;
use crate::solve::solve;
use crate::test_rows::{layout, random_round, random_rows_of};

/// A pooled model of three clients, with `root_rows` root rows each.
fn outcome(root_rows: usize, change: impl FnOnce(&mut Settings)) -> Outcome {
    let layout = Layout::two_groups(2, true);
    let clients = (0..3).map(|c| Client {
        id: format!("c{c}"),
        proxy: random_rows_of(&layout, 100 + c, 300),
        root: random_rows_of(&layout, 200 + c, root_rows),
    });
    let round = Round::new(clients.collect()).unwrap();
    let mut settings = Settings::bilevel(Fairness::SP);
    settings.defense = Defense::Pooled;
    change(&mut settings);
    solve(&round, &settings.validate().unwrap(), &mut NoopObserver).unwrap()
}

fn codes(outcome: &Outcome) -> Vec<WarningCode> {
    outcome.figure_warnings().iter().map(|warning| warning.code).collect()
}

/// The message of the warning with this code, if there is one.
fn message(outcome: &Outcome, code: WarningCode) -> Option<String> {
    let found = outcome.figure_warnings().into_iter().find(|warning| warning.code == code);
    found.map(|warning| warning.message)
}

fn estimate(low: f64, value: f64, high: f64) -> Estimate {
    Estimate { value, low, high }
}

fn set_gap(outcome: &mut Outcome, low: f64, value: f64, high: f64) {
    let gap = outcome.root_metrics.gaps.sp.as_mut().unwrap();
    (gap.low, gap.value, gap.high) = (low, value, high);
}

/// Figures of a fair and useful model.
fn good() -> Outcome {
    let mut outcome = outcome(200, |_| {});
    set_gap(&mut outcome, -0.05, 0.01, 0.07);
    outcome
}

#[test]
fn a_fair_and_useful_model_has_no_warnings() {
    assert_eq!(codes(&good()), []);
}

#[test]
fn a_solve_ends_with_the_warnings_about_its_figures_once() {
    let mut outcome = outcome(200, |_| {});
    assert!(codes(&outcome).contains(&WarningCode::FairnessNotReached), "{outcome:?}");
    let own = outcome.warnings.clone();
    assert!(own.ends_with(&outcome.figure_warnings()));
    outcome.update_figure_warnings();
    assert_eq!(outcome.warnings, own);
}

#[test]
fn a_root_is_too_small_if_it_could_not_exclude_a_broken_80_percent_rule() {
    // Both groups have a rate of 1/2 and n rows: Newcombe's limit is √2 z / (2 √(n + z²)), which is 0.2 for 44.2 rows.
    let with_rows = |rows: [usize; 2], (low, value, high): (f64, f64, f64)| {
        let mut outcome = good();
        set_gap(&mut outcome, low, value, high);
        for (group, rows) in outcome.root_metrics.groups.iter_mut().zip(rows) {
            (group.rows, group.selected) = (rows, rows / 2);
        }
        outcome
    };
    assert_eq!(codes(&with_rows([46, 46], (-0.2, 0.01, 0.22))), []);
    let outcome = with_rows([44, 44], (-0.2, 0.01, 0.22));
    let text = message(&outcome, WarningCode::RootTooSmall).unwrap();
    for part in
        ["+0.010 [-0.200, +0.220]", "a gap of 0.20", "rows per group", "exclude a gap of 0.2"]
    {
        assert!(text.contains(part), "{text}");
    }
    // The rows of the groups count, not the gap that they happen to show.
    assert_eq!(codes(&with_rows([60, 60], (-0.35, -0.14, 0.03))), []);
    assert_eq!(codes(&with_rows([10, 600], (-0.1, 0.0, 0.1))), [WarningCode::RootTooSmall]);
    // Ten rows that are all selected leave room for a gap of z² / (10 + z²) = 0.278, however many rows the other group has.
    for rows in [[10, 10], [10, 1000]] {
        let mut outcome = with_rows(rows, (-0.01, 0.0, 0.28));
        outcome.root_metrics.groups.iter_mut().for_each(|group| group.selected = group.rows);
        let text = message(&outcome, WarningCode::RootTooSmall).unwrap();
        assert!(text.contains("a gap of 0.28"), "{text}");
    }
    // Twelve rows of each client are certainly too few.
    let few = self::outcome(12, |_| {});
    assert!(codes(&few).contains(&WarningCode::RootTooSmall), "{:?}", few.root_metrics.gaps);
}

#[test]
fn with_a_required_gap_a_root_is_too_small_if_it_cannot_decide() {
    let judged = |gap: f64, (low, value, high): (f64, f64, f64)| {
        let mut outcome = good();
        outcome.settings.requirements.gap = Some(gap);
        set_gap(&mut outcome, low, value, high);
        let settings = outcome.settings;
        outcome.judgements = outcome.root_metrics.judge(settings.requirements, settings.fairness);
        outcome
    };
    let unknown = judged(0.05, (-0.09, 0.03, 0.15));
    assert_eq!(codes(&unknown), [WarningCode::RootTooSmall]);
    let text = message(&unknown, WarningCode::RootTooSmall).unwrap();
    assert!(text.contains("rows per group would be needed"), "{text}");
    assert_eq!(codes(&judged(0.3, (-0.25, 0.01, 0.27))), [], "the whole interval is allowed");
    let failed = judged(0.05, (0.06, 0.1, 0.14));
    assert_eq!(codes(&failed), [WarningCode::FairnessNotReached]);
    let text = message(&failed, WarningCode::FairnessNotReached).unwrap();
    assert!(text.contains("at most 0.05 is required"), "{text}");
}

#[test]
fn fairness_is_not_reached_if_the_whole_interval_is_beyond_the_bound() {
    for (low, value, high, warned) in [
        (0.05, 0.1, 0.15, false),
        (0.051, 0.1, 0.15, true),
        (-0.15, -0.1, -0.05, false),
        (-0.15, -0.1, -0.051, true),
    ] {
        let mut outcome = good();
        set_gap(&mut outcome, low, value, high);
        let found = message(&outcome, WarningCode::FairnessNotReached);
        assert_eq!(found.is_some(), warned, "{low} to {high}: {found:?}");
        assert!(found.is_none_or(|text| text.contains("`privileged` minus `others`")));
    }
}

#[test]
fn names_clients_and_groups_that_are_missing_from_the_root() {
    let layout = layout(3, 2, true, true);
    let root = |seed| random_rows_of(&layout, seed, 400);
    let without = |rows: Rows, group: usize, label: Option<bool>| {
        let is_kept = |&i: &usize| {
            rows.group(i) != group || label.is_some_and(|label| rows.is_positive(i) != label)
        };
        rows.select(&(0..rows.len()).filter(is_kept).collect::<Vec<_>>())
    };
    let solved = |roots: [Rows; 2], fairness: Fairness| {
        let clients = roots.into_iter().enumerate().map(|(c, root)| Client {
            id: format!("c{c}"),
            proxy: random_rows_of(&layout, 300 + c as u64, 300),
            root,
        });
        let round = Round::new(clients.collect()).unwrap();
        let (defense, root_weighting) = (Defense::Pooled, RootWeighting::Client);
        let settings = Settings { defense, root_weighting, ..Settings::new(fairness) };
        solve(&round, &settings.validate().unwrap(), &mut NoopObserver).unwrap()
    };
    let complete = codes(&solved([root(1), root(2)], Fairness::EO));
    assert!(!complete.contains(&WarningCode::GroupMissing));
    assert!(!complete.contains(&WarningCode::ClientWithoutRoot));

    let lost = solved([without(root(1), 0, None), without(root(2), 0, None)], Fairness::SP);
    let text = message(&lost, WarningCode::GroupMissing).unwrap();
    assert!(text.contains("no rows of these groups: `g0`"), "{text}");
    // Only the positive rows are missing, which statistical parity does not need.
    let half = || [without(root(1), 0, Some(true)), without(root(2), 0, Some(true))];
    let text = message(&solved(half(), Fairness::EO), WarningCode::GroupMissing).unwrap();
    assert!(text.contains("no positive rows of these groups: `g0`"), "{text}");
    assert_eq!(message(&solved(half(), Fairness::SP), WarningCode::GroupMissing), None);

    let absent = solved([root(1), root(2).select(&[])], Fairness::SP);
    let text = message(&absent, WarningCode::ClientWithoutRoot).unwrap();
    assert!(text.contains("1 of 2 clients have no root rows: `c1`"), "{text}");
    let mut pooled = absent;
    pooled.settings.root_weighting = RootWeighting::Pooled;
    pooled.update_figure_warnings();
    assert_eq!(message(&pooled, WarningCode::ClientWithoutRoot), None);
}

#[test]
fn a_model_that_the_root_cannot_tell_from_a_constant() {
    // Labels that have nothing to do with the scores, and labels that follow them.
    let layout = Layout::two_groups(1, true);
    let n = 300;
    let x: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let groups: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
    let noise: Vec<bool> = (0..n).map(|i| i % 4 < 2).collect();
    let signal: Vec<bool> = (0..n).map(|i| (i % 2 == 0) != (i % 10 == 0)).collect();
    let with = |theta: &[f64], labels: &[bool]| {
        let rows = Rows::new(layout.clone(), &x, &groups, labels).unwrap();
        let mut outcome = good();
        outcome.root_metrics = Metrics::of(theta, &rows).unwrap();
        outcome.comparisons.constant = compare_with_constant(theta, &rows, Fairness::SP);
        message(&outcome, WarningCode::NoBetterThanConstant)
    };
    assert_eq!(with(&[2.0, 0.0, 0.0], &signal), None);
    let text = with(&[2.0, 0.0, 0.0], &noise).unwrap();
    assert!(text.contains("its balanced accuracy is 0.5"), "{text}");
    assert!(text.contains("its loss is provably higher by"), "{text}");
    assert!(text.ends_with("than that of the best constant"), "{text}");
    for (intercept, which) in [(9.0, "selects all"), (-9.0, "selects none")] {
        let text = with(&[2.0, 0.0, intercept], &signal).unwrap();
        assert!(text.contains(which), "{text}");
    }
}

#[test]
fn the_pooled_and_the_root_only_model_are_no_worse_than_a_useless_one() {
    let round = random_round(5, 3, 600, 2, true);
    let settings = Settings { defense: Defense::Pooled, ..Settings::new(Fairness::SP) };
    let settings = settings.validate().unwrap();
    let pooled = solve(&round, &settings, &mut NoopObserver).unwrap();
    let compared = |theta: &[f64]| {
        let mut outcome = pooled.clone();
        outcome.comparisons.pooled =
            compare_with_pooled(&round, theta, &pooled.theta, Fairness::SP).unwrap();
        outcome.comparisons.root_only = compare_with_root_only(&round, theta, &settings).unwrap();
        assert!(outcome.comparisons.pooled.is_some() && outcome.comparisons.root_only.is_some());
        let found = codes(&outcome);
        [WarningCode::PooledNoWorse, WarningCode::RootOnlyNoWorse].map(|code| found.contains(&code))
    };
    // Selects the privileged group and nobody else, against most labels: a gap of 1 and a high loss.
    assert_eq!(compared(&[-1.0, -1.0, 12.0, -6.0]), [true, true]);
    // Itself, and a model that selects nobody: useless, but fairer than both.
    assert!(!compared(&pooled.theta)[0]);
    assert_eq!(compared(&[0.0, 0.0, 0.0, -30.0]), [false, false]);
}

#[test]
fn one_client_dominates_only_if_all_clients_together_are_not_provably_worse() {
    let dominated = |weights: [f64; 3], loss_low: f64, gap_low: f64| {
        let mut outcome = good();
        outcome.clients.iter_mut().zip(weights).for_each(|(client, w)| client.weight = w);
        let loss = estimate(loss_low, loss_low + 0.01, loss_low + 0.02);
        let gap = estimate(gap_low, gap_low + 0.05, gap_low + 0.1);
        outcome.comparisons.pooled = Some(Comparison { loss, gap });
        message(&outcome, WarningCode::OneClientDominates)
    };
    let text = dominated([0.02, 0.97, 0.01], -0.01, -0.05).unwrap();
    assert!(text.contains("client `c1` has 97 % of the weight"), "{text}");
    // The estimates are 0 and 0.
    assert!(text.ends_with("loss is higher by 0.000 [-0.010, 0.010], and its gap is larger by 0.000 [-0.050, 0.050]"), "{text}");
    let text = dominated([0.02, 0.97, 0.01], -0.05, -0.2).unwrap();
    let better = "the pooled model's loss is provably lower by 0.040 [0.030, 0.050], and its gap is provably smaller by \
                  0.150 [0.100, 0.200]";
    assert!(text.ends_with(better), "{text}");
    assert_eq!(dominated([0.06, 0.89, 0.05], -0.01, -0.05), None, "not nearly all");
    assert_eq!(dominated([0.02, 0.97, 0.01], 0.001, -0.05), None, "pooled has a higher loss");
    assert_eq!(dominated([0.02, 0.97, 0.01], -0.01, 0.001), None, "pooled is less fair");
    assert_eq!(dominated([0.0; 3], -0.01, -0.05), None, "no client has any weight");
    let mut single = good();
    single.clients.truncate(1);
    single.clients[0].weight = 1.0;
    let zero = estimate(0.0, 0.0, 0.0);
    single.comparisons.pooled = Some(Comparison { loss: zero, gap: zero });
    assert_eq!(codes(&single), [], "no other client could have any weight");
}
