//! The reference implementation's weights on made-up rounds: see `bench/reference/tilt_rounds.py`, which
//! wrote `rounds.json`.

use serde::Deserialize;

use super::*;
use crate::rows::{Layout, Rows};
use crate::test_rows;

const N_X: usize = 5;

#[derive(Deserialize)]
pub(super) struct Stored {
    seed: u64,
    pub(super) clients: usize,
    groups: usize,
    criterion: String,
    kind: String,
    unreliable: usize,
    root_rows: usize,
    proxy_rows: usize,
    gap: f64,
    useful: Vec<f64>,
    shift: Vec<f64>,
    weights: Vec<f64>,
    theta: Vec<f64>,
    came_back: bool,
    limited: usize,
    levels: Vec<f64>,
    guard: Option<String>,
}

pub(super) fn stored() -> Vec<Stored> {
    serde_json::from_str(include_str!("../rounds.json")).unwrap()
}

struct Draw(u64);

impl Draw {
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (self.uniform() + self.uniform() + self.uniform() + self.uniform() - 2.0) * 1.75
    }
}

fn table(draw: &mut Draw, layout: &Layout, n: usize, gap: f64) -> Rows {
    let n_groups = layout.groups.len();
    let (mut x, mut groups, mut positive) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..n {
        let group = (draw.uniform() * n_groups as f64) as usize;
        let mut row: Vec<f64> = (0..N_X - 1).map(|_| draw.normal()).collect();
        row.push(f64::from(u8::from(draw.uniform() < 0.02)));
        row[0] += gap * group as f64 / (n_groups - 1) as f64;
        let t = 1.5 * (0.8 * row[0] + 0.7 * row[1] - 0.4 * row[2] + 0.5 * row[4]);
        let p = 0.5 + 0.5 * t / (1.0 + t.abs());
        x.extend(row);
        groups.push(group as u8);
        positive.push(draw.uniform() < p);
    }
    Rows::new(layout.clone(), &x, &groups, &positive).unwrap()
}

fn model(draw: &mut Draw, n_groups: usize, gap: f64, kind: &str) -> Vec<f64> {
    let mut theta: Vec<f64> = [0.8, 0.7, -0.4, 0.0, 0.5].map(|b| b + 0.12 * draw.normal()).to_vec();
    for group in 1..n_groups {
        let normal = draw.normal();
        theta.push(0.1 * normal - 0.8 * gap * group as f64 / (n_groups - 1) as f64);
    }
    theta.push(0.1 * draw.normal() - 0.1);
    let last = N_X + n_groups - 2;
    let scale = |theta: &mut Vec<f64>, factor: f64| theta.iter_mut().for_each(|t| *t *= factor);
    match kind {
        "raw" => theta[last] += 0.8 * gap + 0.6,
        "flip" => scale(&mut theta, -1.0),
        "useless" => theta.iter_mut().for_each(|t| *t = draw.normal()),
        "whisper" => {
            scale(&mut theta, 0.000001 * 0.02);
            theta[last] += 0.000001;
        }
        "constant" => {
            theta.fill(0.0);
            theta[last + 1] = 1000.0;
        }
        "rare" => theta[4] = -40.0,
        "loud" => {
            scale(&mut theta, 1000.0);
            theta[last] += 500.0;
        }
        _ => {}
    }
    theta
}

impl Stored {
    /// The same round with another gap, no unreliable clients and more trusted rows.
    pub(super) fn set(&mut self, gap: f64, unreliable: usize, root_rows: usize) {
        (self.gap, self.unreliable, self.root_rows) = (gap, unreliable, root_rows);
    }

    /// What the server has, and the models.
    pub(super) fn make(&self) -> (Input, Vec<Vec<f64>>) {
        let layout = test_rows::layout(self.groups, N_X, true, true);
        let mut draw = Draw(self.seed * 7919 + 12345);
        let roots: Vec<Rows> = (0..self.clients)
            .map(|_| table(&mut draw, &layout, self.root_rows, self.gap))
            .collect();
        let proxies: Vec<Rows> = (0..self.clients)
            .map(|c| table(&mut draw, &layout, self.proxy_rows + 10 * c, self.gap))
            .collect();
        let unfair_but_one = self.kind == "unfair-but-one";
        let kind = |client: usize| match (unfair_but_one, client < self.unreliable) {
            (true, true) => "raw",
            (true, false) => "useless",
            (false, true) => self.kind.as_str(),
            (false, false) => "none",
        };
        let mut models: Vec<Vec<f64>> =
            (0..self.clients).map(|c| model(&mut draw, self.groups, self.gap, kind(c))).collect();
        if unfair_but_one {
            models[self.clients - 1] = vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.05];
        }
        let fairness = self.criterion.replace("eodds", "equalized-odds").parse().unwrap();
        (input_of(fairness, &roots, &proxies), models)
    }
}

