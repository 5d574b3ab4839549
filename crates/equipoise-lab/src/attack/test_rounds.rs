//! Small rounds for tests: rows written by hand, and rows drawn at random.

use equipoise_core::{Fairness, Groups, Layout, Rows};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::Attackers;
use crate::scenario::{
    Generator, Members, Scenario, ScenarioClient, ScenarioKind, ScenarioSettings, Split,
};

/// Rows with one feature, a group and a label.
pub(super) fn rows_in(n_groups: usize, as_feature: bool, rows: &[(f64, u8, bool)]) -> Rows {
    let names = (0..n_groups).map(|group| format!("g{group}")).collect();
    let groups = Groups::new(names, n_groups - 1).expect("groups");
    let layout = Layout { n_x: 1, groups, as_feature, intercept: true };
    let x: Vec<f64> = rows.iter().map(|row| row.0).collect();
    let groups: Vec<u8> = rows.iter().map(|row| row.1).collect();
    let positive: Vec<bool> = rows.iter().map(|row| row.2).collect();
    Rows::new(layout, &x, &groups, &positive).expect("rows")
}

/// The same with two groups that the model sees.
pub(super) fn rows(rows: &[(f64, u8, bool)]) -> Rows {
    rows_in(2, true, rows)
}

/// A reliable client, then attackers whose training rows, root and honest proxy are written by hand.
pub(super) struct Hand {
    pub(super) scenario: Scenario,
    honest: Vec<Rows>,
}

impl Hand {
    pub(super) fn new(train: &[Rows]) -> Self {
        let client = |number: usize, rows: &Rows, reliable| ScenarioClient {
            id: format!("c{number}"),
            members: Members { train: Vec::new(), test: Vec::new(), root: Vec::new() },
            train: rows.clone(),
            test: rows.clone(),
            root: rows.clone(),
            proxy: rows.clone(),
            unfairness: 0.0,
            reliable,
            summary: None,
        };
        let attackers = train.iter().enumerate().map(|(i, rows)| client(i + 2, rows, false));
        let clients = std::iter::once(client(1, &train[0], true)).chain(attackers).collect();
        Self { scenario: Scenario { clients }, honest: train.to_vec() }
    }

    pub(super) fn with_honest(self, honest: &[Rows]) -> Self {
        Self { honest: honest.to_vec(), ..self }
    }

    pub(super) fn attackers(&self) -> Attackers<'_> {
        let (scenario, honest) = (&self.scenario, &self.honest[..]);
        Attackers { scenario, honest, fairness: Fairness::SP, lambda: 1e-4, seed: 1 }
    }
}

/// Five clients with rows drawn at random. The groups differ in their features and in how they are treated.
pub(super) struct Drawn {
    scenario: Scenario,
    honest: Vec<Rows>,
    fairness: Fairness,
}

impl Drawn {
    pub(super) fn new(n_groups: usize, as_feature: bool, fairness: Fairness, rate: f64) -> Self {
        let settings = ScenarioSettings {
            generator: Generator::Target,
            root_share: 0.1,
            ..ScenarioSettings::new(ScenarioKind::Realistic, fairness, rate, 7)
        };
        let split = Split::new(&population(n_groups, as_feature), &settings).expect("a split");
        let scenario = split.scenario(settings.kind, rate, &mut |_, _| ()).expect("a scenario");
        let honest = split.honest_proxies(rate).expect("honest proxies");
        Self { scenario, honest, fairness }
    }

    pub(super) fn attackers(&self) -> Attackers<'_> {
        let (scenario, honest) = (&self.scenario, &self.honest[..]);
        Attackers { scenario, honest, fairness: self.fairness, lambda: 1e-4, seed: 3 }
    }
}

fn population(n_groups: usize, as_feature: bool) -> Rows {
    const N_ROWS: usize = 2500;
    const WEIGHTS: [f64; 3] = [1.2, -0.8, 0.5];
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let (mut x, mut groups, mut positive) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..N_ROWS {
        let group = rng.random_range(0..n_groups);
        let ahead = group as f64 / (n_groups - 1) as f64 - 0.5;
        let mut score = 1.5 * ahead;
        for (k, weight) in WEIGHTS.iter().enumerate() {
            let drawn: f64 = StandardNormal.sample(&mut rng);
            let feature = drawn + if k == 0 { ahead } else { 0.0 };
            score += weight * feature;
            x.push(feature);
        }
        groups.push(group as u8);
        positive.push(rng.random::<f64>() < 1.0 / (1.0 + (-score).exp()));
    }
    let names = (0..n_groups).map(|group| format!("g{group}")).collect();
    let named = Groups::new(names, n_groups - 1).expect("groups");
    let layout = Layout { n_x: WEIGHTS.len(), groups: named, as_feature, intercept: true };
    Rows::new(layout, &x, &groups, &positive).expect("rows")
}
