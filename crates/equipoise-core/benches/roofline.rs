//! The share of this machine's roofline that a pass reaches: `cargo bench -p equipoise-core --bench roofline`.
//!
//! The roof is the speed of a loop of fused multiply-adds only, and of a loop of loads only, with the same number of
//! threads. The useful operations per row of `n` entries are 2n for the margin, 2n for the gradient and n(n+1) for the
//! Hessian's lower triangle. `exp`, `log1p`, divisions and the scaling of rows do not count, so the share never reaches 1.
//! The 8n bytes of a row are read once. The roof of a pass is min(peak, bandwidth · operations / bytes).
//!
//! `-- --json` prints a JSON document instead of a table. `-- --quick` skips 10⁶ rows.
#![allow(clippy::unwrap_used, clippy::print_stdout, unsafe_code, missing_docs)]

mod common;

use equipoise_core::{ClientStatistics, Order};
use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

/// Number of rows and row length. `--quick` skips the large ones.
const SMALL: [(usize, usize); 3] = [(16_640, 11), (16_640, 12), (16_640, 64)];
const LARGE: [(usize, usize); 2] = [(1_000_000, 12), (1_000_000, 64)];

/// The orders that are measured.
const ORDERS: [Order; 2] = [Order::Gradient, Order::Hessian];

/// Number of times that all measurements are repeated.
const REPEATS: usize = 4;
/// Minimum number of runs per measurement. The fastest counts, since other programs only ever add time.
const RUNS: usize = 10;
const MIN_SECONDS: f64 = 0.2;

fn main() {
    let has_flag = |name: &str| std::env::args().any(|argument| argument == name);
    // `cargo test --benches` only checks that it starts.
    if has_flag("--test") {
        return;
    }
    let (json, quick) = (has_flag("--json"), has_flag("--quick"));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(2);
    let large = if quick { &[] } else { &LARGE[..] };
    let sizes: Vec<(usize, usize)> = SMALL.iter().chain(large).copied().collect();
    let (roofs, seconds) = measure(&sizes, threads);
    let mut passes = Vec::new();
    for (&(n_rows, n), seconds) in sizes.iter().zip(&seconds) {
        for (order, seconds) in ORDERS.into_iter().zip(seconds) {
            for (roof, &fastest) in roofs.iter().zip(seconds) {
                let speed_up = seconds[0] / fastest;
                passes.push(Pass { n_rows, n, order, seconds: fastest, speed_up, roof });
            }
        }
    }
    if json {
        let passes: Vec<_> = passes.iter().map(Pass::json).collect();
        let roofs: Vec<_> = roofs.iter().map(Roof::json).collect();
        println!("{}", serde_json::json!({ "roofs": roofs, "passes": passes }));
        return;
    }
    println!("threads        peak GFLOP/s   bandwidth GB/s");
    roofs.iter().for_each(Roof::print);
    println!(
        "\n   rows    n  order     threads   ns/row  GFLOP/s   GB/s  roof GFLOP/s  share  speed-up"
    );
    passes.iter().for_each(Pass::print);
}

/// Measures roofs and passes alternately, several times, and keeps the best of each, because the load of the machine changes
/// and should affect both equally. The seconds are per size, order and number of threads.
fn measure(sizes: &[(usize, usize)], threads: usize) -> (Vec<Roof>, Vec<[Vec<f64>; 2]>) {
    let mut roofs: Vec<Roof> =
        (1..=threads).map(|threads| Roof { threads, gflops: 0.0, gigabytes: 0.0 }).collect();
    let mut seconds = vec![ORDERS.map(|_| vec![f64::INFINITY; threads]); sizes.len()];
    for _ in 0..REPEATS {
        roofs.iter_mut().for_each(Roof::measure_again);
        for (&(n_rows, n), seconds) in sizes.iter().zip(&mut seconds) {
            let (rows, theta) = (common::five_clients(n_rows, n), common::theta(n));
            for (order, seconds) in ORDERS.into_iter().zip(seconds) {
                for (threads, best) in (1..).zip(seconds) {
                    let pool =
                        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    let pass = || {
                        black_box(rows.evaluate(&theta, order).unwrap());
                    };
                    *best = best.min(pool.install(|| fastest(pass)));
                }
            }
        }
    }
    (roofs, seconds)
}

/// The speed of the machine with a number of threads.
struct Roof {
    threads: usize,
    gflops: f64,
    gigabytes: f64,
}

impl Roof {
    fn measure_again(&mut self) {
        self.gflops = self.gflops.max(peak(self.threads));
        self.gigabytes = self.gigabytes.max(bandwidth(self.threads));
    }

    fn print(&self) {
        println!("{:7} {:19.1} {:16.1}", self.threads, self.gflops, self.gigabytes);
    }

    fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "threads": self.threads,
            "gflops": self.gflops,
            "gigabytes": self.gigabytes,
        })
    }
}

/// A measured pass.
struct Pass<'a> {
    n_rows: usize,
    n: usize,
    order: Order,
    seconds: f64,
    speed_up: f64,
    roof: &'a Roof,
}

