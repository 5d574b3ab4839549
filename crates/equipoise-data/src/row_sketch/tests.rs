#![allow(clippy::unwrap_used)]

use equipoise_core::Layout;

use super::*;

fn layout() -> Layout {
    Layout::two_groups(2, true)
}

fn sketch(parts: &[Rows]) -> RowSketch {
    let mut sketcher = RowSketcher::new();
    parts.iter().for_each(|part| sketcher.add(part));
    sketcher.finish()
}

fn rows(numbers: impl Iterator<Item = u64>) -> Rows {
    let x: Vec<f64> = numbers.flat_map(|i| [i as f64 * 0.5, 1.0]).collect();
    let flags = vec![true; x.len() / 2];
    Rows::new(layout(), &x, &flags, &flags).unwrap()
}

#[test]
fn rows_differ_by_feature_group_or_label_and_not_by_the_sign_of_zero() {
    let x = [0.0, 1.0, -0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, -1.0];
    let group = [true, true, false, true, true, true];
    let label = [true, true, true, false, true, true];
    let found = sketch(&[Rows::new(layout(), &x, &group, &label).unwrap()]);
    assert_eq!(found.n_distinct(), 5.0, "the second row is the first");
}

#[test]
fn counts_are_exact_up_to_the_limit_in_any_order() {
    let n = MAX_DIGESTS as u64;
    let once = sketch(&[rows(0..n)]);
    assert_eq!((once.n_distinct(), once.below()), (n as f64, u64::MAX));
    let again = sketch(&[rows((0..n).rev()), rows((0..3 * n).map(|i| i * 7 % n))]);
    assert_eq!(once, again);
    assert!(sketch(&[rows(0..n + 1)]).below() < u64::MAX);
}

#[test]
fn beyond_the_limit_the_smallest_digests_are_kept_and_counts_are_close() {
    let n: u64 = 300_000;
    let found = sketch(&[rows(0..n), rows(n / 2..n)]);
    let mut all: Vec<u64> =
        (0..n).map(|i| digest_of(&[i as f64 * 0.5, 1.0, 1.0, 1.0], 1)).collect();
    all.sort_unstable();
    assert_eq!(found.digests(), &all[..MAX_DIGESTS]);
    assert_eq!(found.below(), all[MAX_DIGESTS]);
    // Three standard errors: 3/√4096.
    assert!((found.n_distinct() / n as f64 - 1.0).abs() < 0.047, "{}", found.n_distinct());
}

#[test]
fn sketches_of_parts_give_the_sketch_of_the_whole() {
    for n in [1000, 5000, 40_000_u64] {
        let whole = sketch(&[rows(0..n)]);
        for n_parts in [1, 2, 9] {
            let part =
                |i: u64| sketch(&[rows(i * n / n_parts..((i + 1) * n / n_parts + 50).min(n))]);
            let parts: Vec<RowSketch> = (0..n_parts).map(part).collect();
            assert_eq!(RowSketch::of_parts(&parts), whole, "{n} rows in {n_parts} parts");
        }
    }
}

#[test]
fn digests_of_similar_rows_are_uniform() {
    // Categories, as 0 and 1: all 2^16 rows of 16 of them.
    let row = |i: u32| -> Vec<f64> { (0..16).map(|k| f64::from(i >> k & 1)).collect() };
    let digests: Vec<u64> = (0..1 << 16).map(|i| digest_of(&row(i), 0)).collect();
    for shift in [58, 29, 0] {
        let mut counts = [0_i32; 64];
        digests.iter().for_each(|digest| counts[(digest >> shift & 63) as usize] += 1);
        // 1024 each, within five standard deviations.
        assert!(counts.iter().all(|n| (n - 1024).abs() < 160), "{counts:?}");
    }
    let mut distinct = digests;
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 1 << 16);
}
