//! The test that people mean, against a plain Newton fit and counts by hand.
#![allow(clippy::unwrap_used)]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::NoopObserver;
use crate::proxy::{ProxySettings, generate_proxy, test_fair_proxy};
use crate::test_rows::{layout, random_rows_of};

/// The minimiser of the mean loss with ridge `r`, by Newton's method and Gaussian elimination.
fn plain_fit(rows: &Rows, r: f64) -> Vec<f64> {
    let n = rows.layout().n();
    let mut theta = vec![0.0; n];
    for _ in 0..100 {
        let mut system = vec![vec![0.0; n + 1]; n];
        for i in 0..rows.len() {
            let (a, y) = (rows.a(i), rows.labels()[i]);
            let margin: f64 = y * a.iter().zip(&theta).map(|(a, t)| a * t).sum::<f64>();
            let wrong = 1.0 / (1.0 + margin.exp());
            let curvature = wrong * (1.0 - wrong);
            for j in 0..n {
                system[j][n] += y * wrong * a[j] / rows.len() as f64;
                for k in 0..n {
                    system[j][k] += curvature * a[j] * a[k] / rows.len() as f64;
                }
            }
        }
        for (j, row) in system.iter_mut().enumerate() {
            row[j] += r;
            row[n] -= r * theta[j];
        }
        let step = eliminate(system);
        theta.iter_mut().zip(&step).for_each(|(t, s)| *t += s);
        if step.iter().all(|s| s.abs() < 1e-12) {
            break;
        }
    }
    theta
}

fn eliminate(mut system: Vec<Vec<f64>>) -> Vec<f64> {
    let n = system.len();
    for pivot in 0..n {
        let own = system[pivot].clone();
        for (_, other) in system.iter_mut().enumerate().filter(|(row, _)| *row != pivot) {
            let factor = other[pivot] / own[pivot];
            other.iter_mut().zip(&own).for_each(|(value, p)| *value -= factor * p);
        }
    }
    (0..n).map(|i| system[i][n] / system[i][i]).collect()
}

/// The largest difference between the selection rates of two groups.
fn counted_gap(theta: &[f64], rows: &Rows) -> f64 {
    let mut counts = vec![(0.0, 0.0); rows.layout().groups.len()];
    for i in 0..rows.len() {
        let score: f64 = rows.a(i).iter().zip(theta).map(|(a, t)| a * t).sum();
        let count = &mut counts[rows.group(i)];
        count.1 += 1.0;
        count.0 += f64::from(u8::from(score > 0.0));
    }
    let rates: Vec<f64> = counts.iter().filter(|c| c.1 > 0.0).map(|c| c.0 / c.1).collect();
    let high = rates.iter().copied().fold(0.0, f64::max);
    high - rates.iter().copied().fold(1.0, f64::min)
}

#[test]
fn the_worst_gap_of_random_proxies_is_that_of_a_plain_refit() {
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    let mut verdicts = [0, 0];
    for seed in 0..200u64 {
        let layout = layout(2 + (seed % 3) as usize, 3, seed % 4 != 0, true);
        let data = random_rows_of(&layout, seed, 300);
        let proxy = match seed % 3 {
            // A fair proxy, rows of someone else, and the client's own rows.
            0 => {
                let settings = ProxySettings { seed, ..ProxySettings::new(Fairness::SP) };
                generate_proxy(&data, &settings, &mut NoopObserver).unwrap().rows
            }
            1 => random_rows_of(&layout, 1000 + seed, 200),
            _ => data.clone(),
        };
        let test = test_fair_proxy(&proxy, &data, Fairness::SP, f64::MAX).unwrap();
        let models = ProxyModels::measure(&proxy, &data, &test).unwrap();
        let n = layout.n() as f64;
        let regularised = counted_gap(&plain_fit(&proxy, LAMBDA / (n * n)), &data);
        let unregularised = counted_gap(&plain_fit(&proxy, 1e-13), &data);
        let found = models.worst_gap(Fairness::SP);
        let expected = regularised.max(unregularised);
        assert!((found - expected).abs() < 1e-9, "seed {seed}: {found} against {expected}");
        let allowed: f64 = rng.random_range(0.0..0.3);
        let is_fair = found <= allowed;
        assert!(!is_fair || expected <= allowed + 1e-9, "seed {seed}: a false `fair`");
        verdicts[usize::from(is_fair)] += 1;
    }
    assert!(verdicts.iter().all(|&count| count > 30), "both verdicts occur: {verdicts:?}");
}
