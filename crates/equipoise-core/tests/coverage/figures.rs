//! Coverage of single figures: rates and their combinations, AUC, mean differences, calibration, rows needed.

use equipoise_core::{
    Auc, Count, Estimate, WorstGap, balanced_accuracy, calibration, paired_mean, rate_difference,
    rate_ratio, rows_per_group, worst_ratio,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use crate::full;

/// The share of samples, in percent, whose interval contains `truth`. Samples without a figure do not count.
fn coverage(truth: f64, sample: impl Fn(&mut ChaCha8Rng) -> Option<Estimate> + Sync) -> f64 {
    let n: u64 = if full() { 20_000 } else { 3000 };
    let (covered, measured) = (0..n)
        .into_par_iter()
        .filter_map(|seed| sample(&mut ChaCha8Rng::seed_from_u64(seed)))
        .map(|estimate| (usize::from(estimate.contains(truth)), 1usize))
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    assert!(measured as u64 * 2 > n);
    100.0 * covered as f64 / measured as f64
}

fn binomial(rng: &mut ChaCha8Rng, n: usize, p: f64) -> Count {
    Count::of((0..n).map(|_| rng.random::<f64>() < p))
}

#[test]
fn rates_ratios_and_balanced_accuracy() {
    let mut all = Vec::new();
    for (p, q) in [(0.5, 0.5), (0.6, 0.75), (0.2, 0.3), (0.9, 0.95), (0.3, 0.9)] {
        for (m, n) in [(20, 20), (10, 30), (6, 77), (100, 140)] {
            let draw = move |rng: &mut ChaCha8Rng| (binomial(rng, m, p), binomial(rng, n, q));
            let pair = |of: fn(Count, Count) -> Option<Estimate>| {
                move |rng: &mut ChaCha8Rng| {
                    let (a, b) = draw(rng);
                    of(a, b)
                }
            };
            let found = [
                coverage(p - q, pair(rate_difference)),
                coverage(p / q, pair(rate_ratio)),
                coverage((p + q) / 2.0, pair(balanced_accuracy)),
            ];
            println!(
                "rates {p} of {m}, {q} of {n}: difference {:.1}, ratio {:.1}, mean {:.1} %",
                found[0], found[1], found[2]
            );
            all.extend(found);
        }
    }
    assert_near_nominal(&all, 92.0);
}

/// Three and four groups: all equal, one apart, all different.
#[test]
fn the_lowest_rate_as_a_share_of_the_highest() {
    let mut all = Vec::new();
    for rates in [&[0.5; 3][..], &[0.8, 0.8, 0.6], &[0.6, 0.4, 0.4], &[0.9, 0.7, 0.5, 0.4]] {
        let lowest = rates.iter().copied().fold(1.0, f64::min);
        let truth = lowest / rates.iter().copied().fold(0.0, f64::max);
        for sizes in [[20; 4], [40, 30, 20, 15], [80; 4]] {
            let found = coverage(truth, |rng| {
                let cells = rates.iter().zip(sizes).map(|(&rate, n)| binomial(rng, n, rate));
                worst_ratio(&cells.collect::<Vec<_>>())
            });
            println!("ratio of {rates:?}, {sizes:?} rows: {found:.1} %");
            all.push(found);
        }
    }
    assert_near_nominal(&all, 93.0);
}

/// Normal scores, 1 apart for a useful model; cells from 3 to 60 rows.
#[test]
fn auc_of_normal_scores() {
    let mut all = Vec::new();
    for distance in [0.0f64, 1.0, 1.8, 2.6] {
        let truth = equipoise_core::normal_cdf(distance / 2f64.sqrt());
        for (m, n) in [(3, 30), (6, 6), (5, 35), (12, 12), (30, 10), (60, 180)] {
            let found = coverage(truth, |rng| {
                let (scores, positive) = labelled_scores(rng, m, n, distance);
                Some(Auc::of(&scores, &positive)?.estimate())
            });
            println!("AUC {truth:.3}, {m} and {n} rows: {found:.1} %");
            all.push(found);
        }
    }
    assert_near_nominal(&all, 92.0);
}

#[test]
fn paired_differences_and_calibration() {
    let mut all = Vec::new();
    for n in [20, 40, 83, 240] {
        all.push(coverage(0.3, |rng| {
            paired_mean(&(0..n).map(|_| 0.3 + normal(rng)).collect::<Vec<_>>())
        }));
        all.push(coverage(0.1, |rng| {
            let scores: Vec<f64> = (0..n).map(|_| 0.2 + 0.8 * rng.random::<f64>()).collect();
            let positive: Vec<bool> =
                scores.iter().map(|s| rng.random::<f64>() < s - 0.1).collect();
            calibration(&scores, &positive)
        }));
        println!("paired, {n} rows: {:.1?}", &all[all.len() - 2..]);
    }
    assert_near_nominal(&all, 92.0);
}

/// With as many rows as are said to be needed, four of five intervals exclude the bound.
#[test]
fn rows_needed_are_enough_in_four_of_five_samples() {
    for (p, q, bound) in
        [(0.6, 0.4, 0.05), (0.5, 0.5, 0.1), (0.9, 0.75, 0.05), (0.3, 0.31, 0.05), (0.9, 0.9, 0.2)]
    {
        let gap: f64 = p - q;
        let rows = rows_per_group(gap, (p * (1.0 - p), q * (1.0 - q)), bound).unwrap();
        let decided = |rng: &mut ChaCha8Rng| {
            let gap =
                rate_difference(binomial(rng, rows, p), binomial(rng, rows, q)).unwrap().abs();
            gap.high <= bound || gap.low > bound
        };
        let n = 1000;
        let found = (0..n).into_par_iter().filter(|&s| decided(&mut ChaCha8Rng::seed_from_u64(s)));
        let share = found.count() as f64 / n as f64;
        println!("{p} and {q}, bound {bound}: {rows} rows per group decide {:.0} %", 100.0 * share);
        // Few rows have few possible gaps, and the normal approximation is rough.
        let least = if rows < 100 { 0.72 } else { 0.76 };
        assert!((least..0.86).contains(&share), "{share}");
    }
}

/// The same for the worst gap of several groups.
#[test]
fn rows_needed_by_several_groups_are_enough_in_four_of_five_samples() {
    for (rates, bound) in [
        (&[0.5, 0.5, 0.5][..], 0.1),
        (&[0.8, 0.8, 0.8, 0.8], 0.1),
        (&[0.6, 0.58, 0.55], 0.1),
        (&[0.6, 0.5, 0.4], 0.1),
        (&[0.7, 0.4, 0.4], 0.1),
    ] {
        let cell = |rate: f64| Count { successes: (rate * 1e6) as usize, n: 1_000_000 };
        let found: Vec<Count> = rates.iter().map(|&rate| cell(rate)).collect();
        let rows = WorstGap::rows_per_group(&[found], bound).unwrap();
        let decided = |seed: &u64| {
            let mut rng = ChaCha8Rng::seed_from_u64(*seed);
            let cells: Vec<Count> = rates.iter().map(|&p| binomial(&mut rng, rows, p)).collect();
            let gap = WorstGap::of(&[cells], 0).unwrap().gap.abs();
            gap.high <= bound || gap.low > bound
        };
        let n = 1000;
        let share = (0..n).into_par_iter().filter(decided).count() as f64 / n as f64;
        println!("{rates:?}, bound {bound}: {rows} rows per group decide {:.0} %", 100.0 * share);
        // Beyond the bound, the advice counts one pair only; a second one as wide makes a decision more likely.
        let most = if rates == [0.7, 0.4, 0.4] { 0.95 } else { 0.88 };
        assert!((0.72..most).contains(&share), "{share}");
    }
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

fn labelled_scores(
    rng: &mut ChaCha8Rng,
    n_positive: usize,
    n_negative: usize,
    distance: f64,
) -> (Vec<f64>, Vec<bool>) {
    let positive: Vec<bool> = (0..n_positive + n_negative).map(|i| i < n_positive).collect();
    let scores = positive.iter().map(|&p| normal(rng) + if p { distance } else { 0.0 }).collect();
    (scores, positive)
}

fn assert_near_nominal(coverages: &[f64], least: f64) {
    let mean = coverages.iter().sum::<f64>() / coverages.len() as f64;
    let lowest = coverages.iter().copied().fold(f64::INFINITY, f64::min);
    println!("mean {mean:.2}, lowest {lowest:.1} %");
    assert!(lowest >= least && (94.0..98.0).contains(&mean), "mean {mean}, lowest {lowest}");
}
