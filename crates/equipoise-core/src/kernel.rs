//! The innermost loop: loss, gradient and Hessian of a block of rows.
//!
//! Rows are stored as `ã = y·a`, with the label multiplied in: the margin is `ã·θ`, the gradient `−Σ σ(−m) ã`. Four rows
//! form a panel, which holds the first entry of all four, then the second, and so on. One register thus holds the same
//! entry of four rows, and no sum crosses lanes before the block ends. The result is defined to the last bit:
//!
//! - a margin adds the products of its entries in order, each fused;
//! - `exp` and `log1p` are those of `exp_log`. The losses of four full panels are one logarithm of a product;
//! - the Hessian is the sum of `b bᵀ` with `b = √σ'(m) ã`, so it needs one scaled copy of the rows;
//! - every sum has four lanes, one for each position in a panel, and adds its rows in order;
//! - at the end of the block the four lanes are added as `(0 + 1) + (2 + 3)`.
//!
//! The same code is compiled for AVX2 with FMA, for NEON, and for any processor (see `lanes`), always with the same
//! result. Without hardware for fused operations they are library calls, and a pass is slow.

// The compiler unrolls loops over array indices of known length best. Closures would be compiled without the target
// features of the function that they are passed to, and each operation would be a call.
#![allow(clippy::needless_range_loop)]

mod exp_log;
pub(crate) mod lanes;
mod outer_products;
mod prefetch;
mod triangle;

use crate::statistics::{Order, triangle};
use exp_log::{compound, log_1p};
use lanes::{Lanes, Quad, widest};
use prefetch::{Pace, Prefetch};

pub(crate) use outer_products::OuterProducts;

/// Panels processed together: enough independent chains to hide the latency of each.
const GROUP: usize = 4;

/// Row lengths up to which the scaled rows of 32 and of 16 panels fit into the L1 cache along with the other data,
/// because they are read many times. Sub-blocks of longer rows have 8 panels.
const MAX_FOR_32: usize = 20;
const MAX_FOR_16: usize = 40;

/// Rows of one client, in panels.
#[derive(Debug)]
pub(crate) struct Block {
    /// `ã`, `n` quads per panel. The last panel is padded with rows of zeros.
    pub(crate) values: Box<[Quad]>,
    /// Number of rows without padding.
    pub(crate) n_rows: usize,
}

/// Memory that a thread reuses from block to block.
#[derive(Default)]
pub(crate) struct Scratch {
    theta: Vec<Quad>,
    terms: Vec<PanelTerms>,
    /// `√σ'(m) ã` of a sub-block, column by column.
    scaled: Vec<Quad>,
    gradient: Vec<Quad>,
    hessian: Vec<Quad>,
}

/// Intermediate results for the rows of a panel.
#[derive(Clone, Copy, Default)]
struct PanelTerms {
    margin: Quad,
    /// `exp(−|m|)`.
    e: Quad,
    /// `σ(−m)`.
    residual: Quad,
    /// `√σ'(m)`.
    sqrt_curvature: Quad,
}

/// The two parts of the loss.
struct Loss<V> {
    linear: V,
    log: V,
}

/// Length of a block's sums: the loss, the gradient and the lower triangle of the Hessian.
pub(crate) fn n_sums(n: usize, order: Order) -> usize {
    match order {
        Order::Loss => 1,
        Order::Gradient => 1 + n,
        Order::Hessian => 1 + n + triangle(n),
    }
}

widest! {
    /// Writes the sums of a block at `theta` to `sums`, whose length is [`n_sums`].
    pub(crate) fn sum_block(
        block: &Block,
        theta: &[f64],
        order: Order,
        scratch: &mut Scratch,
        sums: &mut [f64],
    ) = sum_lanes
}

#[inline(always)]
fn sum_lanes<V: Lanes>(
    block: &Block,
    theta: &[f64],
    order: Order,
    scratch: &mut Scratch,
    sums: &mut [f64],
) {
    // The size of sub-blocks does not affect the result. Without vector instructions it hardly affects speed either, and one
    // size takes a third of the time to compile.
    match theta.len() {
        n if V::IN_REGISTERS && n <= MAX_FOR_32 => {
            sum_sub_blocks::<V, 32>(block, theta, order, scratch, sums);
        }
        n if V::IN_REGISTERS && n <= MAX_FOR_16 => {
            sum_sub_blocks::<V, 16>(block, theta, order, scratch, sums);
        }
        _ => sum_sub_blocks::<V, 8>(block, theta, order, scratch, sums),
    }
}

