//! Expansions against passes over the rows: off by no more than is said, and by as much as the order says.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;
use crate::linalg::norm;
use crate::logistic::dot;
use crate::packed_rows::PackedRows;
use crate::rows::Rows;
use crate::test_rows::random_rows;

/// Two clients; the second one's rows come several times each, so that they have counts.
fn clients(seed: u64, n_x: usize) -> Vec<Rows> {
    let (some, few) = (random_rows(seed, 90, n_x, true), random_rows(seed + 1, 20, n_x, true));
    vec![some, few.select(&(0..130).map(|i| i * i % 20).collect::<Vec<_>>())]
}

/// A vector of this length (in both senses) whose direction looks random.
fn direction(seed: u64, n: usize, size: f64) -> Vec<f64> {
    let raw: Vec<f64> = (0..n).map(|k| ((seed % 1000) as f64 + 1.7 * k as f64).sin()).collect();
    raw.iter().map(|v| v * size / norm(&raw)).collect()
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x + y).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Margins move by up to 1 here, far more than any expansion allows: what is left out must show.
    #[test]
    fn what_is_left_out_is_within_its_bounds(
        seed in 0u64..1_000_000,
        n_x in 1usize..7,
        centre_size in 0.0f64..3.0,
        delta in 1e-3f64..1.0,
    ) {
        let tables = clients(seed, n_x);
        let rows = PackedRows::merged(&tables).unwrap();
        let (n, longest) = (rows.n(), rows.longest_row().unwrap());
        let centre = direction(seed, n, centre_size);
        let expansion = Expansion::around(&rows, centre.clone(), f64::INFINITY).unwrap();
        let theta = sum(&centre, &direction(seed + 7, n, delta / longest));
        let (found, passed) = (expansion.at(&theta), rows.evaluate(&theta, Order::Hessian).unwrap());
        let here = rows.evaluate(&centre, Order::Hessian).unwrap();
        for client in 0..2 {
            let n_rows = rows.n_rows(client) as f64;
            let off = distance(found.gradient(client), passed.gradient(client));
            prop_assert!(off <= n_rows * (longest * delta.powi(3) / 48.0 + 1e-13), "gradient {off}");
            let off = (found.losses[client] - passed.losses[client]).abs();
            prop_assert!(off <= n_rows * (delta.powi(4) / 192.0 + 1e-13), "loss {off}");
            for at in 0..5 {
                let v = direction(seed + 11 * at, n, 1.0);
                let along = |hessian: &[f64]| {
                    let mut product = vec![0.0; n];
                    add_symmetric_product(hessian, &v, &mut product);
                    dot(&product, &v)
                };
                let off = (along(found.hessian(client)) - along(passed.hessian(client))).abs();
                let bound = 0.5 * delta * delta * delta.exp() * along(here.hessian(client));
                prop_assert!(off <= bound + 1e-11, "Hessian {off} against {bound}");
            }
        }
    }

    /// Half as far away, gradients are off by an eighth and Hessians by a quarter.
    #[test]
    fn what_is_left_out_is_of_the_order_that_it_should_be(seed in 0u64..1_000_000, n_x in 1usize..7) {
        let tables = clients(seed, n_x);
        let rows = PackedRows::merged(&tables).unwrap();
        let (n, longest) = (rows.n(), rows.longest_row().unwrap());
        let centre = direction(seed, n, 0.5);
        let expansion = Expansion::around(&rows, centre.clone(), f64::INFINITY).unwrap();
        let off = |delta: f64| {
            let theta = sum(&centre, &direction(seed + 7, n, delta / longest));
            let (found, passed) = (expansion.at(&theta), rows.evaluate(&theta, Order::Hessian).unwrap());
            (distance(&found.gradients, &passed.gradients), distance(&found.hessians, &passed.hessians))
        };
        let (far, near) = (off(2e-2), off(1e-2));
        prop_assert!((6.5..9.5).contains(&(far.0 / near.0)) || far.0 < 1e-9, "{far:?} {near:?}");
        prop_assert!((3.4..4.6).contains(&(far.1 / near.1)) || far.1 < 1e-7, "{far:?} {near:?}");
    }
}

#[test]
fn passes_are_spared_near_the_centre_and_made_elsewhere() {
    let rows = PackedRows::merged(&clients(3, 4)).unwrap();
    let reach = reach(&rows, 1e-7).unwrap();
    let centre = direction(3, rows.n(), 0.8);
    let expansion = Expansion::around(&rows, centre.clone(), reach).unwrap();
    let nearby = Nearby::new(&rows, Some(&expansion));
    let inside = sum(&centre, &direction(5, rows.n(), 0.99 * reach));
    let outside = sum(&centre, &direction(5, rows.n(), 1.01 * reach));

    let found = nearby.evaluate(&inside, Order::Gradient).unwrap();
    assert_eq!(nearby.spared(), 1);
    let passed = rows.evaluate(&inside, Order::Hessian).unwrap();
    assert!(distance(&found.gradients, &passed.gradients) <= 1e-8 * rows.n_rows_total() as f64);
    assert!(distance(&found.hessians, &passed.hessians) <= 2e-6 * norm(&passed.hessians));
    assert_ne!(found.gradients, passed.gradients);

    let found = nearby.evaluate(&outside, Order::Hessian).unwrap();
    assert_eq!(nearby.spared(), 1);
    assert_eq!(found.gradients, rows.evaluate(&outside, Order::Hessian).unwrap().gradients);
}

#[test]
fn there_is_no_expansion_where_it_would_not_pay_or_its_error_is_not_known() {
    let long = PackedRows::merged(&[random_rows(1, 10, 40, true)]).unwrap();
    assert_eq!(reach(&long, 1e-7), None);
    let may_move = PackedRows::unmerged(&clients(1, 3)).unwrap();
    assert_eq!(reach(&may_move, 1e-7), None);
}
