//! The account is kept correctly, and statements that contradict themselves are found.

#![allow(clippy::unwrap_used)]

use rayon::prelude::*;

use super::super::columns::ClientData;
use super::*;
use crate::rows::{Layout, Rows};

fn spent(privacy: Privacy) -> (Budget, Vec<i64>) {
    let mut budget = Budget::new(privacy).unwrap();
    let mut numbers = vec![0; 50];
    for (release, _) in SHARES {
        budget.release(release, 1 << 20, &mut numbers).unwrap();
    }
    (budget, numbers)
}

#[test]
fn shares_add_up_and_all_releases_stay_within_epsilon() {
    assert!((SHARES.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-12);
    for epsilon in [0.1, 1.0, 3.0, 10.0] {
        let privacy = Privacy { epsilon, delta: 1e-6, test_seed: Some(4) };
        let statement = spent(privacy).0.statement();
        assert!(statement.epsilon <= epsilon && statement.epsilon > epsilon * 0.999);
        assert_eq!(statement.releases.len(), 3);
        assert_eq!(statement.contradiction(), None);
        assert!(!statement.private);
    }
}

#[test]
fn noise_is_reproducible_only_in_a_test_run() {
    let test = Privacy { epsilon: 1.0, delta: 1e-6, test_seed: Some(4) };
    assert_eq!(spent(test).1, spent(test).1);
    let real = Privacy { test_seed: None, ..test };
    assert_ne!(spent(real).1, spent(real).1);
    assert!(spent(real).0.statement().private);
}

#[test]
fn a_statement_whose_noise_is_too_small_contradicts_itself() {
    let privacy = Privacy { epsilon: 1.0, delta: 1e-6, test_seed: None };
    let mut statement = spent(privacy).0.statement();
    statement.releases[0].sigma_squared /= 2;
    assert!(statement.contradiction().unwrap().contains("ε = "));
}

/// Noise that hides nothing, or no noise: both would pass for a strong guarantee.
#[test]
fn a_statement_without_the_releases_of_a_private_proxy_contradicts_itself() {
    let privacy = Privacy { epsilon: 1.0, delta: 1e-6, test_seed: None };
    let statement = spent(privacy).0.statement();
    let with = |releases: Vec<NoisyRelease>| {
        let rho = releases.iter().map(NoisyRelease::rho).sum();
        let epsilon = epsilon_of(rho, statement.delta);
        PrivacyStatement { releases, rho, epsilon, ..statement.clone() }.contradiction()
    };
    let releases = &statement.releases;
    assert_eq!(with(releases.clone()), None);
    assert!(with(Vec::new()).is_some());
    assert!(with(releases[..2].to_vec()).is_some());
    assert!(with([&releases[..], &releases[..1]].concat()).is_some());
    let useless =
        |release: &NoisyRelease| NoisyRelease { sensitivity_squared: 0, ..release.clone() };
    assert!(with(releases.iter().map(useless).collect()).is_some());
}

#[test]
fn a_budget_too_small_for_any_signal_is_refused() {
    let privacy = Privacy { epsilon: 1e-7, delta: 1e-9, test_seed: None };
    let error = Budget::new(privacy).unwrap().release(Release::Products, 1 << 40, &mut [0]);
    assert!(error.unwrap_err().to_string().contains("dp_epsilon"));
}

/// Neighbouring tables: the second has a row more, at the bounds of all columns.
fn neighbours() -> [Rows; 2] {
    let layout = Layout::two_groups(2, true);
    let (x, groups, positive) = ([0.3, -0.2, 3.0, -3.0], [false, false], [false, false]);
    let one = Rows::new(layout.clone(), &x[..2], &groups[..1], &positive[..1]).unwrap();
    [one, Rows::new(layout, &x, &groups, &positive).unwrap()]
}

/// The log-likelihood ratio of the releases: the best that any attacker can do who knows all rows but one.
fn attack(rows: &Rows, rho: f64, run: u64) -> f64 {
    let data = ClientData::from(rows);
    let privacy = Privacy { epsilon: EPSILON, delta: DELTA, test_seed: Some(run) };
    let rng = ChaCha20Rng::seed_from_u64(run);
    let mut budget = Budget { privacy, rho, rng, releases: Vec::new() };
    let moments = NoisyMoments::release(&data, &mut budget).unwrap();
    let zeros = vec![0.0; rows.len()];
    let table = ScoreTable::release((rows, &zeros), (rows, &zeros), &mut budget);
    // Differences that the row makes, in units of the sums: 1 to the count, (1, −1) to the sums, and so on.
    let (sums, products) = (moments.sum_noise.powi(2), moments.product_noise.powi(2));
    let mut ratio = (moments.counts[0] + moments.sums[0][0] - moments.sums[0][1]) / sums;
    let all = &moments.products;
    ratio += (all[0] - all[1] + all[2]) / products;
    // The table shows the histogram up to rounding.
    let scores = budget.releases[2].sigma_squared as f64 / 256.0;
    ratio + table.unwrap().rows.len() as f64 / scores
}

const EPSILON: f64 = 4.0;
const DELTA: f64 = 1e-3;

/// The largest ε that 10,000 runs on each of two neighbouring tables prove at some δ, and what is promised there.
fn audit(noise_share: f64) -> Vec<(f64, f64)> {
    const RUNS: u64 = 10_000;
    let rho = rho_of(EPSILON, DELTA);
    let used = rho / (noise_share * noise_share);
    let [without, with] = neighbours();
    let run = |rows: &Rows, first: u64| -> Vec<f64> {
        let runs = first..first + RUNS;
        runs.into_par_iter().map(|run| attack(rows, used, run)).collect()
    };
    let (without, with) = (run(&without, 0), run(&with, RUNS));
    let mut cuts = with.clone();
    cuts.sort_by(f64::total_cmp);
    let rate = |found: &[f64], cut: f64| {
        let above = found.iter().filter(|value| **value > cut).count();
        wilson(above, found.len())
    };
    [1e-3, 1e-2, 0.1]
        .map(|delta| {
            let proved = cuts.iter().step_by(100).map(|&cut| {
                let ([true_low, _], [_, false_high]) = (rate(&with, cut), rate(&without, cut));
                ((true_low - delta).max(1e-300) / false_high).ln()
            });
            (proved.fold(0.0, f64::max), epsilon_of(rho, delta))
        })
        .to_vec()
}

/// The interval of a rate at four standard errors: 100 cuts are tried, so 95 % would not be enough.
fn wilson(successes: usize, n: usize) -> [f64; 2] {
    let (p, n, z) = (successes as f64 / n as f64, n as f64, 4.0);
    let centre = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    [centre - half, centre + half].map(|bound| bound / (1.0 + z * z / n))
}

#[test]
fn the_best_attack_on_neighbouring_tables_proves_no_more_than_promised() {
    for (proved, promised) in audit(1.0) {
        assert!(proved <= promised, "{proved}, {promised}");
        // The attack is not a weak one.
        assert!(proved > 0.3 * promised, "{proved}, {promised}");
    }
}

#[test]
fn the_same_attack_finds_noise_that_is_half_as_large() {
    assert!(audit(0.5).iter().any(|(proved, promised)| proved > promised));
}
