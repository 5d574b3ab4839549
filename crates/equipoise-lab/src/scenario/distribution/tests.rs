use equipoise_core::{Fairness, Layout, Rows};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal};

use super::*;
use crate::scenario::{ScenarioKind, Split};

const N_X: usize = 12;

/// Independent features, and labels that depend on the first six.
fn population(n_rows: usize) -> Rows {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let x: Vec<f64> = (0..n_rows * N_X).map(|_| StandardNormal.sample(&mut rng)).collect();
    let groups: Vec<u8> = (0..n_rows).map(|_| u8::from(rng.random::<bool>())).collect();
    let positive: Vec<bool> = x
        .chunks(N_X)
        .map(|x| rng.random::<f64>() < 1.0 / (1.0 + (-x[..6].iter().sum::<f64>()).exp()))
        .collect();
    Rows::new(Layout::two_groups(N_X, true), &x, &groups, &positive).expect("rows")
}

fn settings(distribution: Distribution, seed: u64) -> ScenarioSettings {
    ScenarioSettings {
        distribution,
        ..ScenarioSettings::new(ScenarioKind::Realistic, Fairness::SP, 0.0, seed)
    }
}

fn parts(population: &Rows, distribution: Distribution, seed: u64) -> Vec<Vec<usize>> {
    let order = (0..population.len()).collect();
    distribution.parts(population, order, &settings(distribution, seed))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
    sum / n
}

#[test]
fn every_row_goes_to_one_client() {
    let population = population(1003);
    for distribution in [Distribution::Even, Distribution::Sizes, Distribution::Shifted] {
        let parts = parts(&population, distribution, 1);
        let mut all: Vec<usize> = parts.iter().flatten().copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..1003).collect::<Vec<_>>(), "{distribution:?}");
        assert_eq!(parts.len(), 5);
    }
}

#[test]
fn sizes_are_in_geometric_progression_from_1_to_20() {
    let parts = parts(&population(10_000), Distribution::Sizes, 1);
    let sizes: Vec<f64> = parts.iter().map(|part| part.len() as f64).collect();
    // 1 + q + q² + q³ + q⁴ with q = 20^¼ is 37.0446, so the first client has 10000 / 37.0446 rows.
    assert_eq!(sizes[0], 270.0);
    let ratio = 20f64.powf(0.25);
    for pair in sizes.windows(2) {
        assert!((pair[1] / pair[0] / ratio - 1.0).abs() < 0.01, "{sizes:?}");
    }
}

#[test]
fn shifted_features_differ_by_half_a_standard_deviation() {
    let population = population(20_000);
    for seed in 1..=3 {
        let parts = parts(&population, Distribution::Shifted, seed);
        let mut shifts = Vec::new();
        for part in &parts {
            assert!((3700..4300).contains(&part.len()), "{} rows", part.len());
            let elsewhere: Vec<usize> =
                parts.iter().filter(|other| *other != part).flatten().copied().collect();
            for feature in 0..N_X {
                let at = |rows: &[usize]| mean(rows.iter().map(|&row| population.x(row)[feature]));
                shifts.push((at(part) - at(&elsewhere)).abs());
            }
        }
        // Two of twelve features for each of five clients. A shift at one client is a quarter of it elsewhere.
        shifts.sort_by(|a, b| b.total_cmp(a));
        let own = mean(shifts[..10].iter().copied());
        assert!((own - 0.5).abs() < 0.03, "seed {seed}: {own}");
        assert!(shifts[10] < 0.25, "seed {seed}: {}", shifts[10]);
    }
}

#[test]
fn labels_given_features_are_the_same_at_every_client() {
    let population = population(40_000);
    let rate = |row: usize| 1.0 / (1.0 + (-population.x(row)[..6].iter().sum::<f64>()).exp());
    for part in parts(&population, Distribution::Shifted, 2) {
        let excess =
            part.iter().map(|&row| f64::from(u8::from(population.is_positive(row))) - rate(row));
        // The standard error over 8,000 rows is at most .5/√8000 = .0056.
        assert!(mean(excess).abs() < 4.0 * 0.0056);
        let group = mean(part.iter().map(|&row| population.group(row) as f64));
        assert!((group - 0.5).abs() < 4.0 * 0.0056, "{group}");
    }
}

#[test]
fn constant_features_and_fewer_features_than_clients_are_no_problem() {
    let x: Vec<f64> = (0..2000).flat_map(|i| [f64::from(i % 40), 3.0]).collect();
    let groups: Vec<u8> = (0..2000).map(|i| (i % 2) as u8).collect();
    let positive: Vec<bool> = (0..2000).map(|i| i % 3 == 0).collect();
    let rows = Rows::new(Layout::two_groups(2, true), &x, &groups, &positive).expect("rows");
    let parts = parts(&rows, Distribution::Shifted, 1);
    assert!(
        parts.iter().all(|part| part.len() > 300),
        "{:?}",
        parts.iter().map(Vec::len).collect::<Vec<_>>()
    );
}

#[test]
fn a_seed_draws_other_people_if_only_some_take_part() {
    let population = population(2000);
    let members = |seed| {
        let settings =
            ScenarioSettings { n_people: Some(500), ..settings(Distribution::Even, seed) };
        let split = Split::new(&population, &settings).expect("a split");
        let scenario =
            split.scenario(ScenarioKind::Realistic, 1.0, &mut |_, _| {}).expect("a scenario");
        let clients = scenario.clients.iter();
        let mut all: Vec<usize> =
            clients.flat_map(|c| c.members.train.iter().chain(&c.members.test)).copied().collect();
        all.sort_unstable();
        all
    };
    assert_eq!(members(1).len(), 500);
    assert_eq!(members(1), members(1));
    assert_ne!(members(1), members(2));
}
