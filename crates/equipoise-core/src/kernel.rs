//! The innermost loop: loss, gradient and Hessian of a block of rows.
//!
//! Rows are taken [`BATCH`] at a time. Their margins go through the loss together, in arrays that the
//! compiler turns into vector instructions, and each entry of the Hessian is loaded and stored once per
//! batch instead of once per row. For the lengths that occur most the length of a row is known at compile
//! time. Where the processor has AVX2, the same code runs compiled for it. Multiplications and
//! additions are not fused and stand in one order, so every processor gives the same bits.

// Loops over array indices of known length are what the compiler vectorises best.
#![allow(clippy::needless_range_loop)]

mod exp_log;

use crate::statistics::{Order, triangle};
use exp_log::{BATCH, batch_terms};

/// Sums over the rows of one block.
pub(crate) struct BlockSums {
    pub(crate) loss: f64,
    /// Empty unless asked for.
    pub(crate) gradient: Vec<f64>,
    /// The lower triangle row by row; empty unless asked for.
    pub(crate) hessian: Vec<f64>,
}

/// Sums up rows of length `theta.len()` that stand behind one another.
pub(crate) fn sum_rows(values: &[f64], labels: &[f64], theta: &[f64], order: Order) -> BlockSums {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has just been asked whether it has what the function is compiled for.
        #[allow(unsafe_code)]
        return unsafe { sum_rows_avx2(values, labels, theta, order) };
    }
    sum_rows_of_any_length(values, labels, theta, order)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_rows_avx2(values: &[f64], labels: &[f64], theta: &[f64], order: Order) -> BlockSums {
    sum_rows_of_any_length(values, labels, theta, order)
}

#[inline(always)]
fn sum_rows_of_any_length(
    values: &[f64],
    labels: &[f64],
    theta: &[f64],
    order: Order,
) -> BlockSums {
    macro_rules! by_length {
        ($($n:literal)*) => {
            match theta.len() {
                $($n => sum_batches(&mut Fixed::<$n>::new(theta), values, labels, order),)*
                n => sum_batches(&mut Dynamic::new(theta, n), values, labels, order),
            }
        };
    }
    by_length!(2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)
}

/// The part that depends on whether the length of a row is known at compile time.
trait Accumulate {
    /// `a·θ` of each row of a batch; the rows stand behind one another.
    fn margins(&self, rows: &[f64]) -> [f64; BATCH];
    /// Adds `Σ_r slope_r a_r`.
    fn add_gradient(&mut self, rows: &[f64], slopes: &[f64; BATCH]);
    /// Adds `Σ_r curvature_r a_r a_rᵀ`.
    fn add_hessian(&mut self, rows: &[f64], curvatures: &[f64; BATCH]);
    fn n(&self) -> usize;
    fn gradient(&self) -> Vec<f64>;
    /// Entry `(i, j)`, `j ≤ i`.
    fn hessian(&self, i: usize, j: usize) -> f64;
}

#[inline(always)]
fn sum_batches(
    sums: &mut impl Accumulate,
    values: &[f64],
    labels: &[f64],
    order: Order,
) -> BlockSums {
    let n = sums.n();
    let mut loss = 0.0;
    let whole = labels.len() / BATCH * BATCH;
    let batches =
        values[..whole * n].chunks_exact(BATCH * n).zip(labels[..whole].chunks_exact(BATCH));
    for (rows, labels) in batches {
        loss += add_batch(sums, rows, labels, BATCH, order);
    }
    let left = labels.len() - whole;
    if left > 0 {
        // The last rows, with rows of zeros behind them that count nothing.
        let mut rows = vec![0.0; BATCH * n];
        rows[..left * n].copy_from_slice(&values[whole * n..]);
        let mut padded = [1.0; BATCH];
        padded[..left].copy_from_slice(&labels[whole..]);
        loss += add_batch(sums, &rows, &padded, left, order);
    }
    let hessian = if order >= Order::Hessian {
        let mut lower = Vec::with_capacity(triangle(n));
        for i in 0..n {
            lower.extend((0..=i).map(|j| sums.hessian(i, j)));
        }
        lower
    } else {
        Vec::new()
    };
    let gradient = if order >= Order::Gradient { sums.gradient() } else { Vec::new() };
    BlockSums { loss, gradient, hessian }
}

