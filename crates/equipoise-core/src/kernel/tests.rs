//! The kernel against row-by-row formulas, and its implementations against each other.

use proptest::prelude::*;

use super::*;
use crate::linalg::add_outer_product;
use crate::logistic::{dot, loss_terms};
use crate::rows::Rows;
use crate::test_rows::random_rows;

/// The rows in panels.
fn packed(rows: &Rows) -> Block {
    let n = rows.layout().n();
    let mut values = vec![Quad::default(); rows.len().div_ceil(4) * n].into_boxed_slice();
    for i in 0..rows.len() {
        for (k, v) in rows.a(i).iter().enumerate() {
            values[i / 4 * n + k].0[i % 4] = rows.labels()[i] * v;
        }
    }
    Block { values, n_rows: rows.len() }
}

fn sums(block: &Block, theta: &[f64], order: Order) -> Vec<f64> {
    let mut sums = vec![0.0; n_sums(theta.len(), order)];
    sum_block(block, theta, order, &mut Scratch::default(), &mut sums);
    sums
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn sums_agree_with_the_formulas_for_any_size(
        seed in 0u64..1_000_000,
        n_rows in 0usize..150,
        n_x in prop_oneof![1usize..12, 12usize..60],
        intercept: bool,
        scale in prop_oneof![Just(1.0), Just(30.0), Just(1e4)],
    ) {
        let rows = random_rows(seed, n_rows, n_x, intercept);
        let n = rows.layout().n();
        let theta: Vec<f64> =
            (0..n).map(|k| scale * ((seed as f64 + k as f64) * 0.7).sin()).collect();
        let (mut loss, mut gradient, mut hessian) = (0.0, vec![0.0; n], vec![0.0; triangle(n)]);
        for i in 0..n_rows {
            let (a, y) = (rows.a(i), rows.labels()[i]);
            let margin = y * dot(a, &theta);
            let terms = loss_terms(margin);
            loss += (-margin).max(0.0) + (-margin.abs()).exp().ln_1p();
            gradient.iter_mut().zip(a).for_each(|(g, v)| *g -= y * terms.residual * v);
            add_outer_product(&mut hessian, terms.curvature, a);
        }
        let expected: Vec<f64> = [vec![loss], gradient, hessian].concat();

        let block = packed(&rows);
        let found = sums(&block, &theta, Order::Hessian);
        prop_assert_eq!(found.len(), expected.len());
        for (f, e) in found.iter().zip(&expected) {
            prop_assert!((f - e).abs() <= 1e-11 * (1.0 + e.abs()), "{f} against {e}");
        }
        // Every implementation gives the same bits.
        for order in [Order::Loss, Order::Gradient, Order::Hessian] {
            let mut portable = vec![0.0; n_sums(n, order)];
            sum_lanes::<Quad>(&block, &theta, order, &mut Scratch::default(), &mut portable);
            for (f, p) in sums(&block, &theta, order).iter().zip(&portable) {
                prop_assert_eq!(f.to_bits(), p.to_bits());
            }
        }
    }
}

#[test]
fn lower_orders_give_a_prefix_of_the_same_bits() {
    let rows = random_rows(1, 77, 3, true);
    let block = packed(&rows);
    let all = sums(&block, &[0.1; 5], Order::Hessian);
    assert_eq!(all.len(), 21);
    assert_eq!(sums(&block, &[0.1; 5], Order::Gradient), all[..6]);
    assert_eq!(sums(&block, &[0.1; 5], Order::Loss), all[..1]);
}
