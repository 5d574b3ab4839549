//! Random features and random labels.
//!
//! The client wants to make the model useless: a useless model treats all groups alike. Features are normal with the
//! mean and the deviation of the client's columns, so that no single value stands out; groups are as frequent as in
//! its rows. The client knows nothing but its rows.

use equipoise_core::Rows;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::Attackers;
use super::table::Table;
use crate::error::Error;

pub(super) fn forge(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    attackers.each(|mut member| {
        let train = &member.client.train;
        let columns = column_moments(train);
        let mut table = Table::of(train);
        for i in 0..train.len() {
            for (x, (mean, deviation)) in table.x_mut(i).iter_mut().zip(&columns) {
                let drawn: f64 = StandardNormal.sample(&mut member.rng);
                *x = mean + deviation * drawn;
            }
            table.positive[i] = member.rng.random();
        }
        table.into_rows()
    })
}

/// Adds normal noise to the features, with this share of each column's deviation.
pub(super) fn add_noise(
    table: &mut Table,
    moments: &[(f64, f64)],
    share: f64,
    rng: &mut ChaCha8Rng,
) {
    for i in 0..table.groups.len() {
        for (x, (_, deviation)) in table.x_mut(i).iter_mut().zip(moments) {
            let drawn: f64 = StandardNormal.sample(rng);
            *x += share * deviation * drawn;
        }
    }
}

/// Mean and standard deviation of each feature.
pub(super) fn column_moments(rows: &Rows) -> Vec<(f64, f64)> {
    let n = rows.len().max(1) as f64;
    let moments = |k: usize| {
        let mean = (0..rows.len()).map(|i| rows.x(i)[k]).sum::<f64>() / n;
        let squares: f64 = (0..rows.len()).map(|i| (rows.x(i)[k] - mean).powi(2)).sum();
        (mean, (squares / n).sqrt())
    };
    (0..rows.layout().n_x).map(moments).collect()
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::{Hand, rows};
    use super::*;

    #[test]
    fn features_have_the_moments_of_the_data_and_labels_are_fair_coins() {
        let mut train = vec![(1.0, 0, true); 1000];
        train.extend([(5.0, 1, true); 3000]);
        let train = rows(&train);
        // Mean (1 + 3 · 5)/4 = 4, variance (9 + 3 · 1)/4 = 3.
        assert_eq!(column_moments(&train), [(4.0, 3.0_f64.sqrt())]);
        let hand = Hand::new(std::slice::from_ref(&train));
        let forged = &forge(&hand.attackers()).expect("rows")[0];
        assert_eq!(forged.groups(), train.groups());
        let (mean, deviation) = column_moments(forged)[0];
        // Standard errors of 4000 draws: .027 for the mean, .019 for the deviation, .008 for the share.
        assert!((mean - 4.0).abs() < 0.14 && (deviation - 3.0_f64.sqrt()).abs() < 0.1);
        let positive: usize = forged.cell_counts().iter().map(|cell| cell[1]).sum();
        assert!((positive as f64 / 4000.0 - 0.5).abs() < 0.04, "{positive}");
    }
}
