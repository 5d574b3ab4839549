//! Passes over rows: `cargo bench -p equipoise-core --bench kernel`. Threads: `RAYON_NUM_THREADS`.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use divan::{Bencher, counter::ItemsCount};
use equipoise_core::{Client, ClientStatistics, Order, Round};

fn main() {
    divan::main();
}

const SIZES: [(usize, usize); 4] = [(16_640, 12), (16_640, 64), (1_000_000, 12), (1_000_000, 64)];

fn pass(bencher: Bencher<'_, '_>, (n_rows, n): (usize, usize), order: Order) {
    let (rows, theta) = (common::five_clients(n_rows, n), common::theta(n));
    bencher.counter(ItemsCount::new(n_rows)).bench_local(|| rows.evaluate(&theta, order).unwrap());
}

#[divan::bench(args = SIZES)]
fn loss(bencher: Bencher<'_, '_>, size: (usize, usize)) {
    pass(bencher, size, Order::Loss);
}

#[divan::bench(args = SIZES)]
fn gradient(bencher: Bencher<'_, '_>, size: (usize, usize)) {
    pass(bencher, size, Order::Gradient);
}

#[divan::bench(args = SIZES)]
fn hessian(bencher: Bencher<'_, '_>, size: (usize, usize)) {
    pass(bencher, size, Order::Hessian);
}

/// Rows that have counts, per row that is kept; against `hessian`, this tells from which share of distinct rows on
/// merging pays (`WORTH_MERGING`).
#[divan::bench(args = [(16_640, 12), (60_000, 12), (16_640, 64)])]
fn hessian_of_counted_rows(bencher: Bencher<'_, '_>, (n_kept, n): (usize, usize)) {
    let once = common::rows(1, n_kept, n);
    // Next to each other: where the first thousands of rows all differ, merging is given up.
    let twice = once.select(&(0..2 * n_kept).map(|i| i / 2).collect::<Vec<_>>());
    let root = once.select(&(0..100).collect::<Vec<_>>());
    let round = Round::new(vec![Client { id: "c".to_owned(), proxy: twice, root }]).unwrap();
    let theta = common::theta(n);
    bencher
        .counter(ItemsCount::new(n_kept))
        .bench_local(|| round.proxies().evaluate(&theta, Order::Hessian).unwrap());
}

/// Short passes that are made one after the other.
const PASSES: usize = 50;

/// Passes so short that handing them to other threads may not pay: with one thread and with two, this tells from how
/// many rows on it does (`PARALLEL_NUMBERS`).
#[divan::bench(args = [(1024, 12), (2048, 12), (3072, 12), (4096, 12), (8192, 12), (2048, 4), (8192, 4), (2048, 64)])]
fn short_passes(bencher: Bencher<'_, '_>, (n_rows, n): (usize, usize)) {
    let rows = equipoise_core::ClientRows::new(vec![common::rows(1, n_rows, n)]).unwrap();
    let theta = common::theta(n);
    // As within a solve: the pool is entered once for many passes, and its threads are awake.
    bencher.counter(ItemsCount::new(PASSES * n_rows)).bench_local(|| {
        rayon::scope(|_| {
            for _ in 0..PASSES {
                divan::black_box(rows.evaluate(&theta, Order::Hessian).unwrap());
            }
        });
    });
}
