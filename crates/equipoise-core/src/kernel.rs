//! The innermost loop: loss, gradient and Hessian of a block of rows.
//!
//! Rows come as `ã = y·a` (the label is in the row: the margin is `ã·θ`, the gradient `−Σ σ(−m) ã`), in panels of
//! four, entry by entry: the first entry of the four rows, then the second, and so on. So four rows are one
//! register, and no sum runs across a register before the block ends. What is computed, to the last bit:
//!
//! - a margin adds the products of its entries in order, each fused;
//! - `exp` and `log1p` are those of `exp_log`; the losses of four whole panels are one logarithm of a product,
//!   unless rows have counts;
//! - the Hessian is the sum of `b bᵀ` with `b = √σ'(m) ã`: one copy of the rows, scaled, is all that it needs;
//! - every sum has four parts, one for each place of a row in its panel, and takes its rows in order;
//! - at the end of the block the four parts are added as `(0 + 1) + (2 + 3)`.
//!
//! The same code is compiled for AVX2 with FMA, for NEON, and for any processor (see `lanes`); all give the same
//! bits. Without hardware for fused operations they are library calls, and a pass is slow.

// Loops over array indices of known length are what the compiler unrolls best; closures would be compiled
// without the features of the function that they are passed in, and each operation would be a call.
#![allow(clippy::needless_range_loop)]

mod exp_log;
pub(crate) mod lanes;
mod triangle;

use crate::statistics::{Order, triangle};
use exp_log::{joined, log_1p};
use lanes::{Lanes, Quad};
use triangle::Columns;

/// Panels that go through the loss together: enough independent chains to hide the latency of each.
const GROUP: usize = 4;

/// Bytes of a sub-block's scaled rows: they are read many times, and shall fit into the innermost cache.
const SUB_BLOCK_BYTES: usize = 20 * 1024;

/// Some rows of one client, in panels.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    /// `ã`, `n` quads a panel; rows of zeros fill the last one.
    pub(crate) values: &'a [Quad],
    /// How often each row counts, 0 for the rows that fill up; `None`: once.
    pub(crate) counts: Option<&'a [Quad]>,
    /// Rows, without those that fill up.
    pub(crate) n_rows: usize,
}

/// Memory that a thread needs while it sums up a block, kept from one block to the next.
#[derive(Default)]
pub(crate) struct Scratch {
    theta: Vec<Quad>,
    terms: Vec<Kept>,
    /// `√σ'(m) ã` of a sub-block, column by column.
    scaled: Vec<Quad>,
    gradient: Vec<Quad>,
    hessian: Vec<Quad>,
}

/// What one step of the kernel leaves to the next, for the rows of a panel.
#[derive(Clone, Copy, Default)]
struct Kept {
    margin: Quad,
    /// `exp(−|m|)`.
    e: Quad,
    /// `σ(−m)`, times the count.
    miss: Quad,
    /// `√σ'(m)`, times the root of the count.
    bend: Quad,
}

/// The loss is the sum of both.
struct Loss<V> {
    linear: V,
    log: V,
}

/// How many numbers the sums of a block are: the loss, then the gradient, then the Hessian's lower triangle.
pub(crate) fn n_sums(n: usize, order: Order) -> usize {
    match order {
        Order::Loss => 1,
        Order::Gradient => 1 + n,
        Order::Hessian => 1 + n + triangle(n),
    }
}

/// Sums up a block at `theta` into `sums`, which has the length that [`n_sums`] tells.
pub(crate) fn sum_block(
    block: Block<'_>,
    theta: &[f64],
    order: Order,
    scratch: &mut Scratch,
    sums: &mut [f64],
) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has just been asked whether it has what the function is compiled for.
        #[allow(unsafe_code)]
        return unsafe { sum_block_avx2(block, theta, order, scratch, sums) };
    }
    #[cfg(target_arch = "aarch64")]
    return sum_lanes::<lanes::neon::Neon>(block, theta, order, scratch, sums);
    #[cfg(not(target_arch = "aarch64"))]
    sum_lanes::<Quad>(block, theta, order, scratch, sums)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn sum_block_avx2(
    block: Block<'_>,
    theta: &[f64],
    order: Order,
    scratch: &mut Scratch,
    sums: &mut [f64],
) {
    sum_lanes::<lanes::avx2::Avx2>(block, theta, order, scratch, sums)
}