/// Adds the first `valid` rows of a batch and returns their loss.
#[inline(always)]
fn add_batch(
    sums: &mut impl Accumulate,
    rows: &[f64],
    labels: &[f64],
    valid: usize,
    order: Order,
) -> f64 {
    let mut margins = sums.margins(rows);
    for r in 0..BATCH {
        margins[r] *= labels[r];
    }
    let mut terms = batch_terms(&margins);
    for r in valid..BATCH {
        (terms.loss[r], terms.miss[r], terms.curvature[r]) = (0.0, 0.0, 0.0);
    }
    if order >= Order::Gradient {
        let mut slopes = [0.0; BATCH];
        for r in 0..BATCH {
            slopes[r] = -labels[r] * terms.miss[r];
        }
        sums.add_gradient(rows, &slopes);
    }
    if order >= Order::Hessian {
        sums.add_hessian(rows, &terms.curvature);
    }
    terms.loss.iter().sum()
}

/// Sums for rows whose length is known at compile time.
struct Fixed<'a, const N: usize> {
    theta: &'a [f64],
    gradient: [f64; N],
    /// All of it: the square is vectorised better than its triangle, and is symmetric to the bit.
    hessian: [[f64; N]; N],
}

impl<'a, const N: usize> Fixed<'a, N> {
    #[inline(always)]
    fn new(theta: &'a [f64]) -> Self {
        Self { theta, gradient: [0.0; N], hessian: [[0.0; N]; N] }
    }
}

/// The rows of a batch as arrays.
#[inline(always)]
fn as_arrays<const N: usize>(rows: &[f64]) -> &[[f64; N]] {
    rows.as_chunks::<N>().0
}

impl<const N: usize> Accumulate for Fixed<'_, N> {
    #[inline(always)]
    fn margins(&self, rows: &[f64]) -> [f64; BATCH] {
        let rows = as_arrays::<N>(rows);
        let mut margins = [0.0; BATCH];
        for r in 0..BATCH {
            for k in 0..N {
                margins[r] += rows[r][k] * self.theta[k];
            }
        }
        margins
    }

    #[inline(always)]
    fn add_gradient(&mut self, rows: &[f64], slopes: &[f64; BATCH]) {
        for (row, slope) in as_arrays::<N>(rows).iter().zip(slopes) {
            for k in 0..N {
                self.gradient[k] += slope * row[k];
            }
        }
    }

    #[inline(always)]
    fn add_hessian(&mut self, rows: &[f64], curvatures: &[f64; BATCH]) {
        let rows = as_arrays::<N>(rows);
        let mut scaled = [[0.0; N]; BATCH];
        for r in 0..BATCH {
            for k in 0..N {
                scaled[r][k] = curvatures[r] * rows[r][k];
            }
        }
        for i in 0..N {
            let mut sum = self.hessian[i];
            for r in 0..BATCH {
                for j in 0..N {
                    sum[j] += scaled[r][i] * rows[r][j];
                }
            }
            self.hessian[i] = sum;
        }
    }

    fn n(&self) -> usize {
        N
    }

    fn gradient(&self) -> Vec<f64> {
        self.gradient.to_vec()
    }

    fn hessian(&self, i: usize, j: usize) -> f64 {
        self.hessian[i][j]
    }
}

/// Sums for rows of any length.
struct Dynamic<'a> {
    theta: &'a [f64],
    gradient: Vec<f64>,
    hessian: Vec<f64>,
}

impl<'a> Dynamic<'a> {
    fn new(theta: &'a [f64], n: usize) -> Self {
        Self { theta, gradient: vec![0.0; n], hessian: vec![0.0; n * n] }
    }
}

impl Accumulate for Dynamic<'_> {
    #[inline(always)]
    fn margins(&self, rows: &[f64]) -> [f64; BATCH] {
        let mut margins = [0.0; BATCH];
        for (margin, row) in margins.iter_mut().zip(rows.chunks_exact(self.n())) {
            *margin = row.iter().zip(self.theta).map(|(a, t)| a * t).sum();
        }
        margins
    }

    #[inline(always)]
    fn add_gradient(&mut self, rows: &[f64], slopes: &[f64; BATCH]) {
        for (row, slope) in rows.chunks_exact(self.n()).zip(slopes) {
            self.gradient.iter_mut().zip(row).for_each(|(g, v)| *g += slope * v);
        }
    }

    #[inline(always)]
    fn add_hessian(&mut self, rows: &[f64], curvatures: &[f64; BATCH]) {
        let n = self.n();
        for (i, sum) in self.hessian.chunks_exact_mut(n).enumerate() {
            for (row, curvature) in rows.chunks_exact(n).zip(curvatures) {
                let scaled = curvature * row[i];
                sum[..=i].iter_mut().zip(row).for_each(|(h, v)| *h += scaled * v);
            }
        }
    }

    fn n(&self) -> usize {
        self.theta.len()
    }

    fn gradient(&self) -> Vec<f64> {
        self.gradient.clone()
    }

    fn hessian(&self, i: usize, j: usize) -> f64 {
        self.hessian[i * self.n() + j]
    }
}

#[cfg(test)]
mod tests;
