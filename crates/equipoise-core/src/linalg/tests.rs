//! Factors, solutions and projections against their definitions and against those of an independent program.
#![allow(clippy::unwrap_used)]

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde_json::Value;

use super::*;

/// `G Gᵀ / n + ridge·I` for an `n × rank` matrix `G` of random numbers.
fn random_gram(seed: u64, n: usize, rank: usize, ridge: f64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let g: Vec<Vec<f64>> =
        (0..n).map(|_| (0..rank).map(|_| StandardNormal.sample(&mut rng)).collect()).collect();
    from_entries(n, |i, j| dot(&g[i], &g[j]) / n as f64 + if i == j { ridge } else { 0.0 })
}

fn from_entries(n: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let entry = &entry;
    (0..n).flat_map(|i| (0..=i).map(move |j| entry(i, j))).collect()
}

/// `‖a − b‖`.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    norm(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>())
}

fn hilbert(n: usize) -> Vec<f64> {
    from_entries(n, |i, j| 1.0 / (i + j + 1) as f64)
}

/// Frobenius norm of a symmetric matrix.
fn size(triangle: &[f64], n: usize) -> f64 {
    norm(&(0..n * n).map(|at| symmetric_entry(triangle, at / n, at % n)).collect::<Vec<_>>())
}

/// Factors a positive definite matrix and checks the factor entry by entry and as a whole, then a solution.
fn check_backward_errors(triangle: &[f64], n: usize) {
    let tolerance = 4.0 * n as f64 * f64::EPSILON;
    let cholesky = Cholesky::new(triangle, n, 0.0).unwrap();
    assert_eq!(cholesky.added_to_diagonal, 0.0);
    let lower = cholesky.lower();
    let error = from_entries(n, |i, j| symmetric_entry(triangle, i, j) - dot(&lower[i], &lower[j]));
    for i in 0..n {
        for j in 0..=i {
            let scale = (row(triangle, i)[i] * row(triangle, j)[j]).sqrt();
            let error = row(&error, i)[j].abs();
            assert!(error <= tolerance * scale, "n {n}, entry {i}, {j}: off by {error}");
        }
    }
    assert!(size(&error, n) <= tolerance * size(triangle, n), "n {n}");

    let b: Vec<f64> = (0..n).map(|i| (i as f64 + 0.5).sin()).collect();
    let x = cholesky.solve(&b);
    let mut residual: Vec<f64> = b.iter().map(|b| -b).collect();
    add_symmetric_product(triangle, &x, &mut residual);
    let bound = tolerance * (size(triangle, n) * norm(&x) + norm(&b));
    assert!(norm(&residual) <= bound, "n {n}: residual {}", norm(&residual));
}

#[test]
fn backward_errors_of_random_matrices_are_rounding_errors() {
    for n in (1..=200).chain([511]) {
        check_backward_errors(&random_gram(n as u64, n, n + 2, 0.01), n);
    }
}

#[test]
fn backward_errors_of_ill_conditioned_matrices_are_rounding_errors() {
    (1..=11).for_each(|n| check_backward_errors(&hilbert(n), n));
    for n in [2, 33, 100] {
        let plain = random_gram(7, n, n + 2, 0.1);
        // Diagonal entries from 1e-12 to 1e12, in increasing, decreasing and mixed order.
        for order in [|i, _| i, |i, n| n - 1 - i, |i, n| i * 7 % n] {
            let grade = |i: usize| 10f64.powf(12.0 * order(i, n) as f64 / (n - 1) as f64 - 6.0);
            let graded =
                from_entries(n, |i, j| grade(i) * symmetric_entry(&plain, i, j) * grade(j));
            check_backward_errors(&graded, n);
        }
    }
}

#[test]
fn reports_the_pivot_that_is_not_positive() {
    for n in [1, 2, 5, 31, 32, 33, 70] {
        for bad in (0..n).step_by(if n > 5 { 3 } else { 1 }) {
            for value in [-1e3, f64::NAN, f64::INFINITY] {
                let mut triangle = random_gram(3, n, n + 2, 0.1);
                triangle[row_start(bad) + bad] = value;
                let Err(error) = Cholesky::new(&triangle, n, 0.0) else { panic!("factored") };
                let Error::NotPositiveDefinite { index } = error else { panic!("{error}") };
                assert_eq!(index, bad, "n {n}, entry {value}");
            }
        }
    }
}

#[test]
fn factors_a_singular_matrix_after_adding_to_its_diagonal() {
    for (triangle, n) in [(vec![1.0; 3], 2), (random_gram(5, 50, 20, 0.0), 50)] {
        let cholesky = Cholesky::new(&triangle, n, 0.0).unwrap();
        assert!(cholesky.added_to_diagonal > 0.0 && cholesky.added_to_diagonal < 1e-6);
    }
}

#[test]
fn solves_a_shifted_system_with_a_known_solution() {
    // [[4, 2, 0], [2, 5, 3], [0, 3, 6]] is the triangle with 1 added to its diagonal; x = (1, -2, 3).
    let triangle = [3.0, 2.0, 4.0, 0.0, 3.0, 5.0];
    let b = [4.0 - 4.0, 2.0 - 10.0 + 9.0, -6.0 + 18.0];
    let cholesky = Cholesky::new(&triangle, 3, 1.0).unwrap();
    let x = cholesky.solve(&b);
    for (found, expected) in x.iter().zip([1.0, -2.0, 3.0]) {
        assert!((found - expected).abs() < 1e-13);
    }
    assert_eq!(cholesky.added_to_diagonal, 0.0);
    assert!(relative_residual(&triangle, 1.0, &x, &b) < 1e-14);
    assert!(relative_residual(&triangle, 1.0, &[1.0, -2.0, 3.1], &b) > 1e-2);
}

