//! Random rows and rounds for the tests.
#![allow(clippy::unwrap_used)]

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal, Uniform};

use crate::groups::Groups;
use crate::round::{Client, Round};
use crate::rows::{Layout, Rows};

/// Rows of two groups with different feature means and noisy labels, which no hyperplane separates.
pub(crate) fn random_rows(seed: u64, n_rows: usize, n_x: usize, intercept: bool) -> Rows {
    random_rows_of(&Layout::two_groups(n_x, intercept), seed, n_rows)
}

/// As [`random_rows`], for any layout: the last group is as large as all others together.
pub(crate) fn random_rows_of(layout: &Layout, seed: u64, n_rows: usize) -> Rows {
    let (n_x, n_groups) = (layout.n_x, layout.groups.len());
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let uniform = Uniform::new(0.0, 1.0).unwrap();
    let normal = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
    let direction: Vec<f64> = (0..n_x).map(|_| normal(&mut rng).abs() + 0.2).collect();
    let (mut x, mut s, mut y) = (vec![], vec![], vec![]);
    for _ in 0..n_rows {
        let drawn = uniform.sample(&mut rng);
        let privileged = drawn < 0.6;
        let others = (n_groups - 1) as f64;
        let group = if privileged { n_groups - 1 } else { ((drawn - 0.6) / 0.4 * others) as usize };
        let gap = if privileged { 0.5 } else { -0.2 - 0.2 * group as f64 };
        let row: Vec<f64> = (0..n_x).map(|_| normal(&mut rng) + gap).collect();
        let score: f64 = row.iter().zip(&direction).map(|(a, b)| a * b).sum::<f64>() + gap;
        let chance = 1.0 / (1.0 + (-0.7 * score).exp());
        x.extend(row);
        s.push(group as u8);
        y.push(uniform.sample(&mut rng) < chance);
    }
    Rows::new(layout.clone(), &x, &s, &y).unwrap()
}

/// A layout with groups g0, g1, …; the last is the reference.
pub(crate) fn layout(n_groups: usize, n_x: usize, as_feature: bool, intercept: bool) -> Layout {
    let names = (0..n_groups).map(|g| format!("g{g}")).collect();
    let groups = Groups::new(names, n_groups - 1).unwrap();
    Layout { n_x, groups, as_feature, intercept }
}

/// Clients c0, c1, … with `n_rows` proxy rows and a third of that as root rows.
pub(crate) fn random_round(
    seed: u64,
    n_clients: usize,
    n_rows: usize,
    n_x: usize,
    intercept: bool,
) -> Round {
    random_round_of(&Layout::two_groups(n_x, intercept), seed, n_clients, n_rows)
}

/// As [`random_round`], for any layout.
pub(crate) fn random_round_of(
    layout: &Layout,
    seed: u64,
    n_clients: usize,
    n_rows: usize,
) -> Round {
    let clients = (0..n_clients).map(|c| Client {
        id: format!("c{c}"),
        proxy: random_rows_of(layout, seed * 100 + c as u64, n_rows + 3 * c),
        root: random_rows_of(layout, seed * 100 + 50 + c as u64, n_rows / 3 + c),
    });
    Round::new(clients.collect()).unwrap()
}
