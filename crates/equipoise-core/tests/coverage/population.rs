//! Populations of scored, labelled rows in groups, and samples of them.

use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) group: usize,
    pub(crate) positive: bool,
    pub(crate) score: f64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Sampling {
    /// Rows at random.
    Plain,
    /// Each group and label in proportion to the population, at least one row.
    Stratified,
}

pub(crate) struct Population {
    pub(crate) name: String,
    pub(crate) n_groups: usize,
    pub(crate) rows: Vec<Row>,
    pub(crate) seed: u64,
}

impl Population {
    /// The rows to draw from, stratum by stratum.
    pub(crate) fn strata(&self, sampling: Sampling) -> Vec<Vec<Row>> {
        if let Sampling::Plain = sampling {
            return vec![self.rows.clone()];
        }
        let mut strata = vec![Vec::new(); 2 * self.n_groups];
        for row in &self.rows {
            strata[2 * row.group + usize::from(row.positive)].push(*row);
        }
        strata
    }
}

/// Draws `n` rows or a few more with replacement: from each stratum in proportion to its size, at least one.
pub(crate) fn sample(strata: &[Vec<Row>], n: usize, rng: &mut ChaCha8Rng) -> Vec<Row> {
    let total: usize = strata.iter().map(Vec::len).sum();
    let (mut sample, mut due) = (Vec::new(), 0.0);
    for stratum in strata {
        due += (n * stratum.len()) as f64 / total as f64;
        let rows = (due.round() as usize).saturating_sub(sample.len()).max(1);
        sample.extend((0..rows).map(|_| stratum[rng.random_range(0..stratum.len())]));
    }
    sample
}

/// Groups with normal logits; labels follow the scores. Equal groups, ties, a clear worst pair, rates near 0, 1/2 and
/// 1, equal and unequal shares.
pub(crate) fn synthetic() -> Vec<Population> {
    let thirds: &[f64] = &[0.34, 0.33, 0.33];
    let falling: &[f64] = &[0.5, 0.3, 0.2];
    [
        ("3 groups, clear", thirds, &[1.0, 0.0, -1.0][..], 1.0),
        ("3 groups, two tie", &[0.6, 0.25, 0.15], &[0.5, -0.5, -0.5], 1.0),
        ("3 groups, equal", thirds, &[0.0; 3], 1.0),
        ("2 groups", &[0.6, 0.4], &[0.8, -0.2], 1.2),
        ("2 groups, equal", &[0.6, 0.4], &[0.3, 0.3], 1.2),
        ("3 groups, equal near 1", thirds, &[1.3; 3], 1.0),
        ("3 groups, two tie at the top", thirds, &[0.5, 0.5, -0.5], 1.0),
        ("3 groups, near 1", falling, &[2.5, 2.0, 1.2], 1.0),
        ("3 groups, near 0", falling, &[-1.0, -1.8, -2.5], 1.0),
        ("3 groups, small gap", falling, &[0.6, 0.2, 0.1], 1.5),
        ("3 groups, narrow scores", falling, &[0.4, 0.1, -0.2], 0.4),
        ("4 groups, equal", &[0.25; 4], &[0.3; 4], 1.2),
        ("4 groups, spread", &[0.4, 0.3, 0.2, 0.1], &[1.0, 0.3, -0.3, -0.8], 1.2),
    ]
    .into_iter()
    .zip(1..)
    .map(|((name, shares, means, spread), seed)| normal_logits(name, shares, means, spread, seed))
    .collect()
}

/// Three groups with random shares, means and spreads. The bootstrap's constants were chosen by looking at some of these, so
/// judge it by others.
pub(crate) fn random(n_populations: u64) -> Vec<Population> {
    let draw = |number: u64| {
        let mut rng = ChaCha8Rng::seed_from_u64(9000 + number);
        let mut between = |low: f64, high: f64| low + (high - low) * rng.random::<f64>();
        let parts = [0; 3].map(|_| between(0.2, 1.0));
        let total: f64 = parts.iter().sum();
        let centre = between(-1.0, 1.5);
        let means = [0; 3].map(|_| centre + between(-0.9, 0.9));
        let spread = between(0.5, 2.0);
        let name = format!("random {number}");
        normal_logits(&name, &parts.map(|part| part / total), &means, spread, 9000 + number)
    };
    (1..=n_populations).map(draw).collect()
}

fn normal_logits(name: &str, shares: &[f64], means: &[f64], spread: f64, seed: u64) -> Population {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut rows = Vec::new();
    for (group, (share, mean)) in shares.iter().zip(means).enumerate() {
        for _ in 0..(20_000.0 * share) as usize {
            let noise: f64 = StandardNormal.sample(&mut rng);
            let score = 1.0 / (1.0 + (-(mean + spread * noise)).exp());
            rows.push(Row { group, positive: rng.random::<f64>() < score, score });
        }
    }
    Population { name: name.to_owned(), n_groups: shares.len(), rows, seed }
}
