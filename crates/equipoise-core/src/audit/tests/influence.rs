//! Slopes against finite differences, and models without a client against models fitted or averaged anew.

use super::*;
use crate::defense::TrustConstants;
use crate::logistic::dot;

#[test]
fn slopes_agree_with_finite_differences_of_refitted_models() {
    let fairness = Fairness::SP;
    let round = random_round(3, 4, 200, 3, true);
    let mut pooled = solved(&round, Defense::Pooled, fairness);
    pooled.theta = refitted(&round, &[1.0; 4], pooled.settings.lambda);
    for outcome in [weighted(&round, fairness), pooled] {
        let lambda = outcome.settings.lambda;
        let audits = audit(&round, &outcome.settings, &outcome).unwrap();
        let is_pooled = outcome.settings.defense == Defense::Pooled;
        for (client, audit) in audits.iter().enumerate() {
            let n_rows = round.proxies().n_rows_total() as f64;
            let at = |t: f64| {
                let mut weights = if is_pooled { vec![1.0; 4] } else { outcome.weights() };
                weights.iter_mut().for_each(|w| *w *= 1.0 - t);
                let unit =
                    if is_pooled { n_rows / round.proxies().n_rows(client) as f64 } else { 1.0 };
                weights[client] += t * unit;
                let theta = refitted(&round, &weights, lambda);
                let all_rows = round.root().all_rows().unwrap();
                let probed = RootProbe::new(&all_rows, fairness).measure(&theta);
                (probed.loss, probed.soft_gap.unwrap())
            };
            let (h, influence) = (1e-4, audit.influence.as_ref().unwrap());
            let (up, down) = (at(h), at(-h));
            let loss = (up.0 - down.0) / (2.0 * h);
            let gap = (up.1 - down.1) / (2.0 * h);
            assert!((influence.loss_slope - loss).abs() < 1e-6, "{influence:?} {loss}");
            assert!((influence.soft_gap_slope.unwrap() - gap).abs() < 1e-6, "{influence:?} {gap}");
        }
    }
}

#[test]
fn the_model_without_a_client_is_estimated_to_second_order() {
    // A Newton step from weights at distance t of the target is off by O(t²): a tenth of the weight, a hundredth of the
    // error.
    let round = random_round(5, 3, 300, 2, true);
    let error = |share: f64| {
        let mut outcome = weighted(&round, Fairness::SP);
        let weights = [share, (1.0 - share) / 2.0, (1.0 - share) / 2.0];
        outcome.clients.iter_mut().zip(weights).for_each(|(c, w)| c.weight = w);
        outcome.theta = refitted(&round, &weights, outcome.settings.lambda);
        let without = refitted(&round, &[0.0, 0.5, 0.5], outcome.settings.lambda);
        let loss = |theta: &[f64]| figures(&round, theta, Fairness::SP).0;
        let expected = loss(&without) - loss(&outcome.theta);
        [0.0, MAX_REFIT_COST].map(|max_refit_cost| {
            let audits = audit_within(&round, &outcome.settings, &outcome, max_refit_cost).unwrap();
            let found = audits[0].influence.as_ref().unwrap().left_out.unwrap();
            (found.estimated, (found.loss - expected).abs())
        })
    };
    let ([small, small_exact], [large, large_exact]) = (error(0.01), error(0.1));
    assert!(
        small.0 && large.0 && large.1 < 1e-3 && small.1 < 0.02 * large.1,
        "{small:?} {large:?}"
    );
    let [huge, huge_exact] = error(0.4);
    for exact in [small_exact, large_exact, huge, huge_exact] {
        assert!(!exact.0 && exact.1 < 1e-9, "{exact:?}");
    }
}

