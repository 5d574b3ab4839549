//! Passes over rows: `cargo bench -p equipoise-core --bench kernel`. Threads: `RAYON_NUM_THREADS`.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use divan::{Bencher, counter::ItemsCount};
use equipoise_core::{ClientStatistics, Order};

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
