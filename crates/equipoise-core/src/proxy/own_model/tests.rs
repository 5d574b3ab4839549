//! The strength is that of a computation by hand, helps noisy clients, and leaves large tables alone.
#![allow(clippy::unwrap_used)]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::{ProxySettings, cross_validate, generate_proxy};
use super::*;
use crate::fairness::Fairness;
use crate::folds::FOLDS;
use crate::inner_fit::{InnerSettings, fit_logistic};
use crate::logistic::sigmoid;
use crate::metrics::Metrics;
use crate::observer::NoopObserver;
use crate::test_rows::random_rows;

/// Rows of which `strength` times the sum of six features hardly tells the label; the other features are noise.
fn noisy_rows(seed: u64, n_rows: usize, n_x: usize, strength: f64) -> Rows {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let x: Vec<f64> = (0..n_rows * n_x).map(|_| rng.random_range(-1.7..1.7)).collect();
    let groups: Vec<bool> = (0..n_rows).map(|_| rng.random()).collect();
    let score = |row: &[f64]| 0.4 + strength * row[..6].iter().sum::<f64>();
    let positive: Vec<bool> =
        x.chunks(n_x).map(|row| rng.random::<f64>() < sigmoid(score(row))).collect();
    Rows::new(Layout::two_groups(n_x, true), &x, &groups, &positive).unwrap()
}

fn mean_loss(theta: &[f64], rows: &Rows) -> f64 {
    let scores: Vec<f64> = (0..rows.len()).map(|i| dot(rows.a(i), theta)).collect();
    losses(rows, &scores).iter().sum::<f64>() / rows.len() as f64
}

/// The model of some rows, by gradient descent.
fn fit_by_hand(rows: &Rows, members: &[usize], strength: f64) -> Vec<f64> {
    let n = rows.layout().n();
    let mut theta = vec![0.0; n];
    for _ in 0..4000 {
        let mut gradient: Vec<f64> = theta.iter().map(|t| strength * t).collect();
        gradient[n - 1] = DATA_RIDGE * theta[n - 1];
        for &i in members {
            let y = rows.labels()[i];
            let residual = y * sigmoid(-y * dot(rows.a(i), &theta)) / members.len() as f64;
            gradient.iter_mut().zip(rows.a(i)).for_each(|(g, a)| *g -= residual * a);
        }
        theta.iter_mut().zip(&gradient).for_each(|(t, g)| *t -= 0.3 * g);
    }
    theta
}

fn choose_by_hand(rows: &Rows) -> f64 {
    let fold = Folds::of(rows).fold;
    let losses = STRENGTHS.map(|strength| {
        let mut losses = vec![0.0; rows.len()];
        for test in 0..FOLDS {
            let train: Vec<usize> = (0..rows.len()).filter(|&i| fold[i] != test).collect();
            let theta = fit_by_hand(rows, &train, strength);
            for i in (0..rows.len()).filter(|&i| fold[i] == test) {
                losses[i] = (-rows.labels()[i] * dot(rows.a(i), &theta)).exp().ln_1p();
            }
        }
        losses
    });
    let sum = |losses: &[f64]| losses.iter().sum::<f64>();
    let best = losses.iter().min_by(|a, b| sum(a).total_cmp(&sum(b))).unwrap();
    let mut chosen = 0.0;
    for (strength, own) in STRENGTHS.iter().zip(&losses) {
        let excess: Vec<f64> = own.iter().zip(best).map(|(a, b)| a - b).collect();
        let (n, mean) = (rows.len() as f64, sum(&excess) / rows.len() as f64);
        let variance = excess.iter().map(|e| e * e).sum::<f64>() / n - mean * mean;
        if mean <= (variance.max(0.0) / n).sqrt() {
            chosen = *strength;
        }
    }
    chosen
}

