//! Attacks succeed where something is disclosed, and only there.

#![allow(clippy::unwrap_used)]

use super::super::{ProxySettings, generate_proxy};
use super::*;
use crate::fairness::Fairness;
use crate::observer::NoopObserver;
use crate::rows::Layout;
use crate::test_rows::{layout, random_rows_of};

fn auc(found: &[MembershipAttack], attack: usize) -> f64 {
    found[attack].auc.value
}

#[test]
fn the_data_itself_discloses_everyone_and_a_proxy_nobody() {
    let all = random_rows_of(&layout(2, 5, true, true), 3, 4000);
    let (members, others) = random_halves(&all, 1);
    let raw = attack_membership(&members, &members, &others).unwrap();
    assert!(auc(&raw, 0) > 0.95, "{raw:?}");
    let settings = ProxySettings::new(Fairness::SP);
    let proxy = generate_proxy(&members, &settings, &mut NoopObserver).unwrap().rows;
    let found = attack_membership(&proxy, &members, &others).unwrap();
    for attack in 0..2 {
        assert!((auc(&found, attack) - 0.5).abs() < 0.04, "{found:?}");
    }
}

#[test]
fn a_density_finds_the_members_of_a_tiny_table() {
    let all = random_rows_of(&layout(2, 12, true, true), 4, 3000);
    let members = all.select(&(0..60).collect::<Vec<_>>());
    let others = all.select(&(60..3000).collect::<Vec<_>>());
    let settings = ProxySettings { rows: Some(2000), ..ProxySettings::new(Fairness::SP) };
    let proxy = generate_proxy(&members, &settings, &mut NoopObserver).unwrap().rows;
    let found = attack_membership(&proxy, &members, &others).unwrap();
    assert!(auc(&found, 1) > 0.6, "{found:?}");
}

/// By comparing one row with every other.
fn by_hand(from: &Rows, to: &Rows, i: usize, skip_self: bool) -> f64 {
    let n = to.layout().indicators().end;
    let squared = |j: usize| -> f64 {
        from.a(i)[..n].iter().zip(to.a(j)).map(|(a, b)| (a - b) * (a - b)).sum()
    };
    let others = (0..to.len()).filter(|&j| !(skip_self && i == j));
    others.map(squared).fold(f64::INFINITY, f64::min).sqrt()
}

#[test]
fn distances_are_those_to_the_nearest_row() {
    for (n_x, as_feature) in [(1, true), (3, false), (9, true)] {
        let layout = layout(3, n_x, as_feature, true);
        let (data, proxy) = (random_rows_of(&layout, 1, 700), random_rows_of(&layout, 2, 150));
        let (own, other): (Vec<usize>, Vec<usize>) = ((0..700).collect(), (0..150).collect());
        let expected: Vec<f64> = (0..150).map(|i| by_hand(&proxy, &data, i, false)).collect();
        assert_eq!(nearest((&proxy, &other), (&data, &own), false), expected);
        let expected: Vec<f64> = (0..700).map(|i| by_hand(&data, &data, i, true)).collect();
        assert_eq!(nearest((&data, &own), (&data, &own), true), expected);
        assert_eq!(nearest((&data, &own), (&data, &own), false), [0.0; 700]);
        assert_eq!(nearest((&data, &[3]), (&data, &[]), false), [f64::INFINITY]);
    }
}

#[test]
fn every_copy_is_counted_and_large_tables_are_sampled() {
    let data = random_rows_of(&layout(2, 120, true, true), 1, 12_000);
    let proxy = random_rows_of(&layout(2, 120, true, true), 2, 3000);
    let copied = Rows::concat(&[&proxy, &data.select(&[11_999, 7, 7])]).unwrap();
    let found = measure_closeness(&copied, &data, 1);
    assert_eq!((found.copies, measure_closeness(&proxy, &data, 1).copies), (3, 0));
    assert_eq!((found.proxy_to_data.rows, found.data_to_data.rows), (2000, 2000));
    // 8,130 of the 12,000 rows are compared, on both sides.
    let all: Vec<usize> = (0..12_000).collect();
    let exact = summarise(nearest((&data, &all[..2000]), (&data, &all), true));
    assert!((found.data_to_data.median / exact.median - 1.0).abs() < 0.03);
    let none = measure_some(&copied, &data, 1, 0);
    assert_eq!((none.copies, none.proxy_to_data.rows), (0, 0));
    assert_eq!(none.data_to_data.median, f64::INFINITY);
}

#[test]
fn the_smallest_cell_is_the_one_of_the_fewest_people() {
    let groups = [0, 0, 0, 1, 1, 1, 1, 1];
    let positive = [true, true, false, true, true, true, false, false];
    let rows = Rows::new(Layout::two_groups(0, true), &[], &groups, &positive).unwrap();
    let found = smallest_cell(&rows).unwrap();
    assert_eq!((found.positive, found.rows), (false, 1));
    assert_eq!(found.group, rows.layout().groups.name(0));
    assert_eq!(smallest_cell(&rows.select(&[])), None);
}
