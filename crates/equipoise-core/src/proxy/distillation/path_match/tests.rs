//! Derivatives against finite differences, and gradients that match.
#![allow(clippy::unwrap_used)]

use super::super::super::smoothed_rows::SmoothedModel;
use super::super::even_choice::choose_evenly;
use super::*;
use crate::linalg::norm;
use crate::test_rows::{layout, random_rows_of};

fn models(n: usize) -> Vec<Vec<f64>> {
    let target: Vec<f64> = (0..n).map(|k| 0.9 - 0.4 * k as f64).collect();
    [0.0, 0.5, 1.0].iter().map(|share| target.iter().map(|t| share * t).collect()).collect()
}

/// Rows of three features, of which the last two add up to 1.
fn rows(seed: u64, n_rows: usize) -> Rows {
    let base = random_rows_of(&layout(3, 2, true, true), seed, n_rows);
    let x: Vec<f64> = (0..n_rows)
        .flat_map(|i| {
            let level = f64::from(u8::from(base.x(i)[1] > 0.3));
            [base.x(i)[0], level, 1.0 - level]
        })
        .collect();
    let positive: Vec<bool> = (0..n_rows).map(|i| base.is_positive(i)).collect();
    Rows::new(layout(3, 3, true, true), &x, base.groups(), &positive).unwrap()
}

#[test]
fn the_jacobian_is_that_of_finite_differences() {
    let rows = rows(1, 23);
    let varying = SmoothedModel::of(&rows).unwrap();
    let models = models(rows.layout().n());
    let wanted = PathGradients::of(&rows, models.clone());
    let jacobian = Jacobian::at(&rows, &models, varying.varying());
    let n_x = 3;
    let n = jacobian.apply(&vec![0.0; 23 * n_x]).len();
    let columns: Vec<Vec<f64>> = (0..23 * n_x)
        .map(|at| {
            let mut unit = vec![0.0; n_x];
            unit[at % n_x] = 1.0;
            let mut moves = vec![0.0; 23 * n_x];
            moves[at / n_x * n_x..][..n_x].copy_from_slice(&varying.varying().apply(&unit));
            let at = |length: f64| {
                let moves: Vec<f64> = moves.iter().map(|m| m * length).collect();
                wanted.residual(&moved(&rows, &moves))
            };
            let column = jacobian.apply(&moves);
            for ((plus, minus), found) in at(1e-5).iter().zip(at(-1e-5)).zip(&column) {
                assert!(((plus - minus) / 2e-5 - found).abs() < 1e-9, "{plus} {minus} {found}");
            }
            column
        })
        .collect();
    let z: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    for (column, found) in columns.iter().zip(jacobian.apply_transposed(&z)) {
        assert!((dot(column, &z) - found).abs() < 1e-14);
    }
    let gram = jacobian.gram();
    for i in 0..n {
        for j in 0..=i {
            let expected: f64 = columns.iter().map(|column| column[i] * column[j]).sum();
            assert!((symmetric_entry(&gram, i, j) - expected).abs() < 1e-15);
        }
    }
}

#[test]
fn gradients_match_after_small_moves() {
    let whole = rows(2, 4000);
    let model = SmoothedModel::of(&whole).unwrap();
    let wanted = PathGradients::of(&whole, models(whole.layout().n()));
    // Labels and groups as in the whole table, so that even the gradients at 0 can match.
    let few = choose_evenly(&whole, &wanted.models[2], 160);
    let before = norm(&wanted.residual(&few));
    let matched = match_path(few.clone(), &wanted, model.varying(), MOVE_PENALTY).unwrap();
    let after = norm(&wanted.residual(&matched.rows));
    assert!(after < 0.2 * before, "{after} of {before}");
    let squares = matched.rows.values().iter().zip(few.values()).map(|(a, b)| (a - b) * (a - b));
    let mean_square = squares.sum::<f64>() / 160.0;
    assert!(mean_square < 0.3, "{mean_square}");
    for i in 0..160 {
        assert!((matched.rows.x(i)[1] + matched.rows.x(i)[2] - 1.0).abs() < 1e-12);
    }
}
