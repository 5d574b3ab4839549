//! Twenty training rows, repeated until the proxy is as large as an honest one.
//!
//! A lazy client wants to look like a large one. It knows nothing but its rows.

use equipoise_core::Rows;

use super::Attackers;
use super::table::sample;
use crate::error::Error;

const DISTINCT_ROWS: usize = 20;

pub(super) fn forge(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    attackers.each(|mut member| {
        let train = &member.client.train;
        let few = sample(train.len(), DISTINCT_ROWS, &mut member.rng);
        let n_rows = member.honest.len().max(1);
        Ok(train.select(&few.iter().copied().cycle().take(n_rows).collect::<Vec<_>>()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::{Hand, rows};

    #[test]
    fn twenty_rows_are_repeated_evenly() {
        let train: Vec<(f64, u8, bool)> = (0..300).map(|i| (f64::from(i), 0, i % 2 == 0)).collect();
        let hand = Hand::new(&[rows(&train)]);
        let forged = &super::forge(&hand.attackers()).expect("rows")[0];
        assert_eq!(forged.len(), 300);
        let mut values: Vec<f64> = (0..300).map(|i| forged.x(i)[0]).collect();
        values.sort_unstable_by(f64::total_cmp);
        assert!(values.chunks(15).all(|same| same[0] == same[14]));
        values.dedup();
        assert_eq!(values.len(), 20);
        assert!((0..300).all(|i| forged.is_positive(i) == (forged.x(i)[0] % 2.0 == 0.0)));
    }

    #[test]
    fn a_client_with_fewer_rows_repeats_all_of_them() {
        let hand = Hand::new(&[rows(&[(1.0, 0, true), (2.0, 1, false)])]);
        let forged = &super::forge(&hand.attackers()).expect("rows")[0];
        assert_eq!(forged.cell_counts(), [[0, 1], [1, 0]]);
    }
}
