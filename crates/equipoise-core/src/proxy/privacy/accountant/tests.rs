//! The accountant agrees with dp-accounting (`bench/reference/privacy_accountant.py`), and is its own inverse.

#![allow(clippy::unwrap_used)]

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Case {
    rhos: Vec<f64>,
    delta: f64,
    epsilon: f64,
}

#[test]
fn agrees_with_dp_accounting() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("reference.json")).unwrap();
    assert_eq!(cases.len(), 52);
    for Case { rhos, delta, epsilon } in cases {
        let found = epsilon_of(rhos.iter().sum(), delta);
        assert!((found - epsilon).abs() < 1e-6, "{rhos:?}, {delta}: {found}, {epsilon}");
    }
}

#[test]
fn the_budget_of_an_epsilon_is_used_up_but_never_exceeded() {
    for epsilon in [0.01, 0.5, 1.0, 3.0, 10.0, 100.0] {
        for delta in [1e-9, 1e-5, 1e-2] {
            let found = epsilon_of(rho_of(epsilon, delta), delta);
            assert!(found <= epsilon && found > epsilon - 1e-9, "{epsilon}, {delta}: {found}");
        }
    }
}

#[test]
fn no_release_costs_nothing() {
    assert_eq!(epsilon_of(0.0, 1e-6), 0.0);
}
