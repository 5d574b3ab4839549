//! The hypergradient against finite differences of `P`, and against a closed form.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;
use crate::fairness::{Criterion, Fairness};
use crate::root::{Root, RootWeighting};
use crate::rows::Layout;
use crate::rows::Rows;
use crate::settings::Settings;
use crate::statistics::{Order, Statistics};
use crate::test_rows::{layout, random_round_of};

fn fairness() -> impl Strategy<Value = Fairness> {
    prop_oneof![
        Just(Fairness::SP),
        Just(Fairness::EO),
        Just(Criterion::Fpr.into()),
        Just(Criterion::EqualizedOdds.into()),
        (0.01..=1.0, 0.01..=1.0).prop_map(|(sp, eo)| {
            Fairness::mixture(&[(Criterion::Sp, sp), (Criterion::Eo, eo)]).unwrap()
        }),
    ]
}

fn evaluate(round: &Round, settings: &Settings, weights: &[f64], rho: f64) -> Evaluation {
    let mut problem = Bilevel::new(round, settings);
    let origin = problem.origin().unwrap();
    problem.evaluate(weights.to_vec(), rho, origin, &settings.inner).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Five-point differences with step h have an error of h⁴ times a fifth derivative, plus the inner tolerance divided
    /// by h. With h = 1e-4 and a tolerance of 1e-12, both are below 1e-7 for gradients of size 1. The bound is 1e-5.
    #[test]
    fn hypergradient_agrees_with_finite_differences(
        seed in 0u64..1_000_000,
        n_clients in 1usize..5,
        n_x in 1usize..5,
        intercept: bool,
        n_groups in 2usize..5,
        as_feature: bool,
        fairness in fairness(),
        client_weighted: bool,
        rho in prop_oneof![Just(0.0), 0.1..1e3],
        raw in prop::collection::vec(0.1..1.0, 5),
    ) {
        let layout = layout(n_groups, n_x, as_feature, intercept);
        let round = random_round_of(&layout, seed, n_clients, 60);
        let mut settings = Settings::bilevel(fairness);
        settings.inner.tolerance = 1e-12;
        if client_weighted {
            settings.root_weighting = RootWeighting::Client;
        }
        let sum: f64 = raw[..n_clients].iter().sum();
        let weights: Vec<f64> = raw[..n_clients].iter().map(|w| w / sum).collect();
        let found = evaluate(&round, &settings, &weights, rho).gradient;

        let h = 1e-4;
        let moved = |client: usize, by: f64| {
            let mut weights = weights.clone();
            weights[client] += by;
            evaluate(&round, &settings, &weights, rho).objective
        };
        let expected: Vec<f64> = (0..n_clients)
            .map(|c| (8.0 * (moved(c, h) - moved(c, -h)) - (moved(c, 2.0 * h) - moved(c, -2.0 * h))) / (12.0 * h))
            .collect();
        let size = expected.iter().map(|g| g * g).sum::<f64>().sqrt();
        let error = found.iter().zip(&expected).map(|(f, e)| (f - e).powi(2)).sum::<f64>().sqrt();
        // The last term bounds the rounding error of P in the difference quotient.
        prop_assert!(
            error <= 1e-5 * size + 1e-15 * (1.0 + moved(0, 0.0)) / h,
            "found {found:?}, expected {expected:?}"
        );
    }
}

/// `L_c(θ) = ½ a_c (θ − m_c)²` in each coordinate, so `θ(w) = Σ w_c a_c m_c / (Σ w_c a_c + N r)`.
struct Quadratic {
    curvature: Vec<f64>,
    minimiser: Vec<Vec<f64>>,
}

impl ClientStatistics for Quadratic {
    fn n_clients(&self) -> usize {
        self.curvature.len()
    }
    fn n(&self) -> usize {
        self.minimiser[0].len()
    }
    fn n_rows(&self, _: usize) -> usize {
        1
    }
    fn evaluate_each(&self, theta: &[f64], _: &[Option<Order>]) -> Result<Statistics, Error> {
        let mut statistics = Statistics::zeros(self.n_clients(), self.n(), Order::Hessian);
        for (c, (&a, minimiser)) in self.curvature.iter().zip(&self.minimiser).enumerate() {
            let d = [theta[0] - minimiser[0], theta[1] - minimiser[1]];
            let loss = 0.5 * a * (d[0] * d[0] + d[1] * d[1]);
            statistics.add(c, &[loss, a * d[0], a * d[1], a, 0.0, a]);
        }
        Ok(statistics)
    }
}

#[test]
fn model_and_hypergradient_agree_with_a_closed_form() {
    let layout = Layout::two_groups(1, false);
    let root = |x: &[f64], s: &[bool], y: &[bool]| Rows::new(layout.clone(), x, s, y).unwrap();
    let roots = vec![
        root(&[0.3, -1.2, 0.8], &[true, false, true], &[true, false, false]),
        root(&[1.5, -0.4], &[false, true], &[true, true]),
    ];
    let quadratic = || Quadratic {
        curvature: vec![2.0, 3.0],
        minimiser: vec![vec![1.0, -0.5], vec![-2.0, 0.7]],
    };
    let ids = vec!["a".to_owned(), "b".to_owned()];
    let round = Round::from_parts(ids, Box::new(quadratic()), Root::new(roots).unwrap()).unwrap();
    let mut settings = Settings::bilevel(Fairness::SP);
    settings.lambda = 0.4;
    settings.inner.tolerance = 1e-13;
    let (weights, rho) = ([0.3, 0.7], 5.0);
    let found = evaluate(&round, &settings, &weights, rho);

    let Quadratic { curvature, minimiser } = quadratic();
    let ridge = 0.4 / 4.0;
    let total: f64 = weights.iter().zip(&curvature).map(|(w, a)| w * a).sum::<f64>() + 2.0 * ridge;
    let theta: Vec<f64> = (0..2)
        .map(|i| (0..2).map(|c| weights[c] * curvature[c] * minimiser[c][i]).sum::<f64>() / total)
        .collect();
    for (f, e) in found.point.theta.iter().zip(&theta) {
        assert!((f - e).abs() < 1e-12, "found {:?}, expected {theta:?}", found.point.theta);
    }
    // By the chain rule: dθ/dw_c = a_c (m_c − θ) / total, times the gradient of F with respect to θ.
    let outer = OuterObjective {
        root: round.root(),
        fairness: Fairness::SP,
        weighting: RootWeighting::Pooled,
        ridge,
    };
    let slope = outer.evaluate(&theta, &weights, rho).unwrap().gradient_theta;
    for c in 0..2 {
        let expected: f64 =
            (0..2).map(|i| slope[i] * curvature[c] * (minimiser[c][i] - theta[i]) / total).sum();
        assert!((found.gradient[c] - expected).abs() < 1e-11);
    }
}
