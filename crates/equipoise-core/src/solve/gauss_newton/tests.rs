//! The outer solvers against a grid over the simplex, and the quadratic model against its definition.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::super::learn_weights;
use super::*;
use crate::defense::Solution;
use crate::fairness::Fairness;
use crate::observer::NoopObserver;
use crate::outcome::Termination;
use crate::root::RootWeighting;
use crate::round::Round;
use crate::simplex::frank_wolfe_gap;
use crate::test_rows::random_round;

/// `P` at the last ρ.
fn objective(round: &Round, settings: &Settings, weights: &[f64]) -> f64 {
    let rho = settings.outer.rho.last(settings.outer.iterations);
    let mut problem = Bilevel::new(round, settings);
    let origin = problem.origin().unwrap();
    problem.evaluate(weights.to_vec(), rho, origin, &settings.inner).unwrap().objective
}

/// The lowest `P` at the last ρ on a grid of 1/24 over the simplex of three clients.
fn lowest_on_grid(round: &Round, settings: &Settings) -> f64 {
    let mut lowest = f64::INFINITY;
    for i in 0..=24u8 {
        for j in 0..=(24 - i) {
            let weights = [i, j, 24 - i - j].map(|k| f64::from(k) / 24.0);
            lowest = lowest.min(objective(round, settings, &weights));
        }
    }
    lowest
}

fn minimised(round: &Round, settings: &Settings) -> (Solution, f64) {
    let solved = learn_weights(round, settings, &mut NoopObserver).unwrap();
    let objective = objective(round, settings, &solved.weights);
    (solved, objective)
}

#[test]
fn gauss_newton_is_no_higher_than_any_point_of_a_grid() {
    for seed in 0..12 {
        for fairness in [Fairness::SP, Fairness::EO] {
            let round = random_round(seed, 3, 150, 3, seed % 2 == 0);
            let settings = Settings::bilevel(fairness);
            let (solved, objective) = minimised(&round, &settings);
            assert_eq!(solved.termination, Termination::Converged, "seed {seed}");
            let lowest = lowest_on_grid(&round, &settings);
            assert!(objective <= lowest + 1e-6, "seed {seed}: {objective} against {lowest}");
        }
    }
}

#[test]
fn gauss_newton_is_no_higher_than_the_papers_adam() {
    for seed in 0..6 {
        let round = random_round(seed, 3, 150, 3, true);
        let (_, gauss_newton) = minimised(&round, &Settings::bilevel(Fairness::SP));
        let (_, adam) = minimised(&round, &Settings::paper(Fairness::SP));
        // Adam's own value is only as accurate as the paper's inner tolerance of 1e-7 allows.
        assert!(gauss_newton <= adam * (1.0 + 1e-6), "seed {seed}: {gauss_newton} against {adam}");
    }
}

#[test]
fn minimises_the_objective_with_client_weighted_root_rows() {
    // Here the model omits the curvature of F in w itself. The descent must still not stop early.
    for seed in 0..6 {
        let round = random_round(seed, 3, 150, 3, true);
        let settings =
            Settings { root_weighting: RootWeighting::Client, ..Settings::bilevel(Fairness::SP) };
        let (_, objective) = minimised(&round, &settings);
        let (_, adam) = minimised(
            &round,
            &Settings { root_weighting: RootWeighting::Client, ..Settings::paper(Fairness::SP) },
        );
        assert!(
            objective <= adam + 1e-4 * adam.abs().max(1.0),
            "seed {seed}: {objective} against {adam}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The Frank–Wolfe gap at the minimiser of a convex function is 0. Here it must be a small share of the
    /// decrease, because the solver stops there.
    #[test]
    fn minimises_the_model_over_the_simplex(
        jacobian in prop::collection::vec(-1.0f64..1.0, 12),
        gradient in prop::collection::vec(-1.0f64..1.0, 4),
        diagonal in prop::collection::vec(0.01f64..100.0, 3),
    ) {
        let hessian: Vec<f64> =
            (0..9).map(|at| if at / 3 == at % 3 { diagonal[at / 3] } else { 0.0 }).collect();
        let model = SimplexModel::new(gradient.clone(), jacobian.clone(), &hessian);
        let weights = [0.25; 4];
        let (point, predicted) = model.minimise(&weights, 0.0);
        prop_assert!((point.iter().sum::<f64>() - 1.0).abs() < 1e-9 && point.iter().all(|&w| w >= 0.0));
        // Written out: slope = gradient + Jᵀ A J (point − weights).
        let moved: Vec<f64> = (0..3)
            .map(|i| (0..4).map(|c| jacobian[c * 3 + i] * (point[c] - 0.25)).sum::<f64>() * diagonal[i])
            .collect();
        let slope: Vec<f64> = (0..4)
            .map(|c| gradient[c] + (0..3).map(|i| jacobian[c * 3 + i] * moved[i]).sum::<f64>())
            .collect();
        prop_assert!(frank_wolfe_gap(&point, &slope) <= 1.1e-3 * predicted + 1e-9);
        prop_assert!(predicted >= 0.0);
    }
}

#[test]
fn minimises_the_model_of_many_clients() {
    let (n, n_clients) = (3, 300);
    let wave = |k: usize, by: f64| (k as f64 * by).sin();
    let jacobian: Vec<f64> = (0..n * n_clients).map(|k| wave(k, 1.3)).collect();
    let gradient: Vec<f64> = (0..n_clients).map(|c| wave(c, 0.37)).collect();
    let hessian = [5.0, 0.0, 0.0, 0.0, 50.0, 0.0, 0.0, 0.0, 0.5];
    let model = SimplexModel::new(gradient.clone(), jacobian.clone(), &hessian);
    let weights = vec![1.0 / n_clients as f64; n_clients];
    for damping in [0.0, 1e-3, 1.0] {
        let (point, predicted) = model.minimise(&weights, damping);
        assert!((point.iter().sum::<f64>() - 1.0).abs() < 1e-9 && point.iter().all(|&w| w >= 0.0));
        let d: Vec<f64> = point.iter().zip(&weights).map(|(v, w)| v - w).collect();
        let moved: Vec<f64> = (0..n)
            .map(|i| {
                hessian[4 * i] * (0..n_clients).map(|c| jacobian[c * n + i] * d[c]).sum::<f64>()
            })
            .collect();
        let trace: f64 =
            (0..n * n_clients).map(|k| jacobian[k].powi(2) * hessian[4 * (k % n)]).sum();
        let slope: Vec<f64> = (0..n_clients)
            .map(|c| {
                let curvature: f64 = (0..n).map(|i| jacobian[c * n + i] * moved[i]).sum();
                gradient[c] + curvature + damping * trace * d[c]
            })
            .collect();
        let gap = frank_wolfe_gap(&point, &slope);
        assert!(gap <= 1e-6 * predicted, "damping {damping}: gap {gap} of {predicted}");
    }
}

/// Among many clients, a few of them fair, the weights must be stationary within a few passes.
#[test]
fn solves_rounds_of_many_clients() {
    for n_clients in [200, 1000] {
        let round = random_round(7, n_clients, 24, 3, true);
        let (solved, objective) = minimised(&round, &Settings::bilevel(Fairness::SP));
        assert_eq!(solved.termination, Termination::Converged, "gap {:?}", solved.gap);
        assert!(solved.counts.passes < 400, "{} passes", solved.counts.passes);
        assert!(objective.is_finite());
    }
}
