//! Packed rows: merged ones give what unmerged ones give, and clients are summed only as far as asked.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::test_rows::random_rows;

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() <= 1e-10 * (1.0 + e.abs()), "{f} against {e}");
    }
}

#[test]
fn equal_rows_are_kept_once_and_count_as_often_as_they_occur() {
    let few = random_rows(1, 700, 3, true);
    let repeated = few.select(&(0..5000).map(|i| i * i % 700).collect::<Vec<_>>());
    let clients = [repeated, few];
    let (merged, unmerged) =
        (PackedRows::merged(&clients).unwrap(), PackedRows::unmerged(&clients).unwrap());
    assert!(merged.clients[0].n_kept < 700 && merged.clients[1].n_kept == 700);
    assert_eq!(merged.n_rows(0), 5000);
    let theta = [0.3, -0.2, 0.5, 0.1, -0.4];
    let (a, b) = (
        merged.evaluate(&theta, Order::Hessian).unwrap(),
        unmerged.evaluate(&theta, Order::Hessian).unwrap(),
    );
    assert_close(&a.losses, &b.losses);
    assert_close(&a.gradients, &b.gradients);
    assert_close(&a.hessians, &b.hessians);
}

#[test]
fn rows_that_hardly_repeat_are_not_merged() {
    let rows = random_rows(2, 10_000, 2, false);
    let twice = rows.select(&(0..12_000).map(|i| i % 10_000).collect::<Vec<_>>());
    assert!(distinct_rows(&rows).is_none() && distinct_rows(&twice).is_none());
    assert!(distinct_rows(&rows.select(&[])).is_none());
}

#[test]
fn each_client_is_summed_as_far_as_asked_and_completed_later() {
    let clients = [0, 1, 2].map(|c| random_rows(c, 3000 + c as usize, 4, true));
    let rows = PackedRows::merged(&clients).unwrap();
    let theta = [0.1, 0.2, -0.3, 0.4, 0.2, -0.1];
    let all = rows.evaluate(&theta, Order::Hessian).unwrap();
    let wanted = [Some(Order::Hessian), Some(Order::Gradient), None];
    let mut some = rows.evaluate_each(&theta, &wanted).unwrap();
    assert_eq!(some.gradient(1), all.gradient(1));
    assert_eq!(some.losses[2], 0.0);
    let rest = [None, Some(Order::Hessian), Some(Order::Hessian)];
    some.complete(&rows.evaluate_each(&theta, &rest).unwrap());
    assert_eq!((&some.losses, &some.gradients), (&all.losses, &all.gradients));
    assert_eq!(some.hessians, all.hessians);
    assert!((0..3).all(|c| some.known(c) == Some(Order::Hessian)));
    let one = rows.evaluate_client(1, &theta, Order::Hessian).unwrap();
    assert_eq!((one.losses[0], one.gradient(0)), (all.losses[1], all.gradient(1)));
    assert_eq!(one.hessians, all.hessians[21..42]);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let clients = [3, 4].map(|c| random_rows(c, 40_000, 10, true));
    let rows = PackedRows::merged(&clients).unwrap();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| rows.evaluate(&[0.05; 12], Order::Hessian).unwrap())
    };
    let one = run(1);
    for other in [run(2), run(3)] {
        assert_eq!((&one.losses, &one.gradients), (&other.losses, &other.gradients));
        assert_eq!(one.hessians, other.hessians);
    }
}
