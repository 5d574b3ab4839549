//! Swapped groups against fairness and noise against accuracy: the dual-facet attack.
//!
//! Either every client does both to its training rows, with noise as large as the deviation of each column (S-DFA), or
//! every other client swaps groups and the rest send noise (Sp-DFA). Clients know nothing but their rows.

use equipoise_core::Rows;

use super::noise::{add_noise, column_moments};
use super::table::Table;
use super::{Attackers, noise, swapped_groups};
use crate::error::Error;

/// Deviation of the noise, as a share of each column's deviation.
const NOISE: f64 = 1.0;

pub(super) fn forge(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    attackers.each(|mut member| {
        let train = &member.client.train;
        let mut table = Table::of(train);
        swapped_groups::swap(&mut table);
        add_noise(&mut table, &column_moments(train), NOISE, &mut member.rng);
        table.into_rows()
    })
}

pub(super) fn forge_split(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    let swapped = swapped_groups::forge(attackers)?;
    let noise = noise::forge(attackers)?;
    let pairs = swapped.into_iter().zip(noise).enumerate();
    Ok(pairs.map(|(k, (swapped, noise))| if k % 2 == 0 { swapped } else { noise }).collect())
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::{Hand, rows};
    use super::*;

    /// Group 1 has feature 3 and positive labels, group 0 has −1 and negative ones.
    fn train() -> Rows {
        let mut train = vec![(-1.0, 0, false); 1000];
        train.extend([(3.0, 1, true); 1000]);
        rows(&train)
    }

    #[test]
    fn one_client_swaps_groups_and_adds_noise() {
        let train = train();
        let hand = Hand::new(std::slice::from_ref(&train));
        let forged = &forge(&hand.attackers()).expect("rows")[0];
        assert_eq!(forged.labels(), train.labels());
        assert_eq!(forged.cell_counts(), [[0, 1000], [1000, 0]]);
        // The column's deviation is 2.
        let squares: f64 = (0..2000).map(|i| (forged.x(i)[0] - train.x(i)[0]).powi(2)).sum();
        assert!(((squares / 2000.0).sqrt() - 2.0).abs() < 0.15);
    }

    #[test]
    fn or_one_client_swaps_groups_and_the_next_one_sends_noise() {
        let hand = Hand::new(&[train(), train(), train()]);
        let attackers = hand.attackers();
        let forged = forge_split(&attackers).expect("rows");
        let (swapped, noise) = (swapped_groups::forge(&attackers), noise::forge(&attackers));
        let (swapped, noise) = (swapped.expect("rows"), noise.expect("rows"));
        assert_eq!(forged, [swapped[0].clone(), noise[1].clone(), swapped[2].clone()]);
    }
}
