//! Random rows and rounds for the tests.
#![allow(clippy::unwrap_used)]

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal, Uniform};

use crate::round::{Client, Round};
use crate::rows::{Layout, Rows};

/// Rows of two groups with different feature means and noisy labels, which no hyperplane separates.
pub(crate) fn random_rows(seed: u64, n_rows: usize, n_x: usize, intercept: bool) -> Rows {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let uniform = Uniform::new(0.0, 1.0).unwrap();
    let normal = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
    let direction: Vec<f64> = (0..n_x).map(|_| normal(&mut rng).abs() + 0.2).collect();
    let (mut x, mut s, mut y) = (vec![], vec![], vec![]);
    for _ in 0..n_rows {
        let privileged = uniform.sample(&mut rng) < 0.6;
        let gap = if privileged { 0.5 } else { -0.2 };
        let row: Vec<f64> = (0..n_x).map(|_| normal(&mut rng) + gap).collect();
        let score: f64 = row.iter().zip(&direction).map(|(a, b)| a * b).sum::<f64>() + gap;
        let chance = 1.0 / (1.0 + (-0.7 * score).exp());
        x.extend(row);
        s.push(privileged);
        y.push(uniform.sample(&mut rng) < chance);
    }
    Rows::new(Layout { n_x, intercept }, &x, &s, &y).unwrap()
}

/// Clients c0, c1, … with `n_rows` proxy rows and a third of that as root rows.
pub(crate) fn random_round(
    seed: u64,
    n_clients: usize,
    n_rows: usize,
    n_x: usize,
    intercept: bool,
) -> Round {
    let clients = (0..n_clients).map(|c| Client {
        id: format!("c{c}"),
        proxy: random_rows(seed * 100 + c as u64, n_rows + 3 * c, n_x, intercept),
        root: random_rows(seed * 100 + 50 + c as u64, n_rows / 3 + c, n_x, intercept),
    });
    Round::new(clients.collect()).unwrap()
}
