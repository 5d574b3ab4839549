use equipoise_core::{Fairness, Layout, Rows};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal};

use super::*;
use crate::scenario::{ScenarioKind, ScenarioSettings, Split};

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

fn parts(n_rows: usize, distribution: Distribution) -> Vec<Vec<usize>> {
    distribution.parts(&(0..n_rows).collect::<Vec<_>>(), 5)
}

#[test]
fn every_row_goes_to_one_client() {
    for distribution in [Distribution::Even, Distribution::Sizes] {
        let parts = parts(1003, distribution);
        let mut all: Vec<usize> = parts.iter().flatten().copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..1003).collect::<Vec<_>>(), "{distribution:?}");
        assert_eq!(parts.len(), 5);
    }
}

#[test]
fn sizes_are_in_geometric_progression_from_1_to_20() {
    let parts = parts(10_000, Distribution::Sizes);
    let sizes: Vec<f64> = parts.iter().map(|part| part.len() as f64).collect();
    // 1 + q + q² + q³ + q⁴ with q = 20^¼ is 37.0446, so the first client has 10000 / 37.0446 rows.
    assert_eq!(sizes[0], 270.0);
    let ratio = 20f64.powf(0.25);
    for pair in sizes.windows(2) {
        assert!((pair[1] / pair[0] / ratio - 1.0).abs() < 0.01, "{sizes:?}");
    }
}

#[test]
fn a_seed_draws_other_people_if_only_some_take_part() {
    let population = population(2000);
    let members = |seed| {
        let settings = ScenarioSettings {
            n_people: Some(500),
            ..ScenarioSettings::new(ScenarioKind::Realistic, Fairness::SP, 0.0, seed)
        };
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
