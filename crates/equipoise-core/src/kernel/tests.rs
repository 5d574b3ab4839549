//! The kernel against the formulas, row by row.

use proptest::prelude::*;

use super::*;
use crate::client_rows::add_outer_product;
use crate::logistic::{dot, loss_terms};
use crate::test_rows::random_rows;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sums_agree_with_the_formulas_for_any_length_and_number_of_rows(
        seed in 0u64..1_000_000,
        n_rows in 0usize..70,
        n_x in 1usize..30,
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
            gradient.iter_mut().zip(a).for_each(|(g, v)| *g -= y * terms.miss * v);
            add_outer_product(&mut hessian, terms.curvature, a);
        }
        let found = sum_rows(rows.values(), rows.labels(), &theta, Order::Hessian);
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-11 * (1.0 + b.abs());
        prop_assert!(close(found.loss, loss), "{} against {loss}", found.loss);
        prop_assert!(found.gradient.iter().zip(&gradient).all(|(a, b)| close(*a, *b)));
        prop_assert!(found.hessian.iter().zip(&hessian).all(|(a, b)| close(*a, *b)));
        // Both ways to compile it give the same bits.
        let portable = sum_rows_of_any_length(rows.values(), rows.labels(), &theta, Order::Hessian);
        prop_assert_eq!(found.loss.to_bits(), portable.loss.to_bits());
        prop_assert_eq!(found.hessian, portable.hessian);
        prop_assert_eq!(found.gradient, portable.gradient);
    }
}

#[test]
fn lower_orders_leave_out_what_is_not_asked_for() {
    let rows = random_rows(1, 20, 3, true);
    let theta = [0.1; 5];
    let loss = sum_rows(rows.values(), rows.labels(), &theta, Order::Loss);
    assert!(loss.gradient.is_empty() && loss.hessian.is_empty());
    let gradient = sum_rows(rows.values(), rows.labels(), &theta, Order::Gradient);
    assert!(gradient.gradient.len() == 5 && gradient.hessian.is_empty());
    assert_eq!(loss.loss.to_bits(), gradient.loss.to_bits());
}
