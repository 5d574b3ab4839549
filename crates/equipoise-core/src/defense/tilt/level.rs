//! Where zero is, and who is fair: the posterior of one contrast, on a grid.
//!
//! The gap of the mean client's model is `a`. Client `c` differs from it by `u_c`, so its own gap is `u_c +
//! a`:
//!
//! ```text
//! fair clients     u_c + a ~ N(0, own_c² + τ²)
//! biased clients   u_c + a ~ N(μ, own_c² + τ²)        as many as fair ones, unless nobody is biased (probability .2)
//! anybody else     uniform on (−1, 1)                 one in twenty
//! level            a ~ N(root gap, error²) · (.8 N(rows' gap, error²) + .2 · ½)
//! ```

/// Prior probability that what a client sends, and what all rows together say, is honest.
pub(super) const HONEST: f64 = 0.8;
/// Standard deviations `τ` of honest clients' gaps, equally likely.
pub(super) const SPREADS: [f64; 3] = [0.015, 0.03, 0.06];
/// Share of clients that are neither fair nor biased like others.
const OUTLIERS: f64 = 0.05;
/// Prior probability that nobody is biased.
const NONE_BIASED: f64 = 0.2;
/// A bias is at least so many spreads.
const MIN_BIAS: f64 = 2.5;
/// The density of a gap that can be anything.
const ANYTHING: f64 = 0.5;
/// Levels are −1, −.99, …, 1; biases are multiples of two steps.
const STEP: f64 = 0.01;
const STEPS: i32 = 100;
/// A point of the grid this much less likely than the best one is left out.
const NEGLIGIBLE: f64 = 45.0;

/// A number and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figure {
    pub(super) value: f64,
    pub(super) error: f64,
}

impl Figure {
    fn density(&self, at: f64) -> f64 {
        normal(at - self.value, self.error)
    }

    /// The probability that the rows' gap is honest, given how far both gaps are apart.
    pub(super) fn honest_rows(root: Self, rows: Self) -> f64 {
        let honest = HONEST * normal(root.value - rows.value, root.error.hypot(rows.error));
        honest / (honest + (1.0 - HONEST) * ANYTHING)
    }
}

/// What is known about the clients along one contrast.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    /// Each client's gap minus that of the mean client, with its own error.
    pub(super) offsets: Vec<Figure>,
    /// The gap of the mean client's decisions on the trusted rows and on the clients' rows.
    pub(super) root: Figure,
    pub(super) rows: Figure,
}

/// What follows.
#[derive(Debug, Clone)]
pub(super) struct Posterior {
    /// `w⁰_c = E[q_c / Σ q]` with `q_c = P(fair) / variance`.
    pub(super) weights: Vec<f64>,
    /// The probability that each client is fair.
    pub(super) fair: Vec<f64>,
    /// The level, the gap of the mean client's model, with its standard deviation.
    pub(super) level: Figure,
    /// The probability of each spread.
    pub(super) spreads: [f64; 3],
    /// The probability that some clients are biased.
    pub(super) biased: f64,
}

/// A spread, a bias in steps (0: nobody is biased), and the probability of each level.
struct Hypothesis {
    spread: usize,
    bias: i32,
    log_probability: Vec<f64>,
}

impl Evidence {
    pub(super) fn posterior(&self) -> Posterior {
        let tables = SPREADS.map(|spread| FairDensity::new(&self.offsets, spread));
        let levels: Vec<f64> = (-STEPS..=STEPS).map(|step| self.log_level(step)).collect();
        let mut grid: Vec<Hypothesis> = Vec::new();
        for (spread, table) in tables.iter().enumerate() {
            for (bias, prior) in biases().filter(|(bias, _)| is_possible(*bias, SPREADS[spread])) {
                let at = |(i, level): (usize, &f64)| {
                    prior.ln() + level + table.log_likelihood(i as i32 - STEPS, bias)
                };
                let log_probability = levels.iter().enumerate().map(at).collect();
                grid.push(Hypothesis { spread, bias, log_probability });
            }
        }
        average(&grid, &tables, self.offsets.len())
    }

    fn log_level(&self, step: i32) -> f64 {
        let level = f64::from(step) * STEP;
        let distance = (level - self.root.value) / self.root.error;
        let rows = HONEST * self.rows.density(level) + (1.0 - HONEST) * ANYTHING;
        -0.5 * distance * distance + rows.ln()
    }
}

