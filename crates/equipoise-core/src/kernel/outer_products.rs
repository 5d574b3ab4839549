//! Sums of scaled outer products `Σ_r s_r a_r a_rᵀ` of rows that are not packed: several rows at a time, so that each
//! entry of the sum is loaded and stored once for all of them.
//!
//! An entry adds `(s_r a_ri) a_rj` row after row, each product and each sum rounded, as
//! [`add_outer_product`](crate::linalg::add_outer_product) does.

use super::lanes::{Lanes, Quad, widest};

/// Rows that are added together.
const ROWS: usize = 4;

/// The lower triangle of a sum of outer products.
pub(crate) struct OuterProducts {
    n: usize,
    /// Row by row, each up to the quad with its diagonal entry.
    sums: Vec<Quad>,
    waiting: Waiting,
}

/// Rows that have not been added yet.
struct Waiting {
    count: usize,
    scales: [f64; ROWS],
    /// Each row in as many quads as it needs, the last one filled up with zeros.
    rows: Vec<Quad>,
}

impl OuterProducts {
    /// Without any rows of `n` entries.
    pub(crate) fn new(n: usize) -> Self {
        let quads = (0..n).map(|i| i / 4 + 1).sum();
        let rows = vec![Quad::default(); ROWS * n.div_ceil(4)];
        Self {
            n,
            sums: vec![Quad::default(); quads],
            waiting: Waiting { count: 0, scales: [0.0; ROWS], rows },
        }
    }

    /// Adds `scale a aᵀ`.
    pub(crate) fn add(&mut self, scale: f64, a: &[f64]) {
        let waiting = &mut self.waiting;
        waiting.scales[waiting.count] = scale;
        let width = self.n.div_ceil(4);
        let row = &mut waiting.rows[waiting.count * width..][..width];
        let (fours, rest) = a.as_chunks::<4>();
        row.iter_mut().zip(fours).for_each(|(quad, four)| quad.0 = *four);
        if let Some(last) = row.get_mut(fours.len()) {
            last.0[..rest.len()].copy_from_slice(rest);
        }
        waiting.count += 1;
        if waiting.count == ROWS {
            self.add_waiting();
        }
    }

    /// The lower triangle, row by row.
    pub(crate) fn finish(mut self) -> Vec<f64> {
        self.add_waiting();
        let mut triangle = Vec::with_capacity(self.n * (self.n + 1) / 2);
        let mut rest = &self.sums[..];
        for i in 0..self.n {
            let (row, after) = rest.split_at(i / 4 + 1);
            triangle.extend(row.iter().flat_map(|quad| quad.0).take(i + 1));
            rest = after;
        }
        triangle
    }

    fn add_waiting(&mut self) {
        add_rows(&self.waiting, self.n, &mut self.sums);
        self.waiting.count = 0;
    }
}

widest! {
    fn add_rows(waiting: &Waiting, n: usize, sums: &mut [Quad]) = add_rows_with
}

#[inline(always)]
fn add_rows_with<V: Lanes>(waiting: &Waiting, n: usize, sums: &mut [Quad]) {
    let width = n.div_ceil(4);
    if waiting.count == ROWS {
        add_some::<V, ROWS>(&waiting.rows, &waiting.scales, n, sums);
    } else {
        for r in 0..waiting.count {
            add_some::<V, 1>(&waiting.rows[r * width..], &waiting.scales[r..], n, sums);
        }
    }
}

#[inline(always)]
fn add_some<V: Lanes, const R: usize>(rows: &[Quad], scales: &[f64], n: usize, sums: &mut [Quad]) {
    let width = n.div_ceil(4);
    let mut own = [&rows[..width]; R];
    for r in 1..R {
        own[r] = &rows[r * width..][..width];
    }
    let mut start = 0;
    for i in 0..n {
        let mut scaled = [V::splat(0.0); R];
        for r in 0..R {
            scaled[r] = V::splat(scales[r] * own[r][i / 4].0[i % 4]);
        }
        let row = &mut sums[start..][..i / 4 + 1];
        for q in 0..row.len() {
            let mut sum = V::load(&row[q]);
            for r in 0..R {
                sum = sum.add(scaled[r].mul(V::load(&own[r][q])));
            }
            sum.store(&mut row[q]);
        }
        start += i / 4 + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::add_outer_product;
    use crate::statistics::triangle;

    #[test]
    fn sums_are_those_of_adding_row_after_row_to_the_last_bit() {
        for n in [1, 3, 4, 5, 11, 43] {
            for count in [0, 1, 3, 4, 9, 130] {
                let value = |r: usize, i: usize| ((r * 57 + i * 13) as f64 * 0.37).sin();
                let scale = |r: usize| (r as f64 * 0.9).cos();
                let mut expected = vec![0.0; triangle(n)];
                let mut products = OuterProducts::new(n);
                for r in 0..count {
                    let row: Vec<f64> = (0..n).map(|i| value(r, i)).collect();
                    add_outer_product(&mut expected, scale(r), &row);
                    products.add(scale(r), &row);
                }
                assert_eq!(products.finish(), expected, "{count} rows of {n}");
            }
        }
    }

    #[test]
    fn the_widest_lanes_agree_with_plain_arithmetic() {
        let n = 14;
        let value = |r: usize| ((r * 7) as f64 * 0.61).sin();
        let rows = (0..ROWS * 4).map(|q| Quad(std::array::from_fn(|l| value(4 * q + l))));
        let waiting = Waiting { count: ROWS, scales: [0.3, -1.1, 2.0, 0.7], rows: rows.collect() };
        let quads = (0..n).map(|i| i / 4 + 1).sum();
        let (mut wide, mut plain) = (vec![Quad([0.1; 4]); quads], vec![Quad([0.1; 4]); quads]);
        add_rows(&waiting, n, &mut wide);
        add_rows_with::<Quad>(&waiting, n, &mut plain);
        assert_eq!(wide, plain);
    }
}
