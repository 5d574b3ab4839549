//! Passes over rows: `cargo bench -p equipoise-core --bench kernel`. Threads: `RAYON_NUM_THREADS`.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use divan::{Bencher, counter::ItemsCount};
use equipoise_core::{Client, ClientStatistics, Order, PackedRows, Round};

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

/// Rows with counts, per distinct row. Compared with `hessian`, this shows at which share of distinct rows merging is
/// worthwhile (`WORTH_MERGING`).
#[divan::bench(args = [(16_640, 12), (60_000, 12), (16_640, 64)])]
fn hessian_of_counted_rows(bencher: Bencher<'_, '_>, (n_distinct, n): (usize, usize)) {
    let once = common::rows(1, n_distinct, n);
    // Copies are adjacent because the search ends early if the first few thousand rows are distinct.
    let twice = once.select(&(0..2 * n_distinct).map(|i| i / 2).collect::<Vec<_>>());
    let root = once.select(&(0..100).collect::<Vec<_>>());
    let round = Round::new(vec![Client { id: "c".to_owned(), proxy: twice, root }]).unwrap();
    let theta = common::theta(n);
    bencher
        .counter(ItemsCount::new(n_distinct))
        .bench_local(|| round.proxies().evaluate(&theta, Order::Hessian).unwrap());
}

/// Number of consecutive short passes.
const PASSES: usize = 50;

/// Passes so short that several threads may not be worthwhile. Run with one and with two threads, this shows from how many
/// rows on several threads are faster (`PARALLEL_NUMBERS`).
#[divan::bench(args = [(1024, 12), (2048, 12), (3072, 12), (4096, 12), (8192, 12), (2048, 4), (8192, 4), (2048, 64)])]
fn short_passes(bencher: Bencher<'_, '_>, (n_rows, n): (usize, usize)) {
    let rows = PackedRows::unmerged(&[common::rows(1, n_rows, n)]).unwrap();
    let theta = common::theta(n);
    // As in a solve, many passes enter the pool once, and its threads are awake.
    bencher.counter(ItemsCount::new(PASSES * n_rows)).bench_local(|| {
        rayon::scope(|_| {
            for _ in 0..PASSES {
                divan::black_box(rows.evaluate(&theta, Order::Hessian).unwrap());
            }
        });
    });
}
