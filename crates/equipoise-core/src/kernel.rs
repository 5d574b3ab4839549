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

mod ahead;
mod exp_log;
pub(crate) mod lanes;
mod triangle;
mod vectors;

use crate::statistics::{Order, triangle};
use ahead::{Ahead, Pace};
use exp_log::{joined, log_1p};
use lanes::{Lanes, Quad, widest};

pub(crate) use vectors::Vectors;

/// Panels that go through the loss together: enough independent chains to hide the latency of each.
const GROUP: usize = 4;

/// Most entries of a row with which the scaled rows of 32 panels, and those of 16, fit into the innermost cache beside
/// what else is needed: they are read many times. Sub-blocks of longer rows have 8 panels.
const MAX_FOR_32: usize = 20;
const MAX_FOR_16: usize = 40;

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

widest! {
    /// Sums up a block at `theta` into `sums`, which has the length that [`n_sums`] tells.
    pub(crate) fn sum_block(
        block: Block<'_>,
        theta: &[f64],
        order: Order,
        scratch: &mut Scratch,
        sums: &mut [f64],
    ) = sum_lanes
}

#[inline(always)]
fn sum_lanes<V: Lanes>(
    block: Block<'_>,
    theta: &[f64],
    order: Order,
    scratch: &mut Scratch,
    sums: &mut [f64],
) {
    match theta.len() {
        n if n <= MAX_FOR_32 => sum_sub_blocks::<V, 32>(block, theta, order, scratch, sums),
        n if n <= MAX_FOR_16 => sum_sub_blocks::<V, 16>(block, theta, order, scratch, sums),
        _ => sum_sub_blocks::<V, 8>(block, theta, order, scratch, sums),
    }
}

/// In sub-blocks of `P` panels: a known number, so that no access to their columns needs to be checked.
#[inline(always)]
fn sum_sub_blocks<V: Lanes, const P: usize>(
    block: Block<'_>,
    theta: &[f64],
    order: Order,
    scratch: &mut Scratch,
    sums: &mut [f64],
) {
    let n = theta.len();
    let wanted = |least: Order, size: usize| if order >= least { size } else { 0 };
    scratch.theta.clear();
    scratch.theta.extend(theta.iter().map(|&t| Quad([t; 4])));
    scratch.terms.resize(P, Kept::default());
    refill(&mut scratch.gradient, wanted(Order::Gradient, n));
    refill(&mut scratch.hessian, wanted(Order::Hessian, triangle(n)));
    scratch.scaled.resize(wanted(Order::Hessian, P * n), Quad::default());

    let pace = Pace::of::<P>(n, order);
    let mut loss = Loss { linear: V::splat(0.0), log: V::splat(0.0) };
    for (at, values) in block.values.chunks(P * n).enumerate() {
        let first = at * P;
        let mut ahead = Ahead::of(values, pace);
        let next = &mut ahead;
        loss = match order {
            Order::Loss => add_sub_block::<V, P, 0>(block, values, first, scratch, loss, next),
            Order::Gradient => add_sub_block::<V, P, 1>(block, values, first, scratch, loss, next),
            Order::Hessian => {
                let loss = add_sub_block::<V, P, 2>(block, values, first, scratch, loss, next);
                let columns = scratch.scaled.as_chunks::<P>().0;
                let panels = (values.len() / n).min(P);
                triangle::add_products::<V, P>(columns, panels, &mut scratch.hessian, ahead);
                loss
            }
        };
    }

    let mut kept = Quad::default();
    loss.linear.add(loss.log).store(&mut kept);
    sums[0] = kept.sum();
    let (gradient, hessian) = sums[1..].split_at_mut(scratch.gradient.len());
    write_sums::<V>(&scratch.gradient, gradient);
    write_sums::<V>(&scratch.hessian, hessian);
}

/// Writes the sums of quads, each of its four parts.
#[inline(always)]
fn write_sums<V: Lanes>(parts: &[Quad], sums: &mut [f64]) {
    let (fours, rest) = parts.as_chunks::<4>();
    let (sums_of_fours, sums_of_rest) = sums.as_chunks_mut::<4>();
    let mut kept = Quad::default();
    for (four, sums) in fours.iter().zip(sums_of_fours) {
        let [a, b, c, d] = four;
        V::sums([V::load(a), V::load(b), V::load(c), V::load(d)]).store(&mut kept);
        *sums = kept.0;
    }
    rest.iter().zip(sums_of_rest).for_each(|(parts, sum)| *sum = parts.sum());
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
fn add_sub_block<V: Lanes, const P: usize, const ORDER: u8>(
    block: Block<'_>,
    values: &[Quad],
    first: usize,
    scratch: &mut Scratch,
    mut loss: Loss<V>,
    ahead: &mut Ahead,
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
    let (pairs, last) = terms.as_chunks_mut::<2>();
    for (at, pair) in pairs.iter_mut().enumerate() {
        ahead.fetch_during_terms();
        loss.linear = keep_terms::<V, 2>(block.counts, first + 2 * at, pair, loss.linear);
    }
    if let [last] = last {
        let at = first + panels - 1;
        loss.linear = keep_terms::<V, 1>(block.counts, at, std::array::from_mut(last), loss.linear);
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

/// Keeps what follows from the margins of `G` panels, and adds the linear parts of their losses. Two at a time share the
/// loads of constants.
#[inline(always)]
fn keep_terms<V: Lanes, const G: usize>(
    counts: Option<&[Quad]>,
    at: usize,
    kept: &mut [Kept; G],
    mut linear_sum: V,
) -> V {
    for p in 0..G {
        let terms = exp_log::terms(V::load(&kept[p].margin));
        let (mut linear, mut miss, mut bend) = (terms.linear, terms.miss, terms.bend);
        if let Some(counts) = counts {
            let count = V::load(&counts[at + p]);
            (linear, miss, bend) = (linear.mul(count), miss.mul(count), bend.mul(count.sqrt()));
        }
        linear_sum = linear_sum.add(linear);
        terms.e.store(&mut kept[p].e);
        miss.store(&mut kept[p].miss);
        bend.store(&mut kept[p].bend);
    }
    linear_sum
}

/// Adds the gradient of the `G` panels that begin at `at`, and keeps their scaled rows for the Hessian, in `columns`.
#[inline(always)]
fn add_gradient<V: Lanes, const P: usize, const G: usize, const ORDER: u8>(
    group: &[Quad],
    kept: &[Kept],
    sums: &mut [Quad],
    columns: &mut [[Quad; P]],
    at: usize,
) {
    let n = sums.len();
    let mut panels = [&group[..n]; G];
    let (mut misses, mut bends) = ([V::splat(0.0); G], [V::splat(0.0); G]);
    for p in 0..G {
        panels[p] = &group[p * n..(p + 1) * n];
        misses[p] = V::load(&kept[p].miss);
        bends[p] = V::load(&kept[p].bend);
    }
    let at = at.min(P - G);
    let columns = if ORDER == 2 { &mut columns[..n] } else { columns };
    for k in 0..n {
        let mut total = V::load(&sums[k]);
        for p in 0..G {
            let a = V::load(&panels[p][k]);
            total = misses[p].sub_from(a, total);
            if ORDER == 2 {
                bends[p].mul(a).store(&mut columns[k][at + p]);
            }
        }
        total.store(&mut sums[k]);
    }
}

#[cfg(test)]
mod tests;
