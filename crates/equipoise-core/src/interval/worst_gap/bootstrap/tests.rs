//! The bootstrap against exact enumeration, direct maximisation and the binomial distribution's definition.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod reach;

use super::*;

fn cell(successes: usize, n: usize) -> Cell {
    let value = successes as f64 / n as f64;
    Cell { n, value, smoothed: value }
}

fn probability(k: usize, n: usize, rate: f64) -> f64 {
    let ways = (0..k).fold(1.0, |ways, i| ways * (n - i) as f64 / (i + 1) as f64);
    ways * rate.powi(k as i32) * (1.0 - rate).powi((n - k) as i32)
}

#[test]
fn quantiles_are_those_of_the_binomial_distribution() {
    for (n, rate) in [(1, 0.3), (7, 0.95), (40, 0.5), (200, 0.01)] {
        let mut quantiles = vec![0.0; 1000];
        binomial_quantiles(n, rate, &mut quantiles);
        for k in 0..=n {
            let found = quantiles.iter().filter(|q| **q == k as f64 / n as f64).count();
            assert!((found as f64 / 1000.0 - probability(k, n, rate)).abs() < 1.5e-3, "{n} {k}");
        }
    }
    let mut quantiles = vec![0.5; 4];
    binomial_quantiles(9, 1.0, &mut quantiles);
    assert_eq!(quantiles, [1.0; 4]);
}

/// The rates that a fine grid finds.
#[test]
fn null_rates_maximise_the_likelihood() {
    let cells = [cell(3, 12), cell(9, 10), cell(14, 25)];
    let likelihood = |rates: &[f64]| -> f64 {
        let of = |(cell, rate): (&Cell, &f64)| {
            cell.n as f64 * (cell.value * rate.ln() + (1.0 - cell.value) * (1.0 - rate).ln())
        };
        cells.iter().zip(rates).map(of).sum()
    };
    for (gap, ends) in [(0.0, None), (0.2, None), (0.5, None), (0.8, Some((1, 0)))] {
        let best = (1..4000)
            .map(|at| f64::from(at) / 4000.0 * (1.0 - gap))
            .map(|low| match ends {
                None => cells.iter().map(|c| c.value.clamp(low, low + gap)).collect(),
                Some(_) => vec![low, low + gap, cells[2].value.clamp(low, low + gap)],
            })
            .max_by(|a: &Vec<f64>, b| likelihood(a).total_cmp(&likelihood(b)));
        let found = null_rates(&cells, gap, ends);
        for (found, expected) in found.iter().zip(best.unwrap()) {
            assert!((found - expected).abs() < 3e-4, "{gap}: {found} {expected}");
        }
    }
    let pooled = null_rates(&cells, 0.0, None);
    assert!((pooled[0] - 26.0 / 47.0).abs() < 1e-8, "a gap of 0 has the pooled rate");
}

/// The tails that 2,048 draws estimate, from all outcomes of three small groups.
#[test]
fn tails_agree_with_all_outcomes() {
    for (counts, gap) in [
        ([(1, 6), (4, 7), (5, 5)], 0.0),
        ([(2, 6), (4, 9), (7, 8)], 0.3),
        ([(3, 4), (0, 6), (2, 5)], 0.5),
    ] {
        let cells: Vec<Cell> = counts.iter().map(|&(k, n)| cell(k, n)).collect();
        let rates = null_rates(&cells, gap, None);
        let largest = |values: &[f64]| {
            let error = |a: usize| rates[a] * (1.0 - rates[a]) / counts[a].1 as f64;
            ordered_pairs(3)
                .map(|(a, b)| (values[a] - values[b] - gap) / (error(a) + error(b)).sqrt())
                .fold(f64::NEG_INFINITY, f64::max)
        };
        let found = largest(&cells.iter().map(|c| c.value).collect::<Vec<_>>());
        let (mut above, mut below, mut too_large) = (0.0, 0.0, 0.0);
        for i in 0..=counts[0].1 {
            for j in 0..=counts[1].1 {
                for k in 0..=counts[2].1 {
                    let outcome = [i, j, k];
                    let weight: f64 =
                        (0..3).map(|c| probability(outcome[c], counts[c].1, rates[c])).product();
                    let values: Vec<f64> =
                        (0..3).map(|c| outcome[c] as f64 / counts[c].1 as f64).collect();
                    let t = largest(&values);
                    above += weight
                        * if t > found + 1e-9 {
                            1.0
                        } else if t < found - 1e-9 {
                            0.0
                        } else {
                            0.5
                        };
                    below += weight
                        * if t < found - 1e-9 {
                            1.0
                        } else if t > found + 1e-9 {
                            0.0
                        } else {
                            0.5
                        };
                    too_large += if t < -Z { weight } else { 0.0 };
                }
            }
        }
        let mut bootstrap = Bootstrap::new(vec![cells]);
        let tails = bootstrap.tails(gap, (0, (0, 1)), 0.0);
        let limits = [
            (tails.above, above),
            (tails.below, below),
            (tails.too_large, f64::min(too_large, 0.025)),
        ];
        for (found, expected) in limits {
            // Three standard errors of 2,048 draws.
            let error = 3.0 * (expected * (1.0 - expected) / DRAWS as f64).sqrt() + 1e-3;
            assert!((found - expected).abs() < error, "{counts:?}: {found} {expected}");
        }
    }
}
