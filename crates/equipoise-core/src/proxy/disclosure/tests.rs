//! Attacks succeed where something is disclosed, and only there.

#![allow(clippy::unwrap_used)]

use super::super::{EncodedColumn, EncodedColumns, ProxySettings, generate_proxy};
use super::*;
use crate::fairness::Fairness;
use crate::observer::NoopObserver;
use crate::rows::Layout;
use crate::test_rows::{layout, random_rows_of};

fn auc(found: &Disclosure, attack: usize) -> f64 {
    found.membership[attack].auc.value
}

#[test]
fn the_data_itself_discloses_everyone_and_a_proxy_nobody() {
    let all = random_rows_of(&layout(2, 5, true, true), 3, 4000);
    let (members, others) = halves(&all);
    let raw = attack_proxy(&members, &members, &others).unwrap();
    assert!(auc(&raw, 0) > 0.95, "{raw:?}");
    let settings = ProxySettings::new(Fairness::SP);
    let proxy = generate_proxy(&members, &settings, &mut NoopObserver).unwrap().rows;
    let found = attack_proxy(&proxy, &members, &others).unwrap();
    for attack in 0..2 {
        assert!((auc(&found, attack) - 0.5).abs() < 0.04, "{found:?}");
    }
    assert!(found.attributes.iter().all(|guess| guess.advantage.value.abs() < 0.05), "{found:?}");
}

#[test]
fn a_density_finds_the_members_of_a_tiny_table() {
    let all = random_rows_of(&layout(2, 12, true, true), 4, 3000);
    let members = all.select(&(0..60).collect::<Vec<_>>());
    let others = all.select(&(60..3000).collect::<Vec<_>>());
    let settings = ProxySettings { rows: Some(2000), ..ProxySettings::new(Fairness::SP) };
    let proxy = generate_proxy(&members, &settings, &mut NoopObserver).unwrap().rows;
    let found = attack_proxy(&proxy, &members, &others).unwrap();
    assert!(auc(&found, 1) > 0.6, "{found:?}");
}

#[test]
fn rare_levels_and_outliers_are_found_where_they_show() {
    let levels = EncodedColumn::Levels { n: 2, complete: false };
    let columns = EncodedColumns::new(vec![EncodedColumn::Number, levels]);
    let rows = |x: &[f64]| {
        let n = x.len() / 3;
        Rows::new(Layout::two_groups(3, true), x, &vec![false; n], &vec![true; n]).unwrap()
    };
    let data = rows(&[0.1, 1.0, 0.0, -7.5, 0.0, 1.0, 0.3, 0.0, 0.0]);
    let data = ClientData { rows: &data, columns };
    let proxy = rows(&[0.2, 0.4, 0.0, 1.5, 0.6, 0.0]);
    let found = RareValues::of(&proxy, &data);
    let visible: Vec<_> = found.levels.iter().map(|l| (l.feature, l.rows, l.visible)).collect();
    assert_eq!(visible, [(1, 1, true), (2, 1, false)]);
    let outliers = [OutlierColumn { feature: 0, rows: 1, largest: 7.5, largest_in_proxy: 1.5 }];
    assert_eq!(found.outliers, outliers);
}
