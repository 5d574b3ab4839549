//! End-to-end solves: every defense, reproducibility, counts and warnings.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;

use super::*;
use crate::choice::Choice;
use crate::fairness::Fairness;
use crate::inner_fit::InnerSolver;
use crate::observer::{NoopObserver, Progress};
use crate::proxy::{ProxySettings, generate_proxy};
use crate::round::Client;
use crate::rows::Rows;
use crate::settings::{OuterSolver, Settings};
use crate::test_rows::{random_round, random_rows};

fn solve_with(round: &Round, change: impl Fn(&mut Settings)) -> Outcome {
    let mut settings = Settings::bilevel(Fairness::SP);
    change(&mut settings);
    solve(round, &settings.validate().unwrap(), &mut NoopObserver).unwrap()
}

/// Two clients send fair proxies, three send their biased rows.
fn round_with_three_unreliable() -> Round {
    let clients = (0..5).map(|c| {
        let data =
            random_rows(900, 6000, 4, true).select(&(c * 1200..(c + 1) * 1200).collect::<Vec<_>>());
        let root = data.select(&(0..60).collect::<Vec<_>>());
        let settings = ProxySettings { seed: c as u64, ..ProxySettings::paper(Fairness::SP) };
        let proxy: Rows = if c < 2 {
            generate_proxy(&data, &settings, &mut NoopObserver).unwrap().rows
        } else {
            data
        };
        Client { id: format!("c{c}"), proxy, root }
    });
    Round::new(clients.collect()).unwrap()
}

#[test]
fn excludes_unreliable_clients_even_if_they_are_the_majority() {
    let round = round_with_three_unreliable();
    let bilevel = solve_with(&round, |_| {});
    let pooled = solve_with(&round, |s| s.defense = Defense::Pooled);
    let unreliable: f64 = bilevel.weights()[2..].iter().sum();
    assert!(unreliable < 0.05, "{:?}", bilevel.weights());
    assert!(bilevel.violation < 0.1 * pooled.violation);
    assert!((bilevel.weights().iter().sum::<f64>() - 1.0).abs() < 1e-9);
}

#[test]
fn every_defense_gives_the_same_bits_for_any_number_of_threads() {
    let clients = (0..3).map(|c| Client {
        id: format!("c{c}"),
        proxy: random_rows(c, 5000, 4, true),
        root: random_rows(50 + c, 40, 4, true),
    });
    let round = Round::new(clients.collect()).unwrap();
    for &defense in Defense::ALL {
        for solver in [InnerSolver::Newton, InnerSolver::Lbfgs] {
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    solve_with(&round, |s| {
                        s.defense = defense;
                        s.inner.solver = solver;
                        s.outer.iterations = 60;
                    })
                })
            };
            let one = run(1);
            assert_eq!(one, run(2), "{defense}");
            assert_eq!(one, run(3), "{defense}");
        }
    }
}

#[test]
fn the_order_of_clients_does_not_change_the_outcome() {
    let clients: Vec<Client> = (0..4)
        .map(|c| Client {
            id: format!("c{c}"),
            proxy: random_rows(c, 300, 3, true),
            root: random_rows(50 + c, 30, 3, true),
        })
        .collect();
    let reversed: Vec<Client> = clients.iter().rev().cloned().collect();
    let in_order = solve_with(&Round::new(clients).unwrap(), |_| {});
    assert_eq!(in_order, solve_with(&Round::new(reversed).unwrap(), |_| {}));
}

#[test]
fn the_paper_profile_runs_every_step_and_returns_the_last_weights() {
    let round = random_round(3, 3, 90, 3, false);
    let settings = Settings::paper(Fairness::EO).validate().unwrap();
    let outcome = solve(&round, &settings, &mut NoopObserver).unwrap();
    assert_eq!(outcome.termination, Termination::ScheduleCompleted);
    assert_eq!(outcome.trace.len(), 2000);
    assert_eq!(outcome.counts.evaluations, 2001);
    assert_eq!(outcome.rho, 1e4);
    let first = &outcome.trace[0];
    assert_eq!((first.iteration, first.rho, &first.weights[..]), (1, 10.0, &[1.0 / 3.0; 3][..]));
    assert_eq!(outcome.trace[400].rho, 100.0);
}

#[test]
fn inner_fits_that_do_not_converge_are_counted_and_reported() {
    let round = random_round(4, 2, 90, 3, true);
    let outcome = solve_with(&round, |s| {
        s.inner.max_iterations = 1;
        s.inner.tolerance = 1e-15;
        s.outer.iterations = 5;
    });
    assert!(outcome.counts.inner_not_converged > 0);
    assert!(outcome.warnings.iter().any(|w| w.code == WarningCode::InnerNotConverged));
    assert!(outcome.theta.iter().all(|t| t.is_finite()));
}

#[test]
fn reports_the_iteration_limit() {
    let round = random_round(5, 4, 90, 3, true);
    let outcome = solve_with(&round, |s| {
        s.outer.solver = OuterSolver::Adam;
        s.outer.iterations = 3;
        s.outer.gap_tolerance = Some(0.0);
    });
    assert_eq!(outcome.termination, Termination::IterationLimit);
    assert!(outcome.warnings.iter().any(|w| w.code == WarningCode::NotStationary));
}

#[test]
fn notifies_the_observer_of_every_step() {
    struct Count(Vec<usize>);
    impl Observer for Count {
        fn on_step(&mut self, progress: Progress<'_>) -> ControlFlow<()> {
            assert_eq!(progress.weights.len(), 2);
            self.0.push(progress.done);
            ControlFlow::Continue(())
        }
    }
    let mut settings = Settings::paper(Fairness::SP);
    settings.outer.iterations = 12;
    let mut count = Count(Vec::new());
    let round = random_round(6, 2, 60, 2, true);
    solve(&round, &settings.validate().unwrap(), &mut count).unwrap();
    assert_eq!(count.0, (1..=12).collect::<Vec<_>>());
}

