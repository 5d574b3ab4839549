#![allow(clippy::unwrap_used)]

use equipoise_core::{Layout, Rows};

use super::*;
use crate::row_sketch::RowSketcher;

/// A table whose rows are distinguished by a number.
fn sketch(numbers: impl Iterator<Item = u64>) -> RowSketch {
    let x: Vec<f64> = numbers.map(|i| i as f64 * 0.25).collect();
    let flags = vec![true; x.len()];
    let mut sketcher = RowSketcher::new();
    sketcher.add(&Rows::new(Layout::two_groups(1, true), &x, &flags, &flags).unwrap());
    sketcher.finish()
}

fn ids(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("c{i:03}")).collect()
}

fn find(sketches: &[RowSketch]) -> Overlaps {
    find_overlaps(&ids(sketches.len()), sketches)
}

/// Clients by number, shared rows, share, estimated.
fn listed(overlaps: &Overlaps) -> Vec<(&str, &str, u64, f64, bool)> {
    let tuple = |o: &'_ Overlap| (o.shared_rows, o.share, o.estimated);
    let listed = overlaps.listed.iter().map(|o| (&o.clients, tuple(o)));
    listed.map(|([a, b], (rows, share, estimated))| (&**a, &**b, rows, share, estimated)).collect()
}

#[test]
fn small_tables_are_compared_exactly() {
    let found = find(&[
        sketch((0..200).chain(0..200)),
        sketch(1000..1400),
        // Half of the first client's rows, a fifth of the second's, and many others.
        sketch((100..200).chain(1000..1080).chain(5000..5620)),
        // Nine rows of the second are too few, whatever their share.
        sketch(1300..1309),
        // A copy of the first client, in another order.
        sketch((0..200).rev()),
    ]);
    assert_eq!(
        listed(&found),
        [
            ("c000", "c004", 200, 1.0, false),
            ("c000", "c002", 100, 0.5, false),
            ("c002", "c004", 100, 0.5, false),
            ("c001", "c002", 80, 0.2, false),
        ]
    );
    assert_eq!(found.more, 0);
    assert_eq!(
        found.listed[1].to_string(),
        "clients `c000` and `c002` share 100 distinct rows, 50 % of the smaller client's"
    );
}

#[test]
fn less_than_a_tenth_of_the_smaller_table_is_not_listed() {
    let first = sketch(0..1000);
    assert_eq!(listed(&find(&[first.clone(), sketch(901..2000)])), []);
    let found = find(&[first, sketch(900..2000)]);
    assert_eq!(listed(&found), [("c000", "c001", 100, 0.1, false)]);
}

#[test]
fn large_tables_are_compared_by_estimates() {
    let sketches = [
        sketch(0..100_000),
        sketch(70_000..170_000),
        sketch(150_000..400_000),
        // A small table contained in the first two: about 120 of its 3000 rows are in the sample.
        sketch(75_000..78_000),
    ];
    let found = find(&sketches);
    let of = |first: &str, second: &str| {
        let clients = |o: &&Overlap| o.clients[0] == first && o.clients[1] == second;
        found.listed.iter().find(clients).unwrap_or_else(|| panic!("{first} {second}: {found:?}"))
    };
    // 30,000 of 100,000: about 1229 of 4096. Four standard errors, including those of the counts, are 11 %.
    let half = of("c000", "c001");
    assert!(half.estimated && (half.share / 0.3 - 1.0).abs() < 0.11, "{half:?}");
    assert!((half.shared_rows as f64 / 30_000.0 - 1.0).abs() < 0.13, "{half:?}");
    // 20,000 of 100,000, compared with a larger table: about 328 of 1638.
    let fifth = of("c001", "c002");
    assert!(fifth.estimated && (fifth.share / 0.2 - 1.0).abs() < 0.2, "{fifth:?}");
    // A contained table is also contained in the sample.
    for large in ["c000", "c001"] {
        let small = of(large, "c003");
        assert_eq!((small.shared_rows, small.share, small.estimated), (3000, 1.0, true));
        assert!(small.to_string().contains("share about 3000 distinct rows, about 100 %"));
    }
    assert_eq!(found.more, 0);
}

#[test]
fn unrelated_tables_share_nothing() {
    let of = |i: u64| sketch((0..3000 + 2000 * i).map(move |j| i << 32 | j));
    assert_eq!(find(&(0..12).map(of).collect::<Vec<_>>()), Overlaps::default());
    assert_eq!(find(&[]), Overlaps::default());
}

#[test]
fn the_largest_pairs_are_listed_and_the_others_counted() {
    // Client `i` has the first 40 + i rows, so the share of every pair is 1.
    let sketches: Vec<RowSketch> = (0..60).map(|i| sketch(0..40 + i)).collect();
    let found = find(&sketches);
    assert_eq!((found.listed.len(), found.more), (20, 60 * 59 / 2 - 20));
    assert_eq!(listed(&found)[0], ("c058", "c059", 98, 1.0, false));
    let order = |pair: &[Overlap]| pair[0].shared_rows >= pair[1].shared_rows;
    assert!(found.listed.windows(2).all(order), "{found:?}");
}

#[test]
fn a_sample_is_used_if_counting_everything_takes_too_long() {
    // Each client shares half of its 2000 rows with all others.
    let of = |i: u64| sketch((0..1000).chain((i + 1) << 32..((i + 1) << 32) + 1000));
    let sketches: Vec<RowSketch> = (0..30).map(of).collect();
    let exact = find(&sketches);
    assert_eq!(listed(&exact)[0], ("c000", "c001", 1000, 0.5, false));
    // Each row takes 450 steps, so 300 of the 1000 rows are compared.
    let sampled = find_within(300 * 450, &ids(30), &sketches);
    assert_eq!(sampled.listed.len() + sampled.more, 30 * 29 / 2);
    for overlap in &sampled.listed {
        // Four standard errors of a share of a half, estimated from 600 rows. The listed pairs are the largest of 435.
        assert!(overlap.estimated && (overlap.share / 0.5 - 1.0).abs() < 0.2, "{overlap:?}");
    }
}

#[test]
fn one_warning_describes_three_pairs_and_counts_the_rest() {
    let pair = |second: &str| Overlap {
        clients: ["a".to_owned(), second.to_owned()],
        shared_rows: 30,
        share: 0.5,
        estimated: false,
    };
    let warning = |listed: &[&str], more| {
        let listed = listed.iter().map(|second| pair(second)).collect();
        Overlaps { listed, more }.warning()
    };
    assert_eq!(warning(&[], 0), None);
    let one = warning(&["b"], 0).unwrap();
    assert_eq!(one.code, WarningCode::SharedRows);
    let text = "clients `a` and `b` share 30 distinct rows, 50 % of the smaller client's";
    assert_eq!(one.message, text);
    let four = warning(&["b", "c", "d", "e"], 0).unwrap().message;
    assert!(four.ends_with("client's; 1 more pair of clients shares rows"), "{four}");
    let many = warning(&["b", "c", "d", "e"], 7).unwrap().message;
    assert!(many.contains("`d`") && !many.contains("`e`"), "{many}");
    assert!(many.ends_with("8 more pairs of clients share rows"), "{many}");
}
