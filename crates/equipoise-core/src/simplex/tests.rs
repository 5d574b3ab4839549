//! The projection is feasible, idempotent and optimal, for any length, ties and scale.

use proptest::prelude::*;

use super::*;

/// `w = max(p − τ, 0)` for one τ is exactly the condition for the closest point; checked to the spacing
/// of numbers at the scale of `p`.
fn assert_closest(point: &[f64], w: &[f64]) {
    let scale = point.iter().fold(1.0f64, |most, p| most.max(p.abs()));
    let tolerance = 1e-13 * scale + 1e-12;
    let sum: f64 = w.iter().sum();
    assert!((sum - 1.0).abs() < 1e-9, "sum {sum}");
    assert!(w.iter().all(|&w| (0.0..=1.0 + 1e-12).contains(&w)));
    let shifts: Vec<f64> =
        point.iter().zip(w).filter(|(_, w)| **w > 0.0).map(|(p, w)| p - w).collect();
    let low = shifts.iter().copied().fold(f64::INFINITY, f64::min);
    let high = shifts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!(high - low <= tolerance, "shifts from {low} to {high}");
    for (p, w) in point.iter().zip(w) {
        assert!(*w > 0.0 || *p <= high + tolerance, "{p} was left out above the shift {high}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn projection_is_feasible_idempotent_and_optimal(
        length in prop_oneof![1usize..20, 20usize..300, Just(10_000usize)],
        exponent in -9i32..=9,
        seed in 0u64..1_000_000,
        ties: bool,
    ) {
        let scale = 10f64.powi(exponent);
        let mut state = seed.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(3_037_000_493);
        let point: Vec<f64> = (0..length).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let unit = (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
            let value = if ties { (unit * 8.0).round() / 4.0 } else { unit * 2.0 };
            value * scale
        }).collect();
        let w = project_onto_simplex(&point);
        assert_closest(&point, &w);
        let again = project_onto_simplex(&w);
        for (a, b) in w.iter().zip(&again) {
            prop_assert!((a - b).abs() <= 1e-12);
        }
    }
}

#[test]
fn known_projections() {
    assert_eq!(project_onto_simplex(&[7.0]), [1.0]);
    assert_eq!(project_onto_simplex(&[0.2, 0.3, 0.5]), [0.2, 0.3, 0.5]);
    assert_eq!(project_onto_simplex(&[5.0, 0.0, 0.0]), [1.0, 0.0, 0.0]);
    assert_eq!(project_onto_simplex(&[-3.0; 4]), [0.25; 4]);
    assert_eq!(project_onto_simplex(&[1e9, 1e9 - 0.5, -1e9]), [0.75, 0.25, 0.0]);
}

#[test]
fn the_gap_is_zero_only_where_no_direction_descends() {
    assert_eq!(frank_wolfe_gap(&[0.5, 0.5, 0.0], &[1.0, 1.0, 3.0]), 0.0);
    assert_eq!(frank_wolfe_gap(&[0.5, 0.5, 0.0], &[1.0, 1.0, -3.0]), 4.0);
    assert_eq!(frank_wolfe_gap(&[1.0, 0.0], &[2.0, 5.0]), 0.0);
}