/// Averages over the grid.
fn average(grid: &[Hypothesis], tables: &[FairDensity; 3], n_clients: usize) -> Posterior {
    let points = || {
        let of = |at: &Hypothesis| {
            let (spread, bias) = (at.spread, at.bias);
            let levels = at.log_probability.iter().enumerate();
            levels.map(move |(i, log)| (spread, bias, i as i32 - STEPS, *log)).collect::<Vec<_>>()
        };
        grid.iter().flat_map(of)
    };
    let top = points().map(|(.., log)| log).fold(f64::NEG_INFINITY, f64::max);
    let (mut weights, mut fair) = (vec![0.0; n_clients], vec![0.0; n_clients]);
    let (mut spreads, mut biased, mut total) = ([0.0; 3], 0.0, 0.0);
    let (mut first, mut second) = (0.0, 0.0);
    for (spread, bias, step, log) in points().filter(|(.., log)| top - log < NEGLIGIBLE) {
        let p = (log - top).exp();
        let (is_fair, level) =
            (tables[spread].probability_fair(step, bias), f64::from(step) * STEP);
        let variances = tables[spread].variances.iter();
        let precise: Vec<f64> = is_fair.iter().zip(variances).map(|(r, v)| r / v).collect();
        let sum = precise.iter().sum::<f64>().max(1e-300);
        weights.iter_mut().zip(&precise).for_each(|(w, q)| *w += p * q / sum);
        fair.iter_mut().zip(&is_fair).for_each(|(f, r)| *f += p * r);
        spreads[spread] += p;
        biased += if bias != 0 { p } else { 0.0 };
        first += p * level;
        second += p * level * level;
        total += p;
    }
    let sum: f64 = weights.iter().sum::<f64>().max(1e-300);
    weights.iter_mut().for_each(|w| *w /= sum);
    fair.iter_mut().for_each(|f| *f /= total);
    let value = first / total;
    let error = (second / total - value * value).max(0.0).sqrt();
    let spreads = spreads.map(|p| p / total);
    Posterior { weights, fair, level: Figure { value, error }, spreads, biased: biased / total }
}

/// The densities of the clients' gaps around 0, at every level and bias of the grid.
struct FairDensity {
    variances: Vec<f64>,
    /// For each level minus bias, from −2 to 2: the density of each client.
    at: Vec<Vec<f64>>,
}

impl FairDensity {
    fn new(offsets: &[Figure], spread: f64) -> Self {
        let variance = |offset: &Figure| offset.error * offset.error + spread * spread;
        let density = |step: i32| {
            let level = f64::from(step) * STEP;
            let of = |offset: &Figure| normal(offset.value + level, variance(offset).sqrt());
            offsets.iter().map(of).collect()
        };
        let at = (-2 * STEPS..=2 * STEPS).map(density).collect();
        Self { variances: offsets.iter().map(variance).collect(), at }
    }

    fn around_zero(&self, step: i32) -> &[f64] {
        &self.at[(step + 2 * STEPS) as usize]
    }

    /// For each client: the share of fair clients times their density, and the density of all.
    fn densities(&self, step: i32, bias: i32) -> impl Iterator<Item = (f64, f64)> {
        let (fair, biased) = (self.around_zero(step), self.around_zero(step - bias));
        let share = if bias == 0 { 1.0 } else { 0.5 };
        fair.iter().zip(biased).map(move |(fair, biased)| {
            let kinds = share * fair + (1.0 - share) * biased;
            let own = (1.0 - OUTLIERS) * share * fair;
            (own, (1.0 - OUTLIERS) * kinds + OUTLIERS * ANYTHING)
        })
    }

    fn log_likelihood(&self, step: i32, bias: i32) -> f64 {
        // One logarithm for many factors: none is below .025 or above 30, so products of 64 stay far from
        // the limits.
        let (mut log, mut product) = (0.0, 1.0);
        for (client, (_, all)) in self.densities(step, bias).enumerate() {
            product *= all;
            if client % 64 == 63 {
                log += f64::ln(std::mem::replace(&mut product, 1.0));
            }
        }
        log + product.ln()
    }

    fn probability_fair(&self, step: i32, bias: i32) -> Vec<f64> {
        self.densities(step, bias).map(|(fair, all)| fair / all).collect()
    }
}

/// Biases in steps, with their prior probabilities. There is no prior on the sign.
fn biases() -> impl Iterator<Item = (i32, f64)> {
    let sizes = (4..=STEPS).step_by(2);
    let each = (1.0 - NONE_BIASED) / 2.0 / sizes.clone().count() as f64;
    let both = sizes.flat_map(move |size| [(size, each), (-size, each)]);
    std::iter::once((0, NONE_BIASED)).chain(both)
}

fn is_possible(bias: i32, spread: f64) -> bool {
    bias == 0 || f64::from(bias.abs()) * STEP >= MIN_BIAS * spread
}

fn normal(distance: f64, error: f64) -> f64 {
    let z = distance / error;
    (-0.5 * z * z).exp() / (error * (2.0 * std::f64::consts::PI).sqrt())
}
