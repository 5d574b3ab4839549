//! Products with many vectors of one length, one per client, such as the columns of a Jacobian. They are packed four to a
//! panel, like rows.
//!
//! As for rows, every sum has four lanes, one for each position in a panel.

use super::lanes::{Lanes, Quad, widest};
use super::prefetch::Prefetch;
use super::triangle;
use super::{GROUP, write_sums};
use crate::statistics::triangle as size_of_triangle;

/// Panels whose squares are added together.
const PANELS: usize = 16;

/// Vectors `v_c`, packed.
pub(crate) struct Vectors {
    n: usize,
    count: usize,
    panels: Vec<Quad>,
}

impl Vectors {
    /// From consecutive vectors of `n` entries.
    pub(crate) fn pack(values: &[f64], n: usize) -> Self {
        let count = values.len() / n;
        let mut panels = vec![Quad::default(); count.div_ceil(4) * n];
        for (c, vector) in values.chunks_exact(n).enumerate() {
            let panel = &mut panels[c / 4 * n..][..n];
            panel.iter_mut().zip(vector).for_each(|(quad, v)| quad.0[c % 4] = *v);
        }
        Self { n, count, panels }
    }

    /// The length of each vector.
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    /// `v_c · x` for each `c`.
    pub(crate) fn products(&self, x: &[f64]) -> Vec<f64> {
        let x: Vec<Quad> = x.iter().map(|&x| Quad([x; 4])).collect();
        let mut found = vec![0.0; self.count];
        products(self, &x, &mut found);
        found
    }

    /// `Σ_c scale_c v_c`.
    pub(crate) fn combination(&self, scales: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.n];
        combination(self, &in_panels(scales), &mut sums);
        sums
    }

    /// The lower triangle of `Σ_c scale_c v_c v_cᵀ`, row by row. No `scale_c` may be negative.
    pub(crate) fn squares(&self, scales: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; size_of_triangle(self.n)];
        squares(self, &in_panels(scales), &mut sums);
        sums
    }
}

fn in_panels(scales: &[f64]) -> Vec<Quad> {
    let quad = |four: &[f64]| Quad(std::array::from_fn(|l| four.get(l).copied().unwrap_or(0.0)));
    scales.chunks(4).map(quad).collect()
}

widest! {
    fn products(vectors: &Vectors, x: &[Quad], products: &mut [f64]) = products_of
}

#[inline(always)]
fn products_of<V: Lanes>(vectors: &Vectors, x: &[Quad], products: &mut [f64]) {
    let n = vectors.n;
    let groups = vectors.panels.chunks(GROUP * n);
    for (group, products) in groups.zip(products.chunks_mut(4 * GROUP)) {
        if products.len() == 4 * GROUP {
            multiply::<V, GROUP>(group, x, products);
        } else {
            for (panel, products) in group.chunks_exact(n).zip(products.chunks_mut(4)) {
                multiply::<V, 1>(panel, x, products);
            }
        }
    }
}

/// The products of the vectors of `G` panels, the last of which may be padded.
#[inline(always)]
fn multiply<V: Lanes, const G: usize>(group: &[Quad], x: &[Quad], products: &mut [f64]) {
    let n = x.len();
    let mut sums = [V::splat(0.0); G];
    for k in 0..n {
        let x = V::load(&x[k]);
        for p in 0..G {
            sums[p] = V::load(&group[p * n + k]).mul_add(x, sums[p]);
        }
    }
    let mut quad = Quad::default();
    for (sum, products) in sums.into_iter().zip(products.chunks_mut(4)) {
        sum.store(&mut quad);
        products.copy_from_slice(&quad.0[..products.len()]);
    }
}

widest! {
    fn combination(vectors: &Vectors, scales: &[Quad], sums: &mut [f64]) = combination_of
}

#[inline(always)]
fn combination_of<V: Lanes>(vectors: &Vectors, scales: &[Quad], sums: &mut [f64]) {
    let n = vectors.n;
    let mut parts = vec![Quad::default(); n];
    let groups = vectors.panels.chunks(GROUP * n);
    for (group, scales) in groups.zip(scales.chunks(GROUP)) {
        if let Ok(scales) = <&[Quad; GROUP]>::try_from(scales) {
            combine::<V, GROUP>(group, scales, &mut parts);
        } else {
            for (panel, scale) in group.chunks_exact(n).zip(scales) {
                combine::<V, 1>(panel, std::array::from_ref(scale), &mut parts);
            }
        }
    }
    write_sums::<V>(&parts, sums);
}

#[inline(always)]
fn combine<V: Lanes, const G: usize>(group: &[Quad], scales: &[Quad; G], parts: &mut [Quad]) {
    let n = parts.len();
    let mut factors = [V::splat(0.0); G];
    for p in 0..G {
        factors[p] = V::load(&scales[p]);
    }
    for k in 0..n {
        let mut part = V::load(&parts[k]);
        for p in 0..G {
            part = factors[p].mul_add(V::load(&group[p * n + k]), part);
        }
        part.store(&mut parts[k]);
    }
}

widest! {
    fn squares(vectors: &Vectors, scales: &[Quad], sums: &mut [f64]) = squares_of
}

#[inline(always)]
fn squares_of<V: Lanes>(vectors: &Vectors, scales: &[Quad], sums: &mut [f64]) {
    let n = vectors.n;
    let mut columns = vec![[Quad::default(); PANELS]; n];
    let mut parts = vec![Quad::default(); size_of_triangle(n)];
    let groups = vectors.panels.chunks(PANELS * n);
    for (group, scales) in groups.zip(scales.chunks(PANELS)) {
        for (p, (panel, scale)) in group.chunks_exact(n).zip(scales).enumerate() {
            let root = V::load(scale).sqrt();
            for (column, v) in columns.iter_mut().zip(panel) {
                root.mul(V::load(v)).store(&mut column[p]);
            }
        }
        triangle::add_products::<V, PANELS>(&columns, scales.len(), &mut parts, Prefetch::none());
    }
    write_sums::<V>(&parts, sums);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::add_outer_product;
    use crate::logistic::dot;
    use proptest::prelude::*;

    fn close(found: &[f64], expected: &[f64]) -> bool {
        let pairs = found.iter().zip(expected);
        found.len() == expected.len() && pairs.into_iter().all(|(f, e)| (f - e).abs() < 1e-12)
    }

    proptest! {
        /// With and without padding of panels and groups.
        #[test]
        fn sums_and_products_agree_with_plain_loops(n in 1usize..21, count in 1usize..150, seed in 0u32..1000) {
            let number = |at: usize| ((at as f64 + f64::from(seed)) * 0.7).sin();
            let values: Vec<f64> = (0..n * count).map(number).collect();
            let x: Vec<f64> = (0..n).map(|k| number(3 * k)).collect();
            let scales: Vec<f64> = (0..count).map(|c| number(5 * c).abs() / count as f64).collect();
            let vectors = Vectors::pack(&values, n);

            let products: Vec<f64> = values.chunks(n).map(|v| dot(v, &x)).collect();
            let (mut sum, mut squares) = (vec![0.0; n], vec![0.0; size_of_triangle(n)]);
            for (v, scale) in values.chunks(n).zip(&scales) {
                sum.iter_mut().zip(v).for_each(|(s, v)| *s += scale * v);
                add_outer_product(&mut squares, *scale, v);
            }
            prop_assert!(close(&vectors.products(&x), &products));
            prop_assert!(close(&vectors.combination(&scales), &sum));
            prop_assert!(close(&vectors.squares(&scales), &squares));
        }
    }
}
