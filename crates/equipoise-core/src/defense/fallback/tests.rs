//! The fallback replaces the clients' model if no client is any good, and only then.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::fairness::Fairness;
use crate::observer::NoopObserver;
use crate::outcome::Outcome;
use crate::proxy::{ProxySettings, generate_proxy};
use crate::round::Client;
use crate::solve::solve;
use crate::test_rows::random_rows;

/// Clients c0, c1, c2 of one population send fair proxies; those in `flipped` flip all labels.
fn round(seed: u64, root_rows: usize, flipped: &[usize]) -> Round {
    let clients = (0..3).map(|c| {
        let first = c * (400 + root_rows);
        let rows = |from: usize, n: usize| population(seed, from, n);
        let settings = ProxySettings::paper(Fairness::SP);
        let proxy = generate_proxy(&rows(first, 400), &settings, &mut NoopObserver).unwrap().rows;
        let proxy = if flipped.contains(&c) { with_flipped_labels(&proxy) } else { proxy };
        Client { id: format!("c{c}"), proxy, root: rows(first + 400, root_rows) }
    });
    Round::new(clients.collect()).unwrap()
}

/// Rows of one population.
fn population(seed: u64, first: usize, n: usize) -> Rows {
    random_rows(seed, 6000, 3, true).select(&(first..first + n).collect::<Vec<_>>())
}

fn with_flipped_labels(rows: &Rows) -> Rows {
    let x: Vec<f64> = (0..rows.len()).flat_map(|i| rows.x(i).to_vec()).collect();
    let sensitive: Vec<bool> = (0..rows.len()).map(|i| rows.group(i) == 1).collect();
    let positive: Vec<bool> = (0..rows.len()).map(|i| !rows.is_positive(i)).collect();
    Rows::new(rows.layout().clone(), &x, &sensitive, &positive).unwrap()
}

fn solved(round: &Round, settings: Settings) -> Outcome {
    solve(round, &settings.validate().unwrap(), &mut NoopObserver).unwrap()
}

/// The defenses that can fall back.
const BOTH: [fn(Fairness) -> Settings; 2] = [Settings::bilevel, Settings::new];

fn fell_back(outcome: &Outcome) -> bool {
    outcome.warnings.iter().any(|warning| warning.code == WarningCode::FellBack)
}

#[test]
fn falls_back_if_every_client_flips_labels() {
    let round = round(1, 60, &[0, 1, 2]);
    for settings in BOTH.map(|settings| settings(Fairness::SP)) {
        let kept = solved(&round, Settings { fall_back: false, ..settings });
        let outcome = solved(&round, settings);
        assert!(fell_back(&outcome) && !fell_back(&kept), "{}", settings.defense);
        assert_eq!(outcome.weights(), [0.0; 3]);
        assert!(outcome.root_loss < 0.9 * kept.root_loss);
        assert!(outcome.violation < 0.01);
        let is_about_it = |warning: &&Warning| warning.code == WarningCode::FellBack;
        let words = outcome.warnings.iter().find(is_about_it).unwrap().to_string();
        assert!(words.contains("180 root rows") && words.contains("root-only model"), "{words}");
    }
}

#[test]
fn keeps_the_model_of_honest_clients() {
    for root_rows in [5, 15, 60] {
        let round = round(1, root_rows, &[]);
        for settings in BOTH.map(|settings| settings(Fairness::SP)) {
            let outcome = solved(&round, settings);
            assert!(!fell_back(&outcome), "{root_rows} root rows");
            let kept = solved(&round, Settings { fall_back: false, ..settings });
            assert_eq!(outcome.theta, kept.theta);
        }
    }
}

/// However many clients flip labels, the fallback model is better on fresh rows whenever it is used.
#[test]
fn falls_back_only_to_a_better_model() {
    let mut times = 0;
    for seed in 1..=4 {
        let fresh = population(seed, 3000, 3000);
        for flipped in [&[][..], &[0], &[0, 2], &[0, 1, 2]] {
            for root_rows in [15, 40, 100] {
                let round = round(seed, root_rows, flipped);
                let settings = Settings::bilevel(Fairness::SP);
                let outcome = solved(&round, settings);
                if fell_back(&outcome) {
                    times += 1;
                    let kept = solved(&round, Settings { fall_back: false, ..settings });
                    let loss = |outcome: &Outcome| mean(&losses(&fresh, &outcome.theta));
                    assert!(loss(&outcome) < loss(&kept), "seed {seed}, {flipped:?}, {root_rows}");
                }
            }
        }
    }
    assert!((12..36).contains(&times), "{times} of 48");
}

#[test]
fn does_not_fall_back_on_a_root_that_is_too_small() {
    for settings in BOTH {
        let outcome = solved(&round(1, 13, &[0, 1, 2]), settings(Fairness::SP));
        assert!(!fell_back(&outcome));
    }
}

#[test]
fn folds_are_stratified_by_group_and_label() {
    let rows = random_rows(3, 203, 2, false);
    let fold = folds(&rows);
    for (s, y) in [(false, false), (false, true), (true, false), (true, true)] {
        let count = |f: usize| {
            let here = |&i: &usize| fold[i] == f && (rows.group(i) == 1) == s;
            (0..rows.len()).filter(here).filter(|&i| rows.is_positive(i) == y).count()
        };
        let counts: Vec<usize> = (0..FOLDS).map(count).collect();
        assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
    }
}

#[test]
fn the_root_model_minimises_its_objective() {
    let rows = random_rows(9, 90, 3, true);
    let settings = Settings::bilevel(Fairness::EO);
    let whole = Root::new(vec![rows.clone()]).unwrap();
    let comparison =
        Comparison { rows: &rows, whole, settings: &settings, rho: 1e4, fold: folds(&rows) };
    let theta = comparison.fit(&comparison.whole, 10.0).unwrap();
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
