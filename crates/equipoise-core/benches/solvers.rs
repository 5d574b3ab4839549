//! Fits, hypergradients, outer solvers and the proxy generator:
//! `cargo bench -p equipoise-core --bench solvers`. Threads: `RAYON_NUM_THREADS`.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use divan::Bencher;
use equipoise_core::{
    Client, Fairness, InnerSettings, InnerSolver, NoopObserver, OuterSolver, ProxySettings, Round,
    Settings, fit_logistic, generate_proxy, solve,
};

fn main() {
    divan::main();
}

/// A round of `n_clients` clients, every second one with a generated fair proxy.
fn round(n_clients: usize, rows_each: usize, n: usize) -> Round {
    let clients = (0..n_clients).map(|c| {
        let proxy = common::rows(c as u64, rows_each, n);
        let root = proxy.select(&(0..20).collect::<Vec<_>>());
        let proxy = if c % 2 == 0 {
            let settings = ProxySettings { seed: c as u64, ..ProxySettings::paper(Fairness::SP) };
            generate_proxy(&proxy, &settings, &mut NoopObserver).unwrap().rows
        } else {
            proxy
        };
        Client { id: format!("c{c:05}"), proxy, root }
    });
    Round::new(clients.collect()).unwrap()
}

#[divan::bench(args = [InnerSolver::Newton, InnerSolver::Lbfgs])]
fn inner_fit(bencher: Bencher<'_, '_>, solver: InnerSolver) {
    let rows = common::rows(1, 16_640, 12);
    let settings = InnerSettings { solver, ..InnerSettings::default() };
    bencher.bench_local(|| fit_logistic(&rows, 1e-4, &settings).unwrap());
}

/// One evaluation of `P` and `∇P`, including the inner fit: a solve of a single step.
#[divan::bench]
fn hypergradient(bencher: Bencher<'_, '_>) {
    let round = round(5, 3_328, 12);
    let mut settings = Settings::paper(Fairness::SP);
    settings.outer.iterations = 1;
    let settings = settings.validate().unwrap();
    bencher.bench_local(|| solve(&round, &settings, &mut NoopObserver).unwrap());
}

#[divan::bench(args = [OuterSolver::GaussNewton, OuterSolver::Adam], sample_count = 10)]
fn five_clients(bencher: Bencher<'_, '_>, solver: OuterSolver) {
    let round = round(5, 3_328, 12);
    let settings = match solver {
        OuterSolver::GaussNewton => Settings::bilevel(Fairness::SP),
        OuterSolver::Adam => Settings::paper(Fairness::SP),
    };
    let settings = settings.validate().unwrap();
    bencher.bench_local(|| solve(&round, &settings, &mut NoopObserver).unwrap());
}

#[divan::bench(args = [100, 1000], sample_count = 3)]
fn many_clients(bencher: Bencher<'_, '_>, n_clients: usize) {
    let round = round(n_clients, 500, 12);
    let settings = Settings::bilevel(Fairness::SP).validate().unwrap();
    bencher.bench_local(|| solve(&round, &settings, &mut NoopObserver).unwrap());
}

#[divan::bench(args = [10_000, 100_000, 1_000_000], sample_count = 3)]
fn proxy(bencher: Bencher<'_, '_>, n_rows: usize) {
    let data = common::rows(1, 20_000, 12);
    let settings = ProxySettings { rows: Some(n_rows), ..ProxySettings::paper(Fairness::SP) };
    bencher.bench_local(|| generate_proxy(&data, &settings, &mut NoopObserver).unwrap());
}