#[test]
fn an_observer_can_stop_every_iterative_defense() {
    struct StopAt(usize);
    impl Observer for StopAt {
        fn on_step(&mut self, progress: Progress<'_>) -> ControlFlow<()> {
            assert!(progress.done <= self.0, "a step after the last");
            if progress.done == self.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }
    let round = random_round(6, 3, 60, 2, true);
    let bilevel = Settings::bilevel(Fairness::SP);
    for settings in [Settings::new(Fairness::SP), bilevel, Settings::paper(Fairness::SP)] {
        let result = solve(&round, &settings.validate().unwrap(), &mut StopAt(2));
        assert!(matches!(result, Err(Error::Cancelled)), "{:?}", settings.defense);
    }
}

#[test]
fn root_weighting_does_not_change_root_figures() {
    let round = random_round(9, 3, 120, 3, true);
    for defense in [Defense::Pooled, Defense::RootOnly] {
        let with = |root_weighting| {
            let outcome = solve_with(&round, |s| {
                s.defense = defense;
                s.root_weighting = root_weighting;
            });
            (outcome.root_loss, outcome.violation, outcome.objective)
        };
        assert_eq!(with(RootWeighting::Pooled), with(RootWeighting::Client));
    }
    let literal = solve_with(&round, |s| s.root_weighting = RootWeighting::Client);
    let metrics_loss = crate::root::OuterObjective {
        root: round.root(),
        fairness: Fairness::SP,
        weighting: RootWeighting::Pooled,
        ridge: 0.0,
    };
    let plain = metrics_loss.evaluate(&literal.theta, &literal.weights(), 0.0).unwrap();
    assert_eq!(literal.root_loss, plain.loss);
}

#[test]
fn averages_local_models_by_their_weights() {
    let round = random_round(7, 3, 120, 3, true);
    let outcome = solve_with(&round, |s| s.defense = Defense::Fednolowe);
    assert_eq!(outcome.termination, Termination::Direct);
    let mut expected = vec![0.0; 5];
    for c in 0..3u64 {
        let proxy = random_rows(700 + c, 120 + 3 * c as usize, 3, true);
        let local = crate::inner_fit::fit_logistic(&proxy, 1e-4, &Default::default()).unwrap();
        let w = outcome.weights()[c as usize];
        expected.iter_mut().zip(&local).for_each(|(e, t)| *e += w * t);
    }
    for (found, expected) in outcome.theta.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-6);
    }
}

#[test]
fn rejects_a_root_that_cannot_measure_the_fairness() {
    let all = random_rows(1, 60, 2, true);
    let keep = |is_kept: &dyn Fn(usize) -> bool| {
        all.select(&(0..60).filter(|&i| is_kept(i)).collect::<Vec<_>>())
    };
    let client = |root: Rows| vec![Client { id: "a".into(), proxy: all.clone(), root }];
    let one_group = Round::new(client(keep(&|i| all.group(i) == 1)));
    assert!(matches!(one_group, Err(Error::RootGroup { .. })));
    let no_positives = keep(&|i| all.group(i) == 1 || !all.is_positive(i));
    let round = Round::new(client(no_positives)).unwrap();
    let eo = Settings::bilevel(Fairness::EO).validate().unwrap();
    let refused = solve(&round, &eo, &mut NoopObserver);
    assert!(matches!(refused, Err(Error::RootCondition { label: "positive", .. })));
    let sp = Settings::bilevel(Fairness::SP).validate().unwrap();
    assert!(solve(&round, &sp, &mut NoopObserver).is_ok());
}

#[test]
fn the_weights_are_where_a_recorded_descent_ends_unless_it_ran_out_of_steps() {
    let mut n_decided = 0;
    for seed in 0..20 {
        let clients = (0..3).map(|c| Client {
            id: format!("c{c}"),
            proxy: random_rows(10 * seed + c, 200, 4, true),
            root: random_rows(10 * seed + c + 5, 30, 4, true),
        });
        let round = Round::new(clients.collect()).unwrap();
        let mut outcome = solve_with(&round, |s| s.fall_back = false);
        let ends = outcome.weights_end_a_descent();
        assert_ne!(ends, Some(false), "seed {seed}");
        assert_eq!(ends.is_some(), outcome.termination == Termination::Converged, "seed {seed}");
        n_decided += usize::from(ends.is_some());
        let moved = outcome.clients[0].weight / 2.0;
        outcome.clients[0].weight -= moved;
        outcome.clients[1].weight += moved;
        let unchanged = moved == 0.0;
        assert!(unchanged || outcome.weights_end_a_descent() != Some(true), "seed {seed}");
        let short = solve_with(&round, |s| s.outer.iterations = 2);
        assert_ne!(short.weights_end_a_descent(), Some(false), "seed {seed}");
        let adam = solve_with(&round, |s| s.outer.solver = OuterSolver::Adam);
        assert_eq!(adam.weights_end_a_descent(), None);
    }
    assert!(n_decided > 10, "{n_decided}");
}

#[test]
fn weights_and_models_that_are_not_finite_are_errors() {
    assert!(check_finite(&[0.5, 0.5], &[1e300, -1.0]).is_ok());
    let weights = check_finite(&[f64::NAN, 0.5], &[1.0]).unwrap_err().to_string();
    assert!(weights.contains("not all weights"), "{weights}");
    let model = check_finite(&[1.0], &[f64::INFINITY]).unwrap_err().to_string();
    assert!(model.contains("not all coefficients"), "{model}");
}
