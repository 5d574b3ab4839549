//! The root takes over where no client is any good, and only there.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::fairness::Fairness;
use crate::observer::NoopObserver;
use crate::outcome::Outcome;
use crate::proxy::{ProxySettings, generate_proxy};
use crate::round::Client;
use crate::solve::solve;
use crate::test_rows::random_rows;

/// Clients c0, c1, c2 of one population, who send fair proxies; those that `lies` names turn all labels round.
fn round(seed: u64, root_rows: usize, lies: &[usize]) -> Round {
    let clients = (0..3).map(|c| {
        let first = c * (400 + root_rows);
        let rows = |from: usize, n: usize| population(seed, from, n);
        let settings = ProxySettings::new(Fairness::SP);
        let proxy = generate_proxy(&rows(first, 400), &settings, &mut NoopObserver).unwrap().rows;
        let proxy = if lies.contains(&c) { turned(&proxy) } else { proxy };
        Client { id: format!("c{c}"), proxy, root: rows(first + 400, root_rows) }
    });
    Round::new(clients.collect()).unwrap()
}

/// Some rows of a population that follows one law.
fn population(seed: u64, first: usize, n: usize) -> Rows {
    random_rows(seed, 6000, 3, true).select(&(first..first + n).collect::<Vec<_>>())
}

fn turned(rows: &Rows) -> Rows {
    let x: Vec<f64> = (0..rows.len()).flat_map(|i| rows.x(i).to_vec()).collect();
    let sensitive: Vec<bool> = (0..rows.len()).map(|i| rows.is_privileged(i)).collect();
    let positive: Vec<bool> = (0..rows.len()).map(|i| !rows.is_positive(i)).collect();
    Rows::new(rows.layout(), &x, &sensitive, &positive).unwrap()
}

fn solved(round: &Round, settings: Settings) -> Outcome {
    solve(round, &settings.validate().unwrap(), &mut NoopObserver).unwrap()
}

fn fell_back(outcome: &Outcome) -> bool {
    outcome.warnings.iter().any(|warning| warning.code == WarningCode::FellBack)
}

#[test]
fn the_root_takes_over_when_every_client_lies() {
    let round = round(1, 60, &[0, 1, 2]);
    let settings = Settings::new(Fairness::SP);
    let kept = solved(&round, Settings { fall_back: false, ..settings });
    let outcome = solved(&round, settings);
    assert!(fell_back(&outcome) && !fell_back(&kept));
    assert_eq!(outcome.weights(), [0.0; 3]);
    assert!(outcome.root_loss < 0.9 * kept.root_loss, "{} {}", outcome.root_loss, kept.root_loss);
    assert!(outcome.violation < 0.01);
    let words = outcome.warnings.last().unwrap().to_string();
    assert!(words.contains("180 root rows") && words.contains("root-only model"), "{words}");
}

#[test]
fn honest_clients_are_kept() {
    for root_rows in [5, 15, 60] {
        let round = round(1, root_rows, &[]);
        let settings = Settings::new(Fairness::SP);
        let outcome = solved(&round, settings);
        assert!(!fell_back(&outcome), "{root_rows} root rows");
        let kept = solved(&round, Settings { fall_back: false, ..settings });
        assert_eq!(outcome.theta, kept.theta);
    }
}

/// Whatever part of the clients lies: where the root takes over, its model is better on rows that nobody has seen.
#[test]
fn the_root_takes_over_only_to_the_better() {
    let mut times = 0;
    for seed in 1..=4 {
        let fresh = population(seed, 3000, 3000);
        for lies in [&[][..], &[0], &[0, 2], &[0, 1, 2]] {
            for root_rows in [15, 40, 100] {
                let round = round(seed, root_rows, lies);
                let settings = Settings::new(Fairness::SP);
                let outcome = solved(&round, settings);
                if fell_back(&outcome) {
                    times += 1;
                    let kept = solved(&round, Settings { fall_back: false, ..settings });
                    let loss = |outcome: &Outcome| mean(&losses(&fresh, &outcome.theta));
                    assert!(loss(&outcome) < loss(&kept), "seed {seed}, {lies:?}, {root_rows}");
                }
            }
        }
    }
    assert!((12..36).contains(&times), "{times} of 48");
}

#[test]
fn a_root_too_small_to_judge_by_changes_nothing() {
    let outcome = solved(&round(1, 13, &[0, 1, 2]), Settings::new(Fairness::SP));
    assert!(!fell_back(&outcome));
}

#[test]
fn every_fold_has_its_share_of_each_group_and_label() {
    let rows = random_rows(3, 203, 2, false);
    let fold = folds(&rows);
    for (s, y) in [(false, false), (false, true), (true, false), (true, true)] {
        let count = |f: usize| {
            let here = |&i: &usize| fold[i] == f && rows.is_privileged(i) == s;
            (0..rows.len()).filter(here).filter(|&i| rows.is_positive(i) == y).count()
        };
        let counts: Vec<usize> = (0..FOLDS).map(count).collect();
        assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
    }
}

#[test]
fn the_model_of_the_root_is_the_minimiser_of_what_it_says() {
    let rows = random_rows(9, 90, 3, true);
    let settings = Settings::new(Fairness::EO);
    let whole = Root::new(vec![rows.clone()]).unwrap();
    let judge = Judge { rows: &rows, whole, settings: &settings, rho: 1e4, fold: folds(&rows) };
    let theta = judge.model(&judge.whole, 10.0).unwrap();
    let covariance = crate::fairness::Covariance::of(&rows);
    let value = |theta: &[f64]| {
        let violation = covariance.violation(theta).eo;
        mean(&losses(&rows, theta))
            + 10.0 / 90.0 / 2.0 * dot(theta, theta)
            + 0.5e4 * violation * violation
    };
    for k in 0..theta.len() {
        for step in [-1e-3, 1e-3] {
            let mut moved = theta.clone();
            moved[k] += step;
            assert!(value(&moved) > value(&theta));
        }
    }
}