#[inline(always)]
fn sum_lanes<V: Lanes>(
    block: Block<'_>,
    theta: &[f64],
    order: Order,
    scratch: &mut Scratch,
    sums: &mut [f64],
) {
    let n = theta.len();
    let wanted = |least: Order, size: usize| if order >= least { size } else { 0 };
    let panels_at_once = (SUB_BLOCK_BYTES / (32 * n)).clamp(8, 32) / GROUP * GROUP;
    scratch.theta.clear();
    scratch.theta.extend(theta.iter().map(|&t| Quad([t; 4])));
    scratch.terms.resize(panels_at_once, Kept::default());
    refill(&mut scratch.gradient, wanted(Order::Gradient, n));
    refill(&mut scratch.hessian, wanted(Order::Hessian, triangle(n)));
    scratch.scaled.resize(wanted(Order::Hessian, panels_at_once * n), Quad::default());

    let mut loss = Loss { linear: V::splat(0.0), log: V::splat(0.0) };
    for (at, values) in block.values.chunks(panels_at_once * n).enumerate() {
        let first = at * panels_at_once;
        loss = match order {
            Order::Loss => add_sub_block::<V, 0>(block, values, first, scratch, loss),
            Order::Gradient => add_sub_block::<V, 1>(block, values, first, scratch, loss),
            Order::Hessian => {
                let loss = add_sub_block::<V, 2>(block, values, first, scratch, loss);
                let columns = Columns {
                    quads: &scratch.scaled,
                    stride: panels_at_once,
                    panels: values.len() / n,
                };
                triangle::add_products::<V>(columns, n, &mut scratch.hessian);
                loss
            }
        };
    }

    let mut kept = Quad::default();
    loss.linear.add(loss.log).store(&mut kept);
    sums[0] = kept.sum();
    let (gradient, hessian) = sums[1..].split_at_mut(wanted(Order::Gradient, n));
    gradient.iter_mut().zip(&scratch.gradient).for_each(|(sum, parts)| *sum = parts.sum());
    hessian.iter_mut().zip(&scratch.hessian).for_each(|(sum, parts)| *sum = parts.sum());
}

fn refill(sums: &mut Vec<Quad>, size: usize) {
    sums.clear();
    sums.resize(size, Quad::default());
}

/// Adds loss and gradient of some panels, and keeps their scaled rows where `ORDER` is that of a Hessian.
///
/// One step at a time for all panels: each step is a loop whose rounds do not wait for each other, so the
/// processor works on many at once.
#[inline(always)]
fn add_sub_block<V: Lanes, const ORDER: u8>(
    block: Block<'_>,
    values: &[Quad],
    first: usize,
    scratch: &mut Scratch,
    mut loss: Loss<V>,
) -> Loss<V> {
    let n = scratch.theta.len();
    let panels = values.len() / n;
    let whole = (block.n_rows / 4).saturating_sub(first).min(panels);
    let grouped = whole / GROUP * GROUP;
    let terms = &mut scratch.terms[..panels];

    for at in (0..grouped).step_by(GROUP) {
        let group = &values[at * n..(at + GROUP) * n];
        keep_margins::<V, GROUP>(group, &scratch.theta, &mut terms[at..at + GROUP]);
    }
    for at in grouped..panels {
        let panel = &values[at * n..(at + 1) * n];
        keep_margins::<V, 1>(panel, &scratch.theta, &mut terms[at..at + 1]);
    }
    for (at, kept) in terms.iter_mut().enumerate() {
        prefetch(values, (panels + at) * n, n);
        let terms = exp_log::terms(V::load(&kept.margin));
        let (mut linear, mut miss, mut bend) = (terms.linear, terms.miss, terms.bend);
        if let Some(counts) = block.counts {
            let count = V::load(&counts[first + at]);
            (linear, miss, bend) = (linear.mul(count), miss.mul(count), bend.mul(count.sqrt()));
        }
        loss.linear = loss.linear.add(linear);
        terms.e.store(&mut kept.e);
        miss.store(&mut kept.miss);
        bend.store(&mut kept.bend);
    }
    let together = if block.counts.is_some() { 0 } else { grouped };
    for group in terms[..together].as_chunks::<GROUP>().0 {
        let e = |p: usize| &group[p].e;
        let low = joined(V::load(e(0)), V::load(e(1)));
        let high = joined(V::load(e(2)), V::load(e(3)));
        loss.log = loss.log.add(log_1p(joined(low, high)));
    }
    for (at, kept) in terms.iter().enumerate().skip(together) {
        let count = match block.counts {
            Some(counts) => V::load(&counts[first + at]),
            None => V::load(&presence(block.n_rows - 4 * (first + at))),
        };
        loss.log = log_1p(V::load(&kept.e)).mul_add(count, loss.log);
    }

    if ORDER > 0 {
        let stride = if ORDER == 2 { scratch.scaled.len() / n } else { 0 };
        let sums = &mut scratch.gradient[..n];
        for at in (0..grouped).step_by(GROUP) {
            let (group, terms) = (&values[at * n..(at + GROUP) * n], &terms[at..at + GROUP]);
            let scaled = if ORDER == 2 { &mut scratch.scaled[at..] } else { &mut [] };
            add_gradient::<V, GROUP, ORDER>(group, terms, sums, scaled, stride);
        }
        for at in grouped..panels {
            let (panel, terms) = (&values[at * n..(at + 1) * n], &terms[at..at + 1]);
            let scaled = if ORDER == 2 { &mut scratch.scaled[at..] } else { &mut [] };
            add_gradient::<V, 1, ORDER>(panel, terms, sums, scaled, stride);
        }
    }
    loss
}

