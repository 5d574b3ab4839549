//! Passes over rows: `cargo bench -p equipoise-core --bench kernel`. Threads: `RAYON_NUM_THREADS`.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use divan::{Bencher, counter::ItemsCount};
use equipoise_core::{ClientStatistics, Order, PackedRows};

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

/// Number of consecutive short passes.
const PASSES: usize = 50;

/// Passes so short that several threads may not be worthwhile. Run with one and with two threads, this shows from how many
/// rows on several threads are faster (`PARALLEL_NUMBERS`).
#[divan::bench(args = [(1024, 12), (2048, 12), (3072, 12), (4096, 12), (8192, 12), (2048, 4), (8192, 4), (2048, 64)])]
fn short_passes(bencher: Bencher<'_, '_>, (n_rows, n): (usize, usize)) {
    let rows = PackedRows::of(&[common::rows(1, n_rows, n)]).unwrap();
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
