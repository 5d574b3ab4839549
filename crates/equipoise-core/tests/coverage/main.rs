//! How often 95 % intervals contain the true value, over roots resampled from known populations.
//!
//! By default a few populations with 300 roots each. In full, with a table of all coverages:
//! `EQUIPOISE_FULL=1 cargo test --release -p equipoise-core --test coverage -- --nocapture --test-threads 1`.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

mod figures;
mod population;
mod tables;

use equipoise_core::{Count, Moments, WorstGap};
use population::{Population, Row, Sampling};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

const SIZES: [usize; 3] = [40, 83, 240];

fn full() -> bool {
    std::env::var_os("EQUIPOISE_FULL").is_some()
}

/// Criteria as lists of conditions: all rows, or those with one label.
const CRITERIA: [(&str, &[Option<bool>]); 3] =
    [("SP", &[None]), ("EO", &[Some(true)]), ("odds", &[Some(true), Some(false)])];

fn scores(
    rows: &[Row],
    group: usize,
    label: Option<bool>,
) -> impl Iterator<Item = f64> + Clone + '_ {
    let counts = move |row: &&Row| row.group == group && label.is_none_or(|l| l == row.positive);
    rows.iter().filter(counts).map(|row| row.score)
}

fn hard(rows: &[Row], n_groups: usize, conditions: &[Option<bool>]) -> Vec<Vec<Count>> {
    let cell = |label, group| Count::of(scores(rows, group, label).map(|score| score > 0.5));
    conditions.iter().map(|&l| (0..n_groups).map(|g| cell(l, g)).collect()).collect()
}

fn soft(rows: &[Row], n_groups: usize, conditions: &[Option<bool>]) -> Vec<Vec<Moments>> {
    let cell = |label, group| Moments::of(scores(rows, group, label));
    conditions.iter().map(|&l| (0..n_groups).map(|g| cell(l, g)).collect()).collect()
}

/// How often the interval lies above or below the true worst gap, among roots in which every cell has rows.
struct Coverage {
    roots: usize,
    too_high: usize,
    too_low: usize,
    width: f64,
}

impl Coverage {
    fn percent(&self) -> f64 {
        100.0 * (1.0 - (self.too_high + self.too_low) as f64 / self.roots as f64)
    }
}

/// With a single pair the signed gap must be covered, with more its size: which pair is the worst is itself uncertain.
fn cover(truth: &WorstGap, roots: &[Option<WorstGap>], single_pair: bool) -> Coverage {
    let mut coverage = Coverage { roots: 0, too_high: 0, too_low: 0, width: 0.0 };
    for root in roots.iter().flatten().filter(|root| root.empty.is_empty()) {
        let (interval, value) = if single_pair {
            (root.gap, truth.gap.value)
        } else {
            (root.gap.abs(), truth.gap.value.abs())
        };
        coverage.roots += 1;
        coverage.too_high += usize::from(interval.low > value + 1e-12);
        coverage.too_low += usize::from(interval.high < value - 1e-12);
        coverage.width += interval.high - interval.low;
    }
    coverage
}

struct Measured {
    name: String,
    percent: f64,
}

