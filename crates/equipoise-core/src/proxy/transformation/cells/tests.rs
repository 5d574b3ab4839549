//! Bins, information and cells, by hand.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::rows::Layout;

#[test]
fn numbers_are_cut_at_fixed_edges_and_levels_stay() {
    let number = |v: f64| bin(EncodedColumn::Number, 0..1, &[v]);
    assert_eq!([-2.0, -0.6745, -0.5, 0.0, 0.1, 0.7].map(number), [0, 0, 1, 1, 2, 3]);
    let levels = EncodedColumn::Levels { n: 3, complete: false };
    assert_eq!(bin(levels, 1..4, &[9.0, 0.0, 1.0, 0.0]), 1);
    assert_eq!(bin(levels, 1..4, &[9.0, 0.0, 0.0, 0.0]), 3);
    // One step between ordered bins costs as much as another level.
    assert_eq!(distance(&[0, 2], &[3, 1], &[true, false]), 4);
}

/// A level that decides the label, one that says nothing, and a number that would make too many cells if it were a level.
#[test]
fn informative_columns_come_first_and_small_cells_join_others() {
    let n = 400;
    let level = |i: usize| if i == 0 { 2 } else { i % 2 };
    let x: Vec<f64> = (0..n)
        .flat_map(|i| {
            let mut row = [0.0; 4];
            row[0] = if (i / 2) % 2 == 0 { 1.0 } else { -1.0 };
            row[1 + level(i)] = 1.0;
            row
        })
        .collect();
    let groups: Vec<u8> = (0..n).map(|i| u8::from(i % 3 == 0)).collect();
    let positive: Vec<bool> = (0..n).map(|i| level(i) == 1).collect();
    let rows = Rows::new(Layout::two_groups(4, true), &x, &groups, &positive).unwrap();
    let columns = EncodedColumns::new(vec![
        EncodedColumn::Number,
        EncodedColumn::Levels { n: 3, complete: true },
    ]);
    let labels: Vec<usize> = positive.iter().map(|p| usize::from(*p)).collect();
    assert!((information(&labels, &rows) - 2f64.ln()).abs() < 1e-12);
    assert_eq!(information(&vec![0; n], &rows), 0.0);
    let cells = Cells::of(&rows, &columns);
    // Two levels and two bins; the only row of the third level, 1 away from both others, joins the first of these.
    assert_eq!(cells.len(), 4);
    assert_eq!(cells.is_ordered, [false, true]);
    assert_eq!(cells.bins, [[0, 0], [0, 3], [1, 0], [1, 3]]);
    assert_eq!(cells.of_rows()[..4], [1, 3, 0, 2]);
    assert_eq!(cells.distances()[..4], [0, 3, 1, 4]);
}
