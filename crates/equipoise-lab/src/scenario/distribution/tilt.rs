//! Clients with shifted features.
//!
//! Every client has a few features of its own. A row `x` goes to client `k` with probability proportional to
//! `exp(τ·s_k(x) + b_k)`, where `s_k` is the sum of the client's features, standardised and with a sign. This depends
//! on the features alone, so the label has the same distribution given the features at every client. `b_k` makes the
//! expected numbers of rows equal, and `τ` is chosen so that a client's own features differ by [`SHIFT`] standard
//! deviations, on average, between the client and the others.

use equipoise_core::Rows;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Difference between the means of a feature at its client and elsewhere, in standard deviations.
pub(super) const SHIFT: f64 = 0.5;
/// More features than this for a client, and it would have hardly any row in common with the others.
const MAX_FEATURES: usize = 3;
/// Steps towards `τ` and `b`. A step removes most of the remaining error.
const STEPS: usize = 40;
/// The seed of a split also shuffles rows, with the same generator.
const STREAM: u64 = 1;

/// The rows of every client, each in the order of `order`.
pub(super) fn tilted_parts(
    population: &Rows,
    order: &[usize],
    n_clients: usize,
    seed: u64,
) -> Vec<Vec<usize>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(STREAM);
    let tilts = Tilts::draw(population, order, n_clients, &mut rng);
    let scores = tilts.scores();
    let mut parameters = Parameters { strength: SHIFT, offsets: vec![0.0; n_clients] };
    for _ in 0..STEPS {
        parameters.improve(&scores, &tilts);
    }
    let mut parts = vec![Vec::new(); n_clients];
    for (row, scores) in order.iter().zip(scores.chunks(n_clients)) {
        let shares = parameters.shares(scores);
        let mut left: f64 = rng.random();
        // Rounding may leave a little beyond the last share.
        let chosen = shares.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        parts[chosen.unwrap_or(n_clients - 1)].push(*row);
    }
    parts
}

/// The features of each client: standardised columns, with their sign.
struct Tilts {
    clients: Vec<Vec<Vec<f64>>>,
    n_rows: usize,
}

impl Tilts {
    /// Draws features that are not constant. If there are fewer than clients, clients share them.
    fn draw(population: &Rows, order: &[usize], n_clients: usize, rng: &mut ChaCha8Rng) -> Self {
        let features = 0..population.layout().n_x;
        let mut columns: Vec<Vec<f64>> =
            features.filter_map(|j| standardised(population, order, j)).collect();
        columns.shuffle(rng);
        let each = (columns.len() / n_clients).clamp(1, MAX_FEATURES);
        let mut next = columns.iter().cycle();
        let clients = (0..n_clients)
            .map(|_| {
                let own = next.by_ref().take(each);
                own.map(|column| {
                    let sign = if rng.random::<bool>() { 1.0 } else { -1.0 };
                    column.iter().map(|value| sign * value).collect()
                })
                .collect()
            })
            .collect();
        Self { clients, n_rows: order.len() }
    }

    /// `s_k`, row after row.
    fn scores(&self) -> Vec<f64> {
        let of = |row: usize| {
            self.clients.iter().map(move |own| own.iter().map(|column| column[row]).sum::<f64>())
        };
        (0..self.n_rows).flat_map(of).collect()
    }
}

/// A feature with mean 0 and variance 1 over the rows; `None` if it is constant.
fn standardised(population: &Rows, order: &[usize], feature: usize) -> Option<Vec<f64>> {
    let values = || order.iter().map(|&row| population.x(row)[feature]);
    let n = order.len() as f64;
    let mean = values().sum::<f64>() / n;
    let variance = values().map(|value| (value - mean) * (value - mean)).sum::<f64>() / n;
    (variance > 0.0).then(|| values().map(|value| (value - mean) / variance.sqrt()).collect())
}

/// `τ` and `b`.
struct Parameters {
    strength: f64,
    offsets: Vec<f64>,
}

impl Parameters {
    /// The probability of each client, for a row with these scores.
    fn shares(&self, scores: &[f64]) -> Vec<f64> {
        let terms = scores.iter().zip(&self.offsets);
        let logs: Vec<f64> = terms.map(|(score, offset)| self.strength * score + offset).collect();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let odds: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
        let total: f64 = odds.iter().sum();
        odds.into_iter().map(|odds| odds / total).collect()
    }

    /// One step towards equal sizes and the shift wanted.
    fn improve(&mut self, scores: &[f64], tilts: &Tilts) {
        let n_clients = self.offsets.len();
        let mut sizes = vec![0.0; n_clients];
        let mut sums: Vec<Vec<f64>> =
            tilts.clients.iter().map(|own| vec![0.0; own.len()]).collect();
        for (row, scores) in scores.chunks(n_clients).enumerate() {
            for (client, share) in self.shares(scores).into_iter().enumerate() {
                sizes[client] += share;
                for (sum, column) in sums[client].iter_mut().zip(&tilts.clients[client]) {
                    *sum += share * column[row];
                }
            }
        }
        let n = tilts.n_rows as f64;
        // A feature sums to 0 over all rows, so its mean elsewhere follows from its mean at the client.
        let differences: Vec<f64> = sums
            .iter()
            .zip(&sizes)
            .flat_map(|(sums, &size)| sums.iter().map(move |sum| sum / size + sum / (n - size)))
            .collect();
        let shift = differences.iter().sum::<f64>() / differences.len().max(1) as f64;
        if shift > 0.0 {
            self.strength *= (SHIFT / shift).clamp(0.5, 2.0);
        }
        for (offset, size) in self.offsets.iter_mut().zip(sizes) {
            *offset -= (size * n_clients as f64 / n).ln();
        }
    }
}