/// Beyond the cost of exact fits: 40 clients of about 1/40 of the weight.
#[test]
fn estimates_for_many_clients_agree_with_refitted_models() {
    let round = random_round(13, 40, 120, 4, true);
    for (defense, fairness) in [
        (Defense::Bilevel, Fairness::SP),
        (Defense::Bilevel, Fairness::EO),
        (Defense::Pooled, Fairness::SP),
        (Defense::Pooled, Fairness::EO),
    ] {
        let mut outcome = solved(&round, Defense::Pooled, fairness);
        outcome.settings.defense = defense;
        let row_weights: Vec<f64> = if defense == Defense::Pooled {
            vec![1.0; 40]
        } else {
            (0..40).map(|c| f64::from(20 + c) / f64::from(40 * 20 + 39 * 20)).collect()
        };
        if defense == Defense::Bilevel {
            outcome.clients.iter_mut().zip(&row_weights).for_each(|(c, w)| c.weight = *w);
        }
        outcome.theta = refitted(&round, &row_weights, outcome.settings.lambda);
        let audits = audit_within(&round, &outcome.settings, &outcome, 0.0).unwrap();
        let all_rows = round.root().all_rows().unwrap();
        let probe = RootProbe::new(&all_rows, fairness);
        let before = probe.measure(&outcome.theta);
        let pairs = audits.iter().enumerate().map(|(client, audit)| {
            let mut weights = row_weights.clone();
            let n_rows = |c: usize| round.proxies().n_rows(c) as f64;
            let rest = match defense {
                Defense::Pooled => 1.0 - n_rows(client) / round.proxies().n_rows_total() as f64,
                _ => 1.0 - weights[client],
            };
            weights[client] = 0.0;
            weights.iter_mut().for_each(|w| *w /= rest);
            let after = probe.measure(&refitted(&round, &weights, outcome.settings.lambda));
            let found = audit.influence.as_ref().unwrap().left_out.unwrap();
            assert!(found.estimated);
            let soft = after.soft_gap.unwrap() - before.soft_gap.unwrap();
            [(found.loss, after.loss - before.loss), (found.soft_gap.unwrap(), soft)]
        });
        let pairs: Vec<[(f64, f64); 2]> = pairs.collect();
        for figure in 0..2 {
            let pairs: Vec<(f64, f64)> = pairs.iter().map(|pair| pair[figure]).collect();
            assert!(correlation(&pairs) >= 0.999, "{defense} {fairness:?} {}", correlation(&pairs));
            for (found, expected) in pairs {
                let is_large = found.abs().max(expected.abs()) > 1e-3;
                assert!(!is_large || found * expected > 0.0, "{found} {expected}");
            }
        }
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
    // No subset has half of the weight, so a small change does not move the median.
    let weights = [0.31, 0.29, 0.22, 0.18];
    outcome.clients.iter_mut().zip(weights).for_each(|(c, w)| c.weight = w);

    let rows = round.root().all_rows().unwrap();
    let n_rows = |c: usize| round.proxies().n_rows(c) as f64;
    let total: f64 = (0..4).map(n_rows).sum();
    let own = |c: usize| {
        let mut weights = vec![0.0; 4];
        weights[c] = total / n_rows(c);
        refitted(&round, &weights, outcome.settings.lambda)
    };
    let models: Vec<Vec<f64>> = (0..4).map(own).collect();
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

    let probe = RootProbe::new(&rows, Fairness::SP);
    let audits = audit(&round, &outcome.settings, &outcome).unwrap();
    let before = probe.measure(&outcome.theta);
    for (client, audit) in audits.iter().enumerate() {
        let influence = audit.influence.as_ref().unwrap();
        let mut without = weights;
        without[client] = 0.0;
        let rest: f64 = without.iter().sum();
        let after = probe.measure(&average(&without.map(|w| w / rest)));
        let found = influence.left_out.unwrap();
        assert!((found.loss - (after.loss - before.loss)).abs() < 1e-7, "{found:?}");
        assert_eq!(
            (found.gap.unwrap(), found.estimated),
            (after.gap.unwrap() - before.gap.unwrap(), false)
        );
        let at = |t: f64| {
            let mut moved = weights.map(|w| w * (1.0 - t));
            moved[client] += t;
            probe.measure(&average(&moved)).loss
        };
        let slope = (at(1e-4) - at(-1e-4)) / 2e-4;
        assert!((influence.loss_slope - slope).abs() < 1e-5, "{influence:?} {slope}");
    }
}

#[test]
fn averages_without_a_client_are_exact() {
    let round = random_round(7, 4, 150, 3, true);
    let outcome = solved(&round, Defense::Fedasl, Fairness::EO);
    let audits = audit(&round, &outcome.settings, &outcome).unwrap();
    let n_rows = |c: usize| round.proxies().n_rows(c) as f64;
    let total: f64 = (0..4).map(n_rows).sum();
    let own = |c: usize| {
        let mut weights = vec![0.0; 4];
        weights[c] = total / n_rows(c);
        refitted(&round, &weights, outcome.settings.lambda)
    };
    let models: Vec<Vec<f64>> = (0..4).map(own).collect();
    let before = figures(&round, &outcome.theta, Fairness::EO);
    for (left_out, audit) in audits.iter().enumerate() {
        let mut weights = outcome.weights();
        weights[left_out] = 0.0;
        let rest: f64 = weights.iter().sum();
        let mut theta = vec![0.0; models[0].len()];
        for (model, w) in models.iter().zip(&weights) {
            theta.iter_mut().zip(model).for_each(|(t, m)| *t += w / rest * m);
        }
        let after = figures(&round, &theta, Fairness::EO);
        let found = audit.influence.as_ref().unwrap().left_out.unwrap();
        assert!((found.loss - (after.0 - before.0)).abs() < 1e-7, "{found:?}");
        assert!((found.gap.unwrap() - (after.1 - before.1)).abs() < 1e-12, "{found:?}");
        let model = audit.own_model.as_ref().unwrap();
        let (loss, gap) = figures(&round, &models[left_out], Fairness::EO);
        assert!((model.loss.value - loss).abs() < 1e-7 && model.loss.low < loss);
        assert_eq!(model.gap.as_ref().unwrap().size(), gap);
        let metrics = Metrics::of(&models[left_out], &round.root().all_rows().unwrap()).unwrap();
        assert_eq!((&model.gap, model.accuracy), (&metrics.gap(Fairness::EO), metrics.accuracy));
        assert!(audit.reason.contains("near the median"), "{}", audit.reason);
    }
}

fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let n = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|p| of(p.0 - x, p.1 - y)).sum::<f64>();
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}