/// With the rows that are sampled from these proxies.
pub(super) fn input_of(fairness: Fairness, roots: &[Rows], proxies: &[Rows]) -> Input {
    let of_client = |(client, rows): (usize, &Rows)| vec![client; rows.len()];
    let clients = roots.iter().enumerate().flat_map(of_client).collect();
    let trusted = Trusted::new(Rows::concat(roots).unwrap(), Some(clients), roots.len()).unwrap();
    let packed = crate::packed_rows::PackedRows::of(proxies).unwrap();
    let samples = spaced_samples(&packed, proxies[0].layout()).unwrap();
    let rows = ProxyRows::new(&samples, &trusted).unwrap();
    let n_rows = proxies.iter().map(|rows| rows.len() as f64).collect();
    Input { fairness, trusted, rows, n_rows, noise: vec![0.0; proxies.len()] }
}

fn assert_close(name: &str, seed: u64, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{name}, round {seed}");
    for (f, e) in found.iter().zip(expected) {
        assert!(
            (f - e).abs() <= tolerance,
            "{name}, round {seed}: {found:?}, expected {expected:?}"
        );
    }
}

/// The descent stops at a change of 1e-6, so weights agree to about that; what is computed directly, to
/// rounding.
#[test]
fn weights_are_those_of_the_reference() {
    for round in stored() {
        let (input, models) = round.make();
        let scaled = Scaled::new(&models, &input.trusted.rows).unwrap();
        assert_close("P(useful)", round.seed, &scaled.useful, &round.useful, 1e-8);
        assert_close("shift", round.seed, &scaled.shifts, &round.shift, 1e-8);
        let decision = input.decide(&scaled);
        assert_eq!(decision.came_back.is_some(), round.came_back, "round {}", round.seed);
        let levels: Vec<f64> = decision.judged.iter().map(|of| of.posterior.level.value).collect();
        assert_close("levels", round.seed, &levels, &round.levels, 1e-7);
        assert_eq!(decision.limited.len(), round.limited, "round {}", round.seed);
        let weights = decision.weights_of_all(round.clients);
        assert_close("weights", round.seed, &weights, &round.weights, 1e-5);
        assert_close("theta", round.seed, &decision.theta, &round.theta, 1e-4);
        let contrasts: Vec<Contrast> =
            decision.judged.iter().map(|of| of.contrast.clone()).collect();
        let guard = guard::better_root_only(
            &input.trusted.rows,
            &decision.theta,
            &contrasts,
            input.fairness,
        );
        let form = guard.unwrap().map(|better| if better.by_group { "fair" } else { "raw" });
        assert_eq!(form, round.guard.as_deref(), "round {}", round.seed);
    }
}

/// `cargo test --release -p equipoise-core --lib cost -- --ignored --nocapture`: seconds without the fits.
#[test]
#[ignore = "prints times, checks nothing"]
#[allow(clippy::print_stdout)]
fn cost() {
    for clients in [12, 200, 1000] {
        let mut round = stored().swap_remove(1);
        (round.clients, round.unreliable, round.root_rows) = (clients, clients / 2, 10);
        let (input, models) = round.make();
        let start = std::time::Instant::now();
        let scaled = Scaled::new(&models, &input.trusted.rows).unwrap();
        let after_scale = start.elapsed();
        let decision = input.decide(&scaled);
        println!(
            "{clients} clients, {} rows, {} trusted: scale {:.3} s, all {:.3} s; useful {}",
            input.rows.rows.len(),
            input.trusted.rows.len(),
            after_scale.as_secs_f64(),
            start.elapsed().as_secs_f64(),
            decision.clients.len()
        );
    }
}
