//! Sums are exact, and no row changes them by more than the sensitivity that the noise is made for.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::super::Privacy;
use super::*;
use crate::rows::Layout;

const LEVELS: EncodedColumn = EncodedColumn::Levels { n: 3, complete: true };

fn columns() -> EncodedColumns {
    EncodedColumns::new(vec![EncodedColumn::Number, LEVELS, EncodedColumn::Number])
}

fn rows(x: &[f64], groups: &[bool], positive: &[bool]) -> Rows {
    Rows::new(Layout::two_groups(5, true), x, groups, positive).unwrap()
}

#[test]
fn sums_by_hand() {
    let x = [1.5, 0.0, 1.0, 0.0, -9.0, 3.0, 0.0, 1.0, 0.0, 0.75];
    let Totals { cells, products } =
        Totals::of(&rows(&x, &[true, true], &[false, false]), &columns());
    // Both rows are in cell 2: group 1, negative. Numbers are thirds of the bound; −9 is clipped.
    assert_eq!(cells[..12], [0; 12]);
    assert_eq!(cells[12..18], [512, 128 + 256, 0, 512, 0, -256 + 64]);
    assert_eq!(cells[18..], [0; 6]);
    let pairs = released_products(&columns());
    let at = |a: usize, b: usize| products[pairs.iter().position(|p| *p == (a, b)).unwrap()];
    assert_eq!(at(0, 0), 128 * 128 + 256 * 256);
    assert_eq!(at(2, 0), 256 * 128 + 256 * 256);
    assert_eq!(at(4, 0), 128 * -256 + 256 * 64);
    assert_eq!(at(4, 4), 256 * 256 + 64 * 64);
    // Levels of one column have no products.
    assert!(!pairs.contains(&(2, 1)) && !pairs.contains(&(2, 2)));
    assert_eq!(pairs.len(), 1 + 3 + 5);
}

#[test]
fn a_large_budget_gives_the_sums_back() {
    let x = [1.5, 0.0, 1.0, 0.0, -1.0, 3.0, 0.0, 0.0, 1.0, 0.75];
    let data = rows(&x.repeat(50), &[[true, false]; 50].concat(), &[[true, false]; 50].concat());
    let data = ClientData { rows: &data, columns: columns() };
    let privacy = Privacy { epsilon: 100.0, delta: 0.1, test_seed: Some(1) };
    let moments = NoisyMoments::release(&data, &mut Budget::new(privacy).unwrap()).unwrap();
    let near = |found: f64, wanted: f64, noise: f64| {
        assert!((found - wanted).abs() <= 6.0 * noise, "{found}, {wanted}, {noise}");
    };
    near(moments.counts[3], 50.0, moments.sum_noise);
    near(moments.counts[1], 0.0, moments.sum_noise);
    near(moments.sums[3][0], 25.0, moments.sum_noise);
    near(moments.products[0], 50.0 * (0.25 + 1.0), moments.product_noise);
    // The square of a level is the level: no noise but that of the sums.
    near(moments.products[5], 50.0, 4.0 * moments.sum_noise);
    assert!(moments.sum_noise < 1.0 && moments.product_noise < 1.0);
}

proptest! {
    #[test]
    fn no_row_exceeds_the_sensitivity(
        x in prop::collection::vec(-1e3f64..1e3, 5), group in any::<bool>(), positive in any::<bool>()
    ) {
        let Totals { cells, products } = Totals::of(&rows(&x, &[group], &[positive]), &columns());
        let square = |sums: &[i64]| sums.iter().map(|v| (v * v) as u64).sum::<u64>();
        let unit = UNIT as u64;
        // Three columns, two of them numbers.
        prop_assert!(square(&cells) <= unit * unit * (1 + 3));
        prop_assert!(square(&products) <= unit.pow(4) * (3 + 2));
    }
}