impl Pass<'_> {
    fn flops(&self) -> f64 {
        let hessian = if self.order == Order::Hessian { self.n * (self.n + 1) } else { 0 };
        (self.n_rows * (4 * self.n + hessian)) as f64
    }

    fn bytes(&self) -> f64 {
        (self.n_rows * 8 * self.n) as f64
    }

    /// The limit for this pass, in 10⁹ operations per second.
    fn roof_gflops(&self) -> f64 {
        // Memory bandwidth does not limit rows that stay in the cache.
        if self.bytes() < 4e6 {
            self.roof.gflops
        } else {
            self.roof.gflops.min(self.roof.gigabytes * self.flops() / self.bytes())
        }
    }

    fn gflops(&self) -> f64 {
        self.flops() / self.seconds * 1e-9
    }

    fn print(&self) {
        println!(
            "{:7} {:4}  {:8} {:8} {:8.2} {:8.1} {:6.1} {:13.1} {:6.2} {:9.2}",
            self.n_rows,
            self.n,
            format!("{:?}", self.order),
            self.roof.threads,
            self.seconds * 1e9 / self.n_rows as f64,
            self.gflops(),
            self.bytes() / self.seconds * 1e-9,
            self.roof_gflops(),
            self.gflops() / self.roof_gflops(),
            self.speed_up,
        );
    }

    fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "rows": self.n_rows,
            "n": self.n,
            "order": format!("{:?}", self.order).to_lowercase(),
            "threads": self.roof.threads,
            "seconds": self.seconds,
            "gflops": self.gflops(),
            "gigabytes": self.bytes() / self.seconds * 1e-9,
            "roof_gflops": self.roof_gflops(),
            "share": self.gflops() / self.roof_gflops(),
            "speed_up": self.speed_up,
        })
    }
}

/// The time of the fastest of many runs.
fn fastest(mut run: impl FnMut()) -> f64 {
    run();
    let begin = Instant::now();
    let (mut best, mut runs) = (f64::INFINITY, 0);
    while runs < RUNS || begin.elapsed().as_secs_f64() < MIN_SECONDS {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
        runs += 1;
    }
    best
}

/// Runs `work` on several threads at once and returns the shortest time in which all finished.
fn together(threads: usize, work: impl Fn() + Sync) -> f64 {
    let start = Barrier::new(threads);
    let runs: Vec<Vec<f64>> = std::thread::scope(|scope| {
        let run = || {
            let timed = |_| {
                start.wait();
                let begin = Instant::now();
                work();
                begin.elapsed().as_secs_f64()
            };
            (0..RUNS).map(timed).collect()
        };
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    let slowest = |at: usize| runs.iter().map(|run| run[at]).fold(0.0, f64::max);
    (0..RUNS).map(slowest).fold(f64::INFINITY, f64::min)
}

/// Peak speed in 10⁹ operations per second: two per fused multiply-add, in registers.
fn peak(threads: usize) -> f64 {
    let steps = 2_000_000;
    let flops_per_step = fma_loop(1);
    let seconds = together(threads, || {
        black_box(fma_loop(steps));
    });
    threads as f64 * flops_per_step * steps as f64 / seconds * 1e-9
}

/// Runs the loop and returns its floating point operations per step.
fn fma_loop(steps: usize) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: the feature has just been detected.
        return unsafe { fma_loop_avx512(steps) };
    } else if std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("fma")
    {
        // SAFETY: the features have just been detected.
        return unsafe { fma_loop_avx2(steps) };
    }
    fma_loop_portable(steps)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn fma_loop_avx512(steps: usize) -> f64 {
    use std::arch::x86_64::*;
    let factor = _mm512_set1_pd(black_box(0.999));
    let mut sums = [_mm512_set1_pd(1.0); 12];
    for _ in 0..steps {
        for sum in &mut sums {
            *sum = _mm512_fmadd_pd(*sum, factor, factor);
        }
    }
    black_box(sums);
    12.0 * 8.0 * 2.0
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fma_loop_avx2(steps: usize) -> f64 {
    use std::arch::x86_64::*;
    let factor = _mm256_set1_pd(black_box(0.999));
    let mut sums = [_mm256_set1_pd(1.0); 12];
    for _ in 0..steps {
        for sum in &mut sums {
            *sum = _mm256_fmadd_pd(*sum, factor, factor);
        }
    }
    black_box(sums);
    12.0 * 4.0 * 2.0
}

fn fma_loop_portable(steps: usize) -> f64 {
    let factor = black_box(0.999f64);
    let mut sums = [1.0f64; 24];
    for _ in 0..steps {
        sums.iter_mut().for_each(|sum| *sum = *sum * factor + factor);
    }
    black_box(sums);
    24.0 * 2.0
}

/// Bandwidth of reading from memory, in 10⁹ bytes per second.
fn bandwidth(threads: usize) -> f64 {
    let numbers = 16_000_000;
    let memory: Vec<f64> = (0..numbers * threads).map(|i| i as f64).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let seconds = together(threads, || {
        let part = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % threads;
        let part = &memory[part * numbers..(part + 1) * numbers];
        let mut sums = [0u64; 16];
        for chunk in part.chunks_exact(16) {
            for (sum, v) in sums.iter_mut().zip(chunk) {
                *sum ^= v.to_bits();
            }
        }
        black_box(sums);
    });
    (threads * numbers * 8) as f64 / seconds * 1e-9
}
