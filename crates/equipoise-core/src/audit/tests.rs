//! Models without a client against models fitted or averaged anew.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::defense::{Defense, ModelAverage};
use crate::inner_fit::{InnerProblem, InnerSettings};
use crate::metrics::Metrics;
use crate::observer::NoopObserver;
use crate::packed_rows::PackedRows;
use crate::round::Round;
use crate::solve::solve;
use crate::statistics::{ClientStatistics, Order};
use crate::test_rows::{layout, random_round, random_round_of};

fn solved(round: &Round, defense: Defense, fairness: Fairness) -> Outcome {
    let settings = Settings { defense, fall_back: false, ..Settings::new(fairness) };
    solve(round, &settings.validate().unwrap(), &mut NoopObserver).unwrap()
}

fn audited(round: &Round, outcome: &Outcome) -> Vec<ClientAudit> {
    audit(round, &outcome.settings, outcome).unwrap()
}

/// The model of given weights, fitted without the audit's code.
fn refitted(round: &Round, weights: &[f64], lambda: f64) -> Vec<f64> {
    let rows = round.proxies();
    let problem = InnerProblem { rows, weights, ridge: ridge(lambda, rows.n()) };
    let tight = InnerSettings { tolerance: 1e-12, ..InnerSettings::default() };
    problem.fit(FitPoint::origin(rows).unwrap(), &tight).unwrap().point.theta
}

/// The model of each client alone.
fn own_models(round: &Round, lambda: f64) -> Vec<Vec<f64>> {
    let (rows, n_clients) = (round.proxies(), round.n_clients());
    let own = |c: usize| {
        let mut weights = vec![0.0; n_clients];
        weights[c] = rows.n_rows_total() as f64 / rows.n_rows(c) as f64;
        refitted(round, &weights, lambda)
    };
    (0..n_clients).map(own).collect()
}

/// Loss and gap on the root, from the public metrics and the packed statistics.
fn figures(round: &Round, theta: &[f64], fairness: Fairness) -> (f64, f64) {
    let rows = round.root().all_rows().unwrap();
    let gap = Metrics::of(theta, &rows).unwrap().gap(fairness).unwrap().size();
    let packed = PackedRows::of(std::slice::from_ref(&rows)).unwrap();
    let loss = packed.evaluate(theta, Order::Loss).unwrap().weighted_loss(&[1.0]);
    (loss / rows.len() as f64, gap)
}

/// Weights that are nowhere 0 or 1, and the model they give.
fn weighted(round: &Round, fairness: Fairness) -> Outcome {
    let mut outcome = solved(round, Defense::Bilevel, fairness);
    let n = outcome.clients.len();
    let sum = (1..=n).sum::<usize>() as f64;
    outcome.clients.iter_mut().zip(1..).for_each(|(c, k)| c.weight = f64::from(k) / sum);
    outcome.theta = refitted(round, &outcome.weights(), outcome.settings.lambda);
    outcome
}

#[test]
fn weights_of_nothing_and_of_everything() {
    let round = random_round(9, 3, 120, 2, true);
    let mut outcome = solved(&round, Defense::Bilevel, Fairness::SP);
    for (client, weight) in outcome.clients.iter_mut().zip([0.0, 1.0, 0.0]) {
        client.weight = weight;
    }
    outcome.theta = refitted(&round, &outcome.weights(), outcome.settings.lambda);
    let audits = audited(&round, &outcome);
    assert_eq!(audits[1].left_out, None);
    assert_eq!(audits[0].left_out, Some(LeftOut { loss: 0.0, gap: Some(0.0) }));
    assert!(audits[1].reason.contains("only client"), "{}", audits[1].reason);

    let root_only = solved(&round, Defense::RootOnly, Fairness::SP);
    let audits = audited(&round, &root_only);
    assert!(audits.iter().all(|audit| audit.left_out.is_none() && audit.own_model.is_some()));
}

#[test]
fn fitted_models_are_fitted_again_without_each_client() {
    let fairness: Fairness = "sp:0.5,eo:0.5".parse().unwrap();
    let round = random_round_of(&layout(4, 2, false, true), 2, 3, 240);
    let mut pooled = solved(&round, Defense::Pooled, fairness);
    pooled.theta = refitted(&round, &[1.0; 3], pooled.settings.lambda);
    for outcome in [weighted(&round, fairness), pooled] {
        let is_pooled = outcome.settings.defense == Defense::Pooled;
        let before = figures(&round, &outcome.theta, fairness);
        for (client, audit) in audited(&round, &outcome).iter().enumerate() {
            let mut weights = if is_pooled { vec![1.0; 3] } else { outcome.weights() };
            let n_rows = |c: usize| round.proxies().n_rows(c) as f64;
            let rest = match is_pooled {
                true => 1.0 - n_rows(client) / round.proxies().n_rows_total() as f64,
                false => 1.0 - weights[client],
            };
            weights[client] = 0.0;
            weights.iter_mut().for_each(|w| *w /= rest);
            let theta = refitted(&round, &weights, outcome.settings.lambda);
            let after = figures(&round, &theta, fairness);
            let found = audit.left_out.unwrap();
            assert!((found.loss - (after.0 - before.0)).abs() < 1e-9, "{found:?}");
            assert!((found.gap.unwrap() - (after.1 - before.1)).abs() < 1e-12, "{found:?}");
        }
    }
}

