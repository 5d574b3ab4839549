//! Transformed proxies: fairer, no copies, the same for any number of threads.
#![allow(clippy::unwrap_used)]

use super::super::{EncodedColumn, EncodedColumns, ProxyGenerator, generate_proxy};
use super::*;
use crate::fairness::Fairness;
use crate::metrics::Metrics;
use crate::observer::NoopObserver;
use crate::rows::Layout;
use crate::test_rows::{layout, random_rows, random_rows_of};

fn settings() -> ProxySettings {
    ProxySettings { generator: ProxyGenerator::Transformation, ..ProxySettings::new(Fairness::SP) }
}

fn generate(data: &Rows, settings: &ProxySettings) -> GeneratedProxy {
    generate_proxy(data, settings, &mut NoopObserver).unwrap()
}

#[test]
fn labels_become_equally_frequent_and_the_model_fairer() {
    for n_groups in [2, 3] {
        let data = random_rows_of(&layout(n_groups, 3, true, true), 21, 4000);
        let made = generate(&data, &settings());
        assert_eq!((made.rows.len(), made.rows.groups()), (4000, data.groups()));
        let rates = |rows: &Rows| -> Vec<f64> {
            let of = |cell: &[usize; 2]| cell[1] as f64 / (cell[0] + cell[1]) as f64;
            rows.cell_counts().iter().map(of).collect()
        };
        let spread = |rates: Vec<f64>| {
            rates.iter().copied().fold(0.0, f64::max) - rates.iter().copied().fold(1.0, f64::min)
        };
        let (before, after) = (spread(rates(&data)), spread(rates(&made.rows)));
        // 5 % of the difference may remain. What else remains comes from drawing at random.
        assert!(before > 0.2 && after < 0.05 * before + 0.06, "{before}, {after}");
        let gap =
            |theta: &[f64]| Metrics::of(theta, &data).unwrap().gap(Fairness::SP).unwrap().size();
        let (raw, fair) = (gap(&made.summary.start_theta), gap(&made.summary.theta));
        assert!(fair < 0.5 * raw, "{fair} of {raw}");
        assert_eq!(made.summary.closeness.copies, 0);
        assert!(made.summary.target_error.is_none() && made.summary.promised_gap.is_none());
    }
}

#[test]
fn levels_in_cells_stay_levels() {
    let base = random_rows(22, 2000, 2, true);
    let x: Vec<f64> = (0..2000)
        .flat_map(|i| {
            let level = usize::from(base.x(i)[1] > 0.0);
            [base.x(i)[0], (1 - level) as f64, level as f64]
        })
        .collect();
    let positive: Vec<bool> = (0..2000).map(|i| base.is_positive(i)).collect();
    let data = Rows::new(Layout::two_groups(3, true), &x, base.groups(), &positive).unwrap();
    let columns = EncodedColumns::new(vec![
        EncodedColumn::Number,
        EncodedColumn::Levels { n: 2, complete: true },
    ]);
    let of = ClientData { rows: &data, columns };
    let made = generate_proxy(of, &settings(), &mut NoopObserver).unwrap();
    for i in 0..2000 {
        let row = made.rows.x(i);
        assert!((row[1] + row[2] - 1.0).abs() < 1e-9 && row[1].min(row[2]).abs() < 1e-6, "{row:?}");
    }
}

#[test]
fn transformed_rows_depend_on_the_seed_but_not_on_threads() {
    let data = random_rows(23, 1500, 3, true);
    let with = |seed| generate(&data, &ProxySettings { seed, ..settings() }).rows;
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(with(7), one_thread.install(|| with(7)));
    assert_ne!(with(7), with(8));
    let more = generate(&data, &ProxySettings { rows: Some(4000), ..settings() });
    assert_eq!(more.rows.len(), 4000);
}

/// A group with a handful of negative rows says much about its selection rate.
#[test]
fn a_small_cell_does_not_end_the_corrections() {
    let all = random_rows_of(&layout(2, 3, true, true), 25, 4000);
    let (mut kept, mut negatives) = (Vec::new(), 0);
    for i in 0..all.len() {
        let is_rare = all.group(i) == 1 && !all.is_positive(i);
        negatives += usize::from(is_rare);
        if !is_rare || negatives <= 3 {
            kept.push(i);
        }
    }
    let data = all.select(&kept);
    let made = generate(&data, &settings());
    let gap = |theta: &[f64]| worst_gap(&data, theta, Fairness::SP);
    let (raw, fair) = (gap(&made.summary.start_theta), gap(&made.summary.theta));
    assert!(raw > 0.2 && fair < 0.1 * raw, "{fair} of {raw}");
    let [others, group] = [data.cell_counts()[0], data.cell_counts()[1]];
    assert!(group[0] == 3 && group[1] > 500 && others[0] > 500 && others[1] > 500);
    assert_eq!(fewest_rows(&data), (others[0] + others[1]).min(group[0] + group[1]));
}

#[test]
fn private_rows_as_a_start_and_other_criteria_are_refused() {
    let data = random_rows(24, 600, 3, true);
    let refused = |settings: &ProxySettings| {
        generate_proxy(&data, settings, &mut NoopObserver).unwrap_err().to_string()
    };
    let started = ProxySettings { start: ProxyStart::Data, ..settings() };
    assert!(refused(&started).contains("cannot start from the data"));
    for fairness in ["eo", "fpr", "equalized-odds", "sp:0.5,eo:0.5"] {
        let other = ProxySettings { fairness: fairness.parse().unwrap(), ..settings() };
        assert!(refused(&other).contains("choose the fairness sp"), "{fairness}");
    }
}
