//! Rows taken apart, so that attackers can change them.

use equipoise_core::{Layout, Rows};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::error::Error;

/// The entries of some rows.
pub(super) struct Table {
    pub(super) layout: Layout,
    /// Features, row by row.
    pub(super) x: Vec<f64>,
    pub(super) groups: Vec<u8>,
    pub(super) positive: Vec<bool>,
}

impl Table {
    pub(super) fn of(rows: &Rows) -> Self {
        Self {
            layout: rows.layout().clone(),
            x: (0..rows.len()).flat_map(|i| rows.x(i).iter().copied()).collect(),
            groups: rows.groups().to_vec(),
            positive: (0..rows.len()).map(|i| rows.is_positive(i)).collect(),
        }
    }

    pub(super) fn into_rows(self) -> Result<Rows, Error> {
        Ok(Rows::new(self.layout, &self.x, &self.groups, &self.positive)?)
    }

    /// Flips the labels of these rows.
    pub(super) fn flip(&mut self, rows: impl IntoIterator<Item = usize>) {
        rows.into_iter().for_each(|i| self.positive[i] = !self.positive[i]);
    }

    pub(super) fn x_mut(&mut self, i: usize) -> &mut [f64] {
        let n = self.layout.n_x;
        &mut self.x[i * n..(i + 1) * n]
    }
}

/// This share of `n` rows, rounded, in random order.
pub(super) fn sample_share(n: usize, share: f64, rng: &mut ChaCha8Rng) -> Vec<usize> {
    sample(n, (share * n as f64).round() as usize, rng)
}

/// `size` of `n` rows, or all if there are fewer, in random order.
pub(super) fn sample(n: usize, size: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let size = size.min(n);
    let mut order: Vec<usize> = (0..n).collect();
    for i in 0..size {
        order.swap(i, rng.random_range(i..n));
    }
    order.truncate(size);
    order
}

/// Labels drawn from logistic scores, by systematic sampling along the score of each group: the number of positive rows
/// above any score is the expected one, up to one row.
pub(super) fn draw_labels(groups: &[u8], scores: &[f64]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| groups[a].cmp(&groups[b]).then(scores[a].total_cmp(&scores[b])));
    let mut positive = vec![false; scores.len()];
    let mut sum = 0.5_f64;
    for i in order {
        let next = sum + 1.0 / (1.0 + (-scores[i]).exp());
        positive[i] = next.floor() > sum.floor();
        sum = next;
    }
    positive
}

/// The groups with the lowest and the highest share of positive labels. Groups without rows do not count; of groups
/// with the same share, the first one does.
pub(super) fn least_and_most_favoured(rows: &Rows) -> (usize, usize) {
    let rates: Vec<(usize, f64)> = rows
        .cell_counts()
        .iter()
        .enumerate()
        .filter(|(_, [negative, positive])| negative + positive > 0)
        .map(|(group, &[negative, positive])| {
            (group, positive as f64 / (negative + positive) as f64)
        })
        .collect();
    let least = rates.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let most = rates.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1));
    let group = |found: Option<&(usize, f64)>| found.map_or(0, |(group, _)| *group);
    (group(least), group(most))
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::{rows, rows_in};
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn favour_is_the_share_of_positive_labels() {
        // Group 0: 1 of 2; group 1: 1 of 3; group 2: none of 0; group 3: 2 of 2.
        let labels =
            [(0, true), (0, false), (1, true), (1, false), (1, false), (3, true), (3, true)];
        let found = labels.map(|(group, positive)| (0.0, group, positive));
        assert_eq!(least_and_most_favoured(&rows_in(4, true, &found)), (1, 3));
        // Equal shares: the first group.
        let equal = rows(&[(0.0, 0, true), (0.0, 1, true)]);
        assert_eq!(least_and_most_favoured(&equal), (0, 0));
    }

    #[test]
    fn a_sample_has_the_requested_number_of_distinct_rows() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for (share, size) in [(0.0, 0), (0.3, 30), (1.0, 100), (2.0, 100)] {
            let mut found = sample_share(100, share, &mut rng);
            found.sort_unstable();
            found.dedup();
            assert_eq!(found.len(), size);
        }
        assert!(sample_share(0, 0.5, &mut rng).is_empty());
    }
}
