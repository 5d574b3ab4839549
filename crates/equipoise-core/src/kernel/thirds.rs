//! The sums of third derivatives: `Σ_r φ'''(m_r) ã_r ⊗ ã_r ⊗ ã_r`, of which each entry is kept once.
//!
//! With `φ'' = σ'` and `φ''' = −tanh(m/2) φ''`, that is the sum of `−tanh(m/2) ã_k b_i b_j`, where `b` are the
//! scaled rows that the Hessian is made of. Counts are in `b` already. These sums are wanted rarely, so the code is
//! short rather than tiled; as elsewhere, each of four sums takes its rows in order.

use super::lanes::{Lanes, Quad};
use super::{GROUP, Kept};

/// Adds the third derivatives of some panels to `sums`: for each `i`, for each `j` up to it, all `k` up to `j`.
#[inline(always)]
pub(super) fn add_thirds<V: Lanes, const P: usize>(
    values: &[Quad],
    terms: &[Kept],
    columns: &[[Quad; P]],
    sums: &mut [Quad],
) {
    let n = columns.len();
    let grouped = terms.len() / GROUP * GROUP;
    for at in (0..grouped).step_by(GROUP) {
        let (group, terms) = (&values[at * n..(at + GROUP) * n], &terms[at..at + GROUP]);
        add_group::<V, P, GROUP>(group, terms, columns, at, sums);
    }
    for at in grouped..terms.len() {
        let (panel, terms) = (&values[at * n..(at + 1) * n], &terms[at..at + 1]);
        add_group::<V, P, 1>(panel, terms, columns, at, sums);
    }
}

#[inline(always)]
fn add_group<V: Lanes, const P: usize, const G: usize>(
    group: &[Quad],
    kept: &[Kept],
    columns: &[[Quad; P]],
    at: usize,
    sums: &mut [Quad],
) {
    let n = columns.len();
    let at = at.min(P - G);
    let mut panels = [&group[..n]; G];
    let mut slopes = [V::splat(0.0); G];
    for p in 0..G {
        panels[p] = &group[p * n..(p + 1) * n];
        slopes[p] = minus_tanh_of_half::<V>(&kept[p]);
    }
    let mut start = 0;
    for i in 0..n {
        for j in 0..=i {
            let mut products = [V::splat(0.0); G];
            for p in 0..G {
                let (a, b) = (V::load(&columns[i][at + p]), V::load(&columns[j][at + p]));
                products[p] = slopes[p].mul(a).mul(b);
            }
            // All of one length, which the compiler knows: no access below needs to be checked.
            let length = j + 1;
            let row = &mut sums[start..][..length];
            let mut firsts = [&panels[0][..length]; G];
            for p in 1..G {
                firsts[p] = &panels[p][..length];
            }
            for k in 0..length {
                let mut total = V::load(&row[k]);
                for p in 0..G {
                    total = products[p].mul_add(V::load(&firsts[p][k]), total);
                }
                total.store(&mut row[k]);
            }
            start += length;
        }
    }
}

/// `−tanh(m/2)`, from `e = exp(−|m|)`: `(1 − e) / (1 + e)` with the sign that `m` has not.
#[inline(always)]
fn minus_tanh_of_half<V: Lanes>(kept: &Kept) -> V {
    let (one, e) = (V::splat(1.0), V::load(&kept.e));
    let size = one.sub(e).div(one.add(e));
    V::load(&kept.margin).by_sign(size, V::splat(0.0).sub(size))
}
