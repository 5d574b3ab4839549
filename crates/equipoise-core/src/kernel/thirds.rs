//! The sums of third derivatives: `Σ_r φ'''(m_r) ã_r ⊗ ã_r ⊗ ã_r`, of which each entry is kept once.
//!
//! With `φ'' = σ'` and `φ''' = −tanh(m/2) φ''`, that is the sum of `−tanh(m/2) b_i b_j ã_k`, where `b` are the
//! scaled rows that the Hessian is made of. Counts are in `b` already. For each `i`, the entries with `k ≤ j ≤ i` are the
//! lower triangle of a product: that of the rows `−tanh(m/2) b_i b_j` with the rows `ã_k`.

use super::Kept;
use super::ahead::Ahead;
use super::lanes::{Lanes, Quad};
use super::triangle::{self, Factors};
use crate::statistics::{tetrahedron, triangle as size_of_triangle};

/// Memory for the factors, kept from one sub-block to the next: a column of quads for each entry of a row.
#[derive(Default)]
pub(super) struct ThirdsScratch {
    /// `−tanh(m/2) b_i b_j`, for all `j`.
    products: Vec<Quad>,
    /// `ã`.
    plain: Vec<Quad>,
}

/// Adds the third derivatives of some panels to `sums`: for each `i`, for each `j` up to it, all `k` up to `j`.
#[inline(always)]
pub(super) fn add_thirds<V: Lanes, const P: usize>(
    values: &[Quad],
    terms: &[Kept],
    columns: &[[Quad; P]],
    scratch: &mut ThirdsScratch,
    sums: &mut [Quad],
) {
    let n = columns.len();
    scratch.products.resize(P * n, Quad::default());
    scratch.plain.resize(P * n, Quad::default());
    let products = scratch.products.as_chunks_mut::<P>().0;
    let plain = scratch.plain.as_chunks_mut::<P>().0;
    for (p, panel) in values.chunks_exact(n).enumerate() {
        for k in 0..n {
            plain[k][p] = panel[k];
        }
    }
    let mut slopes = [Quad::default(); P];
    for (slope, kept) in slopes.iter_mut().zip(terms) {
        minus_tanh_of_half::<V>(kept).store(slope);
    }
    for i in 0..n {
        let mut firsts = slopes;
        for p in 0..P {
            V::load(&slopes[p]).mul(V::load(&columns[i][p])).store(&mut firsts[p]);
        }
        for j in 0..=i {
            for p in 0..P {
                V::load(&firsts[p]).mul(V::load(&columns[j][p])).store(&mut products[j][p]);
            }
        }
        let sums = &mut sums[tetrahedron(i)..][..size_of_triangle(i + 1)];
        let factors = Factors::<P, false> { down: &products[..=i], along: &plain[..=i] };
        triangle::add_products::<V, P, false>(factors, terms.len(), sums, Ahead::nothing());
    }
}

/// `−tanh(m/2)`, from `e = exp(−|m|)`: `(1 − e) / (1 + e)` with the sign that `m` has not.
#[inline(always)]
fn minus_tanh_of_half<V: Lanes>(kept: &Kept) -> V {
    let (one, e) = (V::splat(1.0), V::load(&kept.e));
    let size = one.sub(e).div(one.add(e));
    V::load(&kept.margin).by_sign(size, V::splat(0.0).sub(size))
}
