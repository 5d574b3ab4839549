//! Models without a client against models fitted or averaged anew.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::defense::{Defense, TrustConstants};
use crate::inner_fit::{InnerProblem, InnerSettings};
use crate::metrics::Metrics;
use crate::observer::NoopObserver;
use crate::packed_rows::PackedRows;
use crate::round::{Client, Round};
use crate::rows::Rows;
use crate::solve::solve;
use crate::statistics::{ClientStatistics, Order};
use crate::test_rows::{layout, random_round, random_round_of, random_rows};

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

/// A client whose model has an excessive scale counts as one of the largest scale allowed, which depends on the weights.
#[test]
fn the_average_of_trust_is_exact_although_scales_are_limited() {
    let mut clients: Vec<Client> = (0..4)
        .map(|c| Client {
            id: format!("c{c}"),
            proxy: random_rows(70 + c, 200, 2, true),
            root: random_rows(80 + c, 60, 2, true),
        })
        .collect();
    // Labels that follow one feature almost without exception.
    let (x, group): (Vec<f64>, Vec<bool>) = (
        (0..400).map(|k| (k as f64 * 1.7).sin()).collect(),
        (0..200).map(|i| i % 2 == 0).collect(),
    );
    let y: Vec<bool> = (0..200).map(|i| (x[2 * i] > 0.0) != (i % 50 == 7)).collect();
    clients[3].proxy = Rows::new(clients[3].proxy.layout().clone(), &x, &group, &y).unwrap();
    let round = Round::new(clients).unwrap();
    let mut outcome = solved(&round, Defense::Trust, Fairness::SP);
    let weights = [0.31, 0.29, 0.22, 0.18];
    outcome.clients.iter_mut().zip(weights).for_each(|(c, w)| c.weight = w);

    let rows = round.root().all_rows().unwrap();
    let models = own_models(&round, outcome.settings.lambda);
    let scale = |theta: &Vec<f64>| {
        let squares = (0..rows.len()).map(|i| dot(rows.a(i), theta).powi(2)).sum::<f64>();
        (squares / rows.len() as f64).sqrt()
    };
    let scales: Vec<f64> = models.iter().map(scale).collect();
    let average = |weights: &[f64]| {
        let mut order: Vec<usize> = (0..4).collect();
        order.sort_by(|&a, &b| scales[a].total_cmp(&scales[b]));
        let (half, mut below) = (weights.iter().sum::<f64>() / 2.0, 0.0);
        let median = order.into_iter().find(|&c| {
            below += weights[c];
            below >= half
        });
        let limit = TrustConstants::default().scale_limit * scales[median.unwrap()];
        let mut theta = vec![0.0; models[0].len()];
        for ((model, w), scale) in models.iter().zip(weights).zip(&scales) {
            let factor = (limit / scale).min(1.0);
            theta.iter_mut().zip(model).for_each(|(t, m)| *t += w * factor * m);
        }
        theta
    };
    outcome.theta = average(&weights);
    let others = scales[..3].iter().copied().fold(0.0, f64::max);
    assert!(scales[3] > 2.0 * others, "{scales:?}");

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