fn measure(population: &Population, sampling: Sampling, n_roots: usize) -> Vec<Measured> {
    let k = population.n_groups;
    let strata = population.strata(sampling);
    let mut measured = Vec::new();
    for n in SIZES {
        let roots: Vec<Vec<Row>> = (0..n_roots as u64)
            .into_par_iter()
            .map(|seed| {
                let mut rng = ChaCha8Rng::seed_from_u64(population.seed ^ (seed << 16) ^ n as u64);
                population::sample(&strata, n, &mut rng)
            })
            .collect();
        for (criterion, conditions) in CRITERIA {
            for kind in ["hard", "soft"] {
                let worst = |rows: &[Row]| match kind {
                    "hard" => WorstGap::of(&hard(rows, k, conditions), 0),
                    _ => WorstGap::of(&soft(rows, k, conditions), 0),
                };
                let truth = worst(&population.rows).unwrap();
                let found: Vec<_> = roots.par_iter().map(|rows| worst(rows)).collect();
                let coverage = cover(&truth, &found, k == 2 && conditions.len() == 1);
                // Where half of the roots lack a cell, what remains is no longer a sample of the population.
                if coverage.roots * 2 < n_roots {
                    continue;
                }
                let name =
                    format!("{:26} {sampling:?} {n:3} {criterion:4} {kind}", population.name);
                println!(
                    "{name} | gap {:.3} | covered {:5.1} % too high {:4.1} too low {:4.1} | \
                     width {:.3} | roots {}",
                    truth.gap.value.abs(),
                    coverage.percent(),
                    100.0 * coverage.too_high as f64 / coverage.roots as f64,
                    100.0 * coverage.too_low as f64 / coverage.roots as f64,
                    coverage.width / coverage.roots as f64,
                    coverage.roots,
                );
                measured.push(Measured { name, percent: coverage.percent() });
            }
        }
    }
    measured
}

/// No coverage falls below 93 % by more than three standard errors of the simulation, and the mean is at least 94.5 %.
/// Discrete cells of a few rows make intervals that cover more than 97 %; the table shows where. The lowest in full,
/// 91 %, is Law School in two groups with stratified roots of 40 rows and soft scores: cells of one to five rows with
/// skewed scores.
fn assert_covered(measured: &[Measured], n_roots: usize) {
    let error = 100.0 * (0.93 * 0.07 / n_roots as f64).sqrt();
    let low: Vec<String> = measured
        .iter()
        .filter(|m| m.percent < 93.0 - 3.0 * error)
        .map(|m| format!("{} {:.1}", m.name, m.percent))
        .collect();
    assert!(low.is_empty(), "covered too rarely: {low:#?}");
    let mean = measured.iter().map(|m| m.percent).sum::<f64>() / measured.len() as f64;
    let within = measured.iter().filter(|m| (93.0..=97.0).contains(&m.percent)).count();
    let below = measured.iter().filter(|m| m.percent < 93.0).count();
    let above = measured.len() - within - below;
    println!("mean {mean:.2} %; below 93 %: {below}, 93 to 97 %: {within}, above 97 %: {above}");
    assert!(mean > 94.5, "{mean}");
}

#[test]
fn worst_gaps_of_synthetic_populations() {
    let (n_roots, take) = if full() { (1000, usize::MAX) } else { (300, 4) };
    for sampling in [Sampling::Plain, Sampling::Stratified] {
        let populations = population::synthetic();
        let measured: Vec<Measured> =
            populations.iter().take(take).flat_map(|p| measure(p, sampling, n_roots)).collect();
        assert_covered(&measured, n_roots);
    }
}

#[test]
fn worst_gaps_of_random_populations() {
    let (n_roots, n_populations) = if full() { (1000, 12) } else { (300, 2) };
    for sampling in [Sampling::Plain, Sampling::Stratified] {
        let populations = population::random(n_populations);
        let measured: Vec<Measured> =
            populations.iter().flat_map(|p| measure(p, sampling, n_roots)).collect();
        assert_covered(&measured, n_roots);
    }
}

#[test]
fn worst_gaps_of_law_school_and_dutch() {
    let Some(populations) = tables::populations() else {
        println!("SKIPPED: ../shared/data does not exist");
        return;
    };
    let (n_roots, groups) = if full() { (1000, 2..=4) } else { (200, 3..=3) };
    for sampling in [Sampling::Plain, Sampling::Stratified] {
        let measured: Vec<Measured> = populations
            .iter()
            .filter(|p| groups.contains(&p.n_groups))
            .flat_map(|p| measure(p, sampling, n_roots))
            .collect();
        assert_covered(&measured, n_roots);
    }
}