/// Sums in sub-blocks of `P` panels, a constant so that column accesses need no bounds check.
#[inline(always)]
fn sum_sub_blocks<V: Lanes, const P: usize>(
    block: &Block,
    theta: &[f64],
    order: Order,
    scratch: &mut Scratch,
    sums: &mut [f64],
) {
    let n = theta.len();
    let size_from = |lowest: Order, size: usize| if order >= lowest { size } else { 0 };
    scratch.theta.clear();
    scratch.theta.extend(theta.iter().map(|&t| Quad([t; 4])));
    scratch.terms.resize(P, PanelTerms::default());
    reset(&mut scratch.gradient, size_from(Order::Gradient, n));
    reset(&mut scratch.hessian, size_from(Order::Hessian, triangle(n)));
    scratch.scaled.resize(size_from(Order::Hessian, P * n), Quad::default());

    let pace = Pace::of::<P>(n, order);
    let mut loss = Loss { linear: V::splat(0.0), log: V::splat(0.0) };
    for (at, values) in block.values.chunks(P * n).enumerate() {
        let first = at * P;
        let mut prefetch = Prefetch::after(values, pace);
        let next = &mut prefetch;
        loss = match order {
            Order::Loss => add_sub_block::<V, P, 0>(block, values, first, scratch, loss, next),
            Order::Gradient => add_sub_block::<V, P, 1>(block, values, first, scratch, loss, next),
            Order::Hessian => {
                let loss = add_sub_block::<V, P, 2>(block, values, first, scratch, loss, next);
                let columns = scratch.scaled.as_chunks::<P>().0;
                let panels = (values.len() / n).min(P);
                triangle::add_products::<V, P>(columns, panels, &mut scratch.hessian, prefetch);
                loss
            }
        };
    }

    let mut total = Quad::default();
    loss.linear.add(loss.log).store(&mut total);
    sums[0] = total.sum();
    let (gradient, hessian) = sums[1..].split_at_mut(scratch.gradient.len());
    write_sums::<V>(&scratch.gradient, gradient);
    write_sums::<V>(&scratch.hessian, hessian);
}

/// Writes the sum of each quad's lanes.
#[inline(always)]
fn write_sums<V: Lanes>(quads: &[Quad], sums: &mut [f64]) {
    let (fours, rest) = quads.as_chunks::<4>();
    let (sums_of_fours, sums_of_rest) = sums.as_chunks_mut::<4>();
    let mut four_sums = Quad::default();
    for ([a, b, c, d], sums) in fours.iter().zip(sums_of_fours) {
        V::lane_sums([V::load(a), V::load(b), V::load(c), V::load(d)]).store(&mut four_sums);
        *sums = four_sums.0;
    }
    rest.iter().zip(sums_of_rest).for_each(|(quad, sum)| *sum = quad.sum());
}

fn reset(sums: &mut Vec<Quad>, size: usize) {
    sums.clear();
    sums.resize(size, Quad::default());
}