fn reference() -> Value {
    serde_json::from_str(include_str!("../../tests/reference/linalg.json")).unwrap()
}

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, case: &Value) {
    assert_eq!(found.len(), expected.len());
    let error = distance(found, expected);
    assert!(error <= tolerance * (1.0 + norm(expected)), "{}: off by {error}", case["name"]);
}

#[test]
fn agrees_with_reference_factors_and_solutions() {
    for case in reference()["factored"].as_array().unwrap() {
        let n = case["n"].as_u64().unwrap() as usize;
        let cholesky = Cholesky::new(&numbers(&case["triangle"]), n, 0.0).unwrap();
        let expected = numbers(&case["lower"]);
        for (i, found) in cholesky.lower().iter().enumerate() {
            // Row by row, because the rows of a graded matrix differ in size.
            let error = distance(found, row(&expected, i));
            assert!(error <= 1e-14 * norm(row(&expected, i)), "{}, row {i}", case["name"]);
        }
        for (found, expected) in
            cholesky.solve(&numbers(&case["b"])).iter().zip(numbers(&case["x"]))
        {
            let error = (found - expected).abs();
            assert!(error <= 1e-11 * expected.abs(), "{}: off by {error}", case["name"]);
        }
    }
}

/// The condition numbers of the Hilbert matrices of sizes 3, 6 and 9 are 5e2, 1.5e7 and 5e11.
#[test]
fn agrees_with_exact_solutions_of_hilbert_systems() {
    for (case, tolerance) in
        reference()["hilbert"].as_array().unwrap().iter().zip([1e-13, 1e-9, 1e-4])
    {
        let expected = numbers(&case["x"]);
        let n = expected.len();
        let x = Cholesky::new(&hilbert(n), n, 0.0).unwrap().solve(&vec![1.0; n]);
        assert!(distance(&x, &expected) <= tolerance * norm(&expected), "n {n}: {x:?}");
    }
}

#[test]
fn agrees_with_reference_projections() {
    for case in reference()["projections"].as_array().unwrap() {
        let n = case["n"].as_u64().unwrap() as usize;
        let projection = RangeProjection::new(&numbers(&case["triangle"]), n);
        // Eigenvectors and pivots define the same null space up to the ratio of the eigenvalues on the two sides of the
        // limit: 1e-11 to 1e-9 in this case, 0 in the others.
        let near_limit = case["name"] == "eigenvalues around the limit";
        let tolerance = if near_limit { 1e-2 } else { 1e-11 };
        assert_close(&projection.entries, &numbers(&case["projection"]), tolerance, case);
        let v: Vec<f64> = (0..n).map(|i| i as f64 - 1.5).collect();
        let once = projection.apply(&v);
        assert_close(&projection.apply(&once), &once, 1e-14, case);
    }
}

#[test]
fn a_projection_keeps_the_range_and_drops_the_rest() {
    // The range is the plane orthogonal to (1, 1, 1).
    let triangle = [2.0, -1.0, 2.0, -1.0, -1.0, 2.0];
    let projection = RangeProjection::new(&triangle, 3);
    let close = |found: Vec<f64>, expected: [f64; 3]| {
        found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-14)
    };
    assert!(close(projection.apply(&[1.0, 1.0, 1.0]), [0.0; 3]));
    assert!(close(projection.apply(&[1.0, -1.0, 0.0]), [1.0, -1.0, 0.0]));
    assert!(close(projection.apply(&[3.0, 0.0, 0.0]), [2.0, -1.0, -1.0]));
    assert!((projection.entry(0, 0) - 2.0 / 3.0).abs() < 1e-14);
}

#[test]
fn projections_of_a_regular_and_a_zero_matrix_are_exact() {
    let identity: Vec<f64> = (0..25).map(|at| f64::from(at / 5 == at % 5)).collect();
    assert_eq!(RangeProjection::new(&hilbert(5), 5).entries, identity);
    assert_eq!(RangeProjection::new(&[0.0; 15], 5).entries, vec![0.0; 25]);
}

#[test]
fn null_spaces_are_orthonormal_and_have_small_residuals() {
    for (n, rank) in [(1, 1), (2, 1), (17, 17), (40, 25), (100, 60), (300, 290)] {
        let triangle = random_gram(11, n, rank, 0.0);
        let largest = (0..n).map(|i| symmetric_entry(&triangle, i, i)).fold(0.0, f64::max);
        let basis = null_space(&triangle, n);
        assert_eq!(basis.len(), n - rank);
        // Null vectors are as accurate as the condition number of the pivoted factor allows.
        let tolerance = 100.0 * n as f64 * f64::EPSILON;
        for (k, v) in basis.iter().enumerate() {
            let mut residual = vec![0.0; n];
            add_symmetric_product(&triangle, v, &mut residual);
            assert!(norm(&residual) <= tolerance * largest, "n {n}: {}", norm(&residual));
            for (j, u) in basis.iter().enumerate() {
                assert!((dot(u, v) - f64::from(j == k)).abs() <= tolerance, "n {n}");
            }
        }
    }
}