#[test]
fn the_strength_is_that_of_a_computation_by_hand() {
    let mut found = Vec::new();
    for seed in 0..4 {
        for rows in [random_rows(seed, 90, 2, true), noisy_rows(seed, 60, 6, 0.3)] {
            let chosen = choose_strength(&rows).unwrap();
            assert_eq!(chosen, choose_by_hand(&rows), "seed {seed}");
            found.push(chosen);
        }
    }
    found.sort_by(f64::total_cmp);
    found.dedup();
    assert!(found.len() > 1, "the test needs different strengths: {found:?}");
}

/// 400 rows and 33 coefficients: the published model must be better than a constant where the least strength is worse.
#[test]
fn a_noisy_client_sends_no_noise() {
    let others = noisy_rows(100, 20_000, 31, 0.1);
    for seed in 1..=3 {
        let own = noisy_rows(seed, 400, 31, 0.1);
        let rate = own.labels().iter().filter(|y| **y > 0.0).count() as f64 / own.len() as f64;
        let mut constant = vec![0.0; 33];
        constant[32] = (rate / (1.0 - rate)).ln();
        let constant = mean_loss(&constant, &others);
        let generated =
            generate_proxy(&own, &ProxySettings::new(Fairness::SP), &mut NoopObserver).unwrap();
        let published = fit_logistic(&generated.rows, 1e-4, &InnerSettings::default()).unwrap();
        let published = mean_loss(&published, &others);
        let packed = PackedRows::of(slice::from_ref(&own)).unwrap();
        let least = fit(&own, &packed, Penalty::least(own.layout())).unwrap().theta;
        let least = mean_loss(&least, &others);
        assert!(
            published < constant && constant < least,
            "seed {seed}: {published}, {constant}, {least}"
        );
    }
}

#[test]
fn strong_signals_of_many_rows_are_hardly_regularised() {
    assert_eq!(choose_strength(&random_rows(1, 3000, 4, true)).unwrap(), DATA_RIDGE);
    let all = random_rows(2, 22_500, 4, true);
    let rows = |range: std::ops::Range<usize>| all.select(&range.collect::<Vec<_>>());
    let (own, others) = (rows(0..2500), rows(2500..22_500));
    let strength = choose_strength(&own).unwrap();
    assert!(strength <= 0.01, "{strength}");
    let packed = PackedRows::of(slice::from_ref(&own)).unwrap();
    let least = fit(&own, &packed, Penalty::least(own.layout())).unwrap().theta;
    let accuracy = |theta: &[f64]| Metrics::of(theta, &others).unwrap().accuracy.unwrap().value;
    let (chosen, least) = (accuracy(&fit_own(&own).unwrap()), accuracy(&least));
    assert!(chosen > least - 0.002, "{chosen}, {least}");
}

#[test]
fn the_choice_is_the_same_for_any_number_of_threads() {
    let rows = noisy_rows(7, 1200, 8, 0.2);
    let settings = ProxySettings::new(Fairness::EO);
    let make = || {
        let made = generate_proxy(&rows, &settings, &mut NoopObserver).unwrap();
        let held_out = cross_validate(&rows, made.summary.strength.unwrap(), &settings).unwrap();
        (made.rows, made.summary, held_out)
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert!(pool.install(make) == make());
}

/// A model of noise looks good on its own rows alone.
#[test]
fn cross_validation_sees_through_noise() {
    let own = noisy_rows(3, 300, 40, 0.0);
    let settings = ProxySettings::new(Fairness::SP);
    let held_out = cross_validate(&own, DATA_RIDGE, &settings).unwrap().accuracy.unwrap();
    let packed = PackedRows::of(slice::from_ref(&own)).unwrap();
    let theta = fit(&own, &packed, Penalty::least(own.layout())).unwrap().theta;
    let own = Metrics::of(&theta, &own).unwrap().accuracy.unwrap();
    assert!(held_out.value < own.low, "{held_out:?}, {own:?}");
}

#[test]
fn tiny_tables_have_a_strength() {
    for n_rows in [2, 3, 7] {
        let rows = random_rows(5, n_rows, 2, true);
        assert!(STRENGTHS.contains(&choose_strength(&rows).unwrap()), "{n_rows}");
    }
}