/// Asks for a panel that will be needed soon, behind the values at hand: the steps that do not read rows
/// are the time to fetch the next ones.
#[inline(always)]
fn prefetch(values: &[Quad], at: usize, n: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..n).step_by(2) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = values.as_ptr().wrapping_add(at + line);
        // SAFETY: a hint; it may name any address, even one that does not exist.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(address.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, at, n);
}

/// 1 for the first `rows` places of a panel, 0 for those that are filled up.
fn presence(rows: usize) -> Quad {
    Quad(std::array::from_fn(|l| if l < rows { 1.0 } else { 0.0 }))
}

/// Keeps the margins `ã·θ` of the rows of `G` panels.
#[inline(always)]
fn keep_margins<V: Lanes, const G: usize>(group: &[Quad], theta: &[Quad], kept: &mut [Kept]) {
    let n = theta.len();
    let mut panels = [&group[..n]; G];
    for p in 1..G {
        panels[p] = &group[p * n..(p + 1) * n];
    }
    let mut margins = [V::splat(0.0); G];
    for k in 0..n {
        let t = V::load(&theta[k]);
        for p in 0..G {
            margins[p] = V::load(&panels[p][k]).mul_add(t, margins[p]);
        }
    }
    for p in 0..G {
        margins[p].store(&mut kept[p].margin);
    }
}

/// Adds the gradient of `G` panels, and keeps their scaled rows for the Hessian.
#[inline(always)]
fn add_gradient<V: Lanes, const G: usize, const ORDER: u8>(
    group: &[Quad],
    kept: &[Kept],
    sums: &mut [Quad],
    scaled: &mut [Quad],
    stride: usize,
) {
    let n = sums.len();
    let mut panels = [&group[..n]; G];
    let (mut misses, mut bends) = ([V::splat(0.0); G], [V::splat(0.0); G]);
    for p in 0..G {
        panels[p] = &group[p * n..(p + 1) * n];
        misses[p] = V::load(&kept[p].miss);
        bends[p] = V::load(&kept[p].bend);
    }
    for k in 0..n {
        let mut total = V::load(&sums[k]);
        let column = if ORDER == 2 { &mut scaled[k * stride..][..G] } else { &mut [] };
        for p in 0..G {
            let a = V::load(&panels[p][k]);
            total = misses[p].sub_from(a, total);
            if ORDER == 2 {
                bends[p].mul(a).store(&mut column[p]);
            }
        }
        total.store(&mut sums[k]);
    }
}

#[cfg(test)]
mod tests;
