//! Plans do what they say, the search finds the best of them, and knowledge helps the attackers.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;

use equipoise_core::{Fairness, InnerSettings, Metrics, fit_logistic};

use super::super::test_rounds::Drawn;
use super::plan::Plan;
use super::search::search;
use super::*;
use crate::scenario::unfairness;

const HONEST: Plan = Plan { gap: 0.0, scale: 1.0, share: 0.0, flipped: 0.0, shift: 0.0 };

/// The first attacker, its training rows and its honest proxy.
fn first_forger(drawn: &Drawn) -> (Forger, Rows, Rows) {
    let attackers = drawn.attackers();
    let member = attackers.members().next().unwrap();
    let (train, honest) = (member.client.train.clone(), member.honest.clone());
    (Forger::new(&train, &honest, attackers.lambda).unwrap(), train, honest)
}

#[test]
fn a_plan_without_rows_to_attack_sends_the_honest_proxy() {
    for (n_groups, as_feature) in [(2, true), (3, true), (2, false)] {
        let drawn = Drawn::new(n_groups, as_feature, Fairness::SP, 0.4);
        let (forger, _, honest) = first_forger(&drawn);
        assert_eq!(forger.forge(&HONEST).unwrap(), honest);
        let half = forger.forge(&Plan { share: 0.5, gap: 1.0, flipped: 1.0, ..HONEST }).unwrap();
        let changed = half.labels().iter().zip(honest.labels()).filter(|(a, b)| a != b).count();
        assert!(changed > 0 && 2 * changed <= honest.len() + 2, "{changed} of {}", honest.len());
    }
}

#[test]
fn the_forged_model_lies_where_the_plan_says() {
    let drawn = Drawn::new(2, true, Fairness::SP, 0.4);
    let (forger, train, honest) = first_forger(&drawn);
    let inner = InnerSettings::default();
    let gap = |rows: &Rows| {
        let theta = fit_logistic(rows, 1e-4, &inner).unwrap();
        Metrics::of(&theta, &train).unwrap().gap(Fairness::SP).unwrap().value
    };
    let (fair, raw) = (gap(&honest), gap(&train));
    assert!(raw > 0.2 && fair.abs() < 0.05, "{raw} and {fair}");
    let at =
        |position: f64| gap(&forger.forge(&Plan { share: 1.0, gap: position, ..HONEST }).unwrap());
    // 400 rows: labels are drawn, so a refitted model has a gap that is off by a few rows in each group.
    assert!((at(1.0) - raw).abs() < 0.08, "{} and {raw}", at(1.0));
    assert!(at(0.0).abs() < 0.08, "{}", at(0.0));
    assert!(at(-1.0) < -0.5 * raw && at(2.0) > 1.3 * raw, "{} and {}", at(-1.0), at(2.0));
    let size = |scale: f64| {
        let forged = forger.forge(&Plan { share: 1.0, scale, ..HONEST }).unwrap();
        let theta = fit_logistic(&forged, 1e-4, &inner).unwrap();
        theta.iter().map(|t| t * t).sum::<f64>().sqrt()
    };
    let ratio = size(3.0) / size(1.0);
    assert!((2.0..5.0).contains(&ratio), "{ratio}");
}

#[test]
fn a_shift_raises_the_fair_scores_of_one_group_by_as_much() {
    let drawn = Drawn::new(3, true, Fairness::SP, 0.4);
    let (forger, train, honest) = first_forger(&drawn);
    let theta = fit_logistic(&honest, 1e-4, &InnerSettings::default()).unwrap();
    let least = super::super::table::least_and_most_favoured(&train).0;
    let moved = forger.forge(&Plan { shift: 0.5, ..HONEST }).unwrap();
    for i in 0..honest.len() {
        let score = |rows: &Rows| -> f64 { rows.a(i).iter().zip(&theta).map(|(a, t)| a * t).sum() };
        let expected = if honest.group(i) == least { 0.5 } else { 0.0 };
        assert!((score(&moved) - score(&honest) - expected).abs() < 1e-9);
        assert_eq!(moved.is_positive(i), honest.is_positive(i));
    }
}

#[test]
fn the_search_finds_a_maximum_within_its_budget() {
    let calls = Cell::new(0);
    let found = search(|plan| {
        calls.set(calls.get() + 1);
        let loudness = (plan.scale / 3.0).ln().abs();
        1.0 - (plan.gap + 0.6).powi(2)
            - 0.01 * loudness
            - 0.1 * (plan.share - 0.5).abs()
            - 0.1 * (plan.flipped - 0.4).abs()
            - 0.1 * (plan.shift - 0.5).abs()
    });
    assert_eq!(calls.get(), 28);
    assert!((found.gap + 0.6).abs() < 0.07, "{found:?}");
    assert_eq!((found.scale, found.share, found.flipped, found.shift), (3.0, 0.5, 0.4, 0.5));
    // If nothing works, the attackers fall back to the raw model.
    assert_eq!(search(|_| f64::NAN).gap, 1.0);
}

#[test]
fn the_plan_chosen_is_at_least_as_bad_for_the_defense_as_raw_rows() {
    for fairness in [Fairness::SP, Fairness::EO] {
        let drawn = Drawn::new(2, true, fairness, 0.4);
        let rehearsal = Rehearsal::exact(&drawn.attackers()).unwrap();
        let chosen = search(|plan| rehearsal.gap(plan));
        let raw = rehearsal.gap(&Plan { gap: 1.0, share: 1.0, ..HONEST });
        let best = rehearsal.gap(&chosen);
        assert!(best >= raw && best > 0.0, "{best} and {raw}");
        // The rehearsal is the real round: the published model has this gap on the attackers' rows.
        let attackers = drawn.attackers();
        let attacked = super::super::Attack::AdaptiveWithRoot.apply(&attackers).unwrap();
        let settings = equipoise_core::Settings {
            defense: equipoise_core::Defense::default(),
            ..equipoise_core::Settings::new(fairness)
        };
        let round = attacked.round().unwrap();
        let settings = settings.validate().unwrap();
        let outcome =
            equipoise_core::solve(&round, &settings, &mut equipoise_core::NoopObserver).unwrap();
        let own: Vec<&Rows> = attackers.members().map(|member| &member.client.train).collect();
        let own = Rows::concat(&own).unwrap();
        let gap = unfairness(&Metrics::of(&outcome.theta, &own).unwrap(), fairness);
        assert!((gap - best).abs() < 0.01, "{gap} and {best}");
    }
}