/// Adds loss and gradient of a sub-block and, if `ORDER` includes the Hessian, stores its scaled rows.
///
/// Each step is a loop over all panels whose iterations are independent, so the processor overlaps them.
#[inline(always)]
fn add_sub_block<V: Lanes, const P: usize, const ORDER: u8>(
    block: &Block,
    values: &[Quad],
    first: usize,
    scratch: &mut Scratch,
    mut loss: Loss<V>,
    prefetch: &mut Prefetch,
) -> Loss<V> {
    let n = scratch.theta.len();
    let panels = values.len() / n;
    let full = (block.n_rows / 4).saturating_sub(first).min(panels);
    let grouped = full / GROUP * GROUP;
    let terms = &mut scratch.terms[..panels];

    for at in (0..grouped).step_by(GROUP) {
        let group = &values[at * n..(at + GROUP) * n];
        store_margins::<V, GROUP>(group, &scratch.theta, &mut terms[at..at + GROUP]);
    }
    for at in grouped..panels {
        let panel = &values[at * n..(at + 1) * n];
        store_margins::<V, 1>(panel, &scratch.theta, &mut terms[at..at + 1]);
    }
    let (pairs, last) = terms.as_chunks_mut::<2>();
    for pair in pairs {
        prefetch.during_terms();
        loss.linear = store_terms::<V, 2>(pair, loss.linear);
    }
    if let [last] = last {
        loss.linear = store_terms::<V, 1>(std::array::from_mut(last), loss.linear);
    }
    for group in terms[..grouped].as_chunks::<GROUP>().0 {
        let e = |p: usize| &group[p].e;
        let low = compound(V::load(e(0)), V::load(e(1)));
        let high = compound(V::load(e(2)), V::load(e(3)));
        loss.log = loss.log.add(log_1p(compound(low, high)));
    }
    for (at, terms) in terms.iter().enumerate().skip(grouped) {
        let present = V::load(&presence(block.n_rows - 4 * (first + at)));
        loss.log = log_1p(V::load(&terms.e)).mul_add(present, loss.log);
    }

    if ORDER > 0 {
        let sums = &mut scratch.gradient[..n];
        let columns = scratch.scaled.as_chunks_mut::<P>().0;
        for at in (0..grouped).step_by(GROUP) {
            let (group, terms) = (&values[at * n..(at + GROUP) * n], &terms[at..at + GROUP]);
            add_gradient::<V, P, GROUP, ORDER>(group, terms, sums, columns, at);
        }
        for at in grouped..panels {
            let (panel, terms) = (&values[at * n..(at + 1) * n], &terms[at..at + 1]);
            add_gradient::<V, P, 1, ORDER>(panel, terms, sums, columns, at);
        }
    }
    loss
}

/// 1 for the first `rows` rows of a panel, 0 for padding.
fn presence(rows: usize) -> Quad {
    Quad(std::array::from_fn(|l| if l < rows { 1.0 } else { 0.0 }))
}

/// Stores the margins `ã·θ` of the rows of `G` panels.
#[inline(always)]
fn store_margins<V: Lanes, const G: usize>(
    group: &[Quad],
    theta: &[Quad],
    terms: &mut [PanelTerms],
) {
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
        margins[p].store(&mut terms[p].margin);
    }
}

/// Stores the terms that follow from the margins of `G` panels, and adds the linear parts of their losses. Two panels at a
/// time share the loads of constants.
#[inline(always)]
fn store_terms<V: Lanes, const G: usize>(panels: &mut [PanelTerms; G], mut linear_sum: V) -> V {
    for p in 0..G {
        let terms = exp_log::terms(V::load(&panels[p].margin));
        linear_sum = linear_sum.add(terms.linear);
        terms.e.store(&mut panels[p].e);
        terms.residual.store(&mut panels[p].residual);
        terms.sqrt_curvature.store(&mut panels[p].sqrt_curvature);
    }
    linear_sum
}

/// Adds the gradient of the `G` panels from `at` on, and stores their scaled rows for the Hessian in `columns`.
#[inline(always)]
fn add_gradient<V: Lanes, const P: usize, const G: usize, const ORDER: u8>(
    group: &[Quad],
    terms: &[PanelTerms],
    sums: &mut [Quad],
    columns: &mut [[Quad; P]],
    at: usize,
) {
    let n = sums.len();
    let mut panels = [&group[..n]; G];
    let (mut residuals, mut scales) = ([V::splat(0.0); G], [V::splat(0.0); G]);
    for p in 0..G {
        panels[p] = &group[p * n..(p + 1) * n];
        residuals[p] = V::load(&terms[p].residual);
        scales[p] = V::load(&terms[p].sqrt_curvature);
    }
    let at = at.min(P - G);
    let columns = if ORDER == 2 { &mut columns[..n] } else { columns };
    for k in 0..n {
        let mut total = V::load(&sums[k]);
        for p in 0..G {
            let a = V::load(&panels[p][k]);
            total = residuals[p].neg_mul_add(a, total);
            if ORDER == 2 {
                scales[p].mul(a).store(&mut columns[k][at + p]);
            }
        }
        total.store(&mut sums[k]);
    }
}

#[cfg(test)]
mod tests;