#[test]
fn large_rounds_are_not_fitted_again_but_averages_need_no_fit() {
    let round = random_round(13, 51, 40, 2, true);
    for defense in [Defense::Bilevel, Defense::Pooled, Defense::Fedasl] {
        let audits = audited(&round, &solved(&round, defense, Fairness::SP));
        let is_known = audits.iter().any(|audit| audit.left_out.is_some());
        assert_eq!(is_known, defense == Defense::Fedasl, "{defense}");
        assert!(audits.iter().all(|audit| !audit.reason.is_empty()));
    }
}

/// The average of models at one scale, with their thresholds, and with a coefficient that was limited.
#[test]
fn the_average_of_tilt_keeps_scales_thresholds_and_limits() {
    let round = random_round(7, 4, 150, 3, true);
    let mut outcome = solved(&round, Defense::Tilt, Fairness::SP);
    let weights = [0.31, 0.29, 0.22, 0.18];
    outcome.clients.iter_mut().zip(weights).for_each(|(c, w)| c.weight = w);
    let own = own_models(&round, outcome.settings.lambda);
    let models = own.iter().map(Vec::as_slice).collect();
    let scaled = Defense::Tilt.model_average(models, round.root()).unwrap();
    let (limited, change) = (2, -0.7);
    outcome.clients[limited].tilt.as_mut().unwrap().limited = vec![1];
    let average = |weights: &[f64; 4]| {
        let mut theta = scaled.at(weights);
        theta[1] += change * weights[limited];
        theta
    };
    outcome.theta = average(&weights);
    assert_ne!(
        scaled.at(&weights),
        ModelAverage::new(own.iter().map(Vec::as_slice).collect()).at(&weights)
    );

    let before = figures(&round, &outcome.theta, Fairness::SP);
    for (client, audit) in audited(&round, &outcome).iter().enumerate() {
        let mut without = weights;
        without[client] = 0.0;
        let rest: f64 = without.iter().sum();
        let after = figures(&round, &average(&without.map(|w| w / rest)), Fairness::SP);
        let found = audit.left_out.unwrap();
        assert!((found.loss - (after.0 - before.0)).abs() < 1e-7, "{found:?}");
        assert!((found.gap.unwrap() - (after.1 - before.1)).abs() < 1e-12, "{found:?}");
    }
}

#[test]
fn averages_without_a_client_are_exact() {
    let round = random_round(7, 4, 150, 3, true);
    let outcome = solved(&round, Defense::Fedasl, Fairness::EO);
    let models = own_models(&round, outcome.settings.lambda);
    let before = figures(&round, &outcome.theta, Fairness::EO);
    for (client, audit) in audited(&round, &outcome).iter().enumerate() {
        let mut weights = outcome.weights();
        weights[client] = 0.0;
        let rest: f64 = weights.iter().sum();
        let mut theta = vec![0.0; models[0].len()];
        for (model, w) in models.iter().zip(&weights) {
            theta.iter_mut().zip(model).for_each(|(t, m)| *t += w / rest * m);
        }
        let after = figures(&round, &theta, Fairness::EO);
        let found = audit.left_out.unwrap();
        assert!((found.loss - (after.0 - before.0)).abs() < 1e-7, "{found:?}");
        assert!((found.gap.unwrap() - (after.1 - before.1)).abs() < 1e-12, "{found:?}");
        let model = audit.own_model.as_ref().unwrap();
        let metrics = Metrics::of(&models[client], &round.root().all_rows().unwrap()).unwrap();
        assert_eq!((&model.gap, model.accuracy), (&metrics.gap(Fairness::EO), metrics.accuracy));
        assert!(audit.reason.contains("near the median"), "{}", audit.reason);
    }
}

#[test]
fn the_audit_is_the_same_for_any_number_of_threads() {
    let round = random_round(11, 6, 2000, 5, true);
    let outcome = solved(&round, Defense::Bilevel, Fairness::SP);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| audited(&round, &outcome))
    };
    assert_eq!(on(1), on(3));
}
