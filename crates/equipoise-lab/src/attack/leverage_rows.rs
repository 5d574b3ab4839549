//! An honest proxy in which a tenth of the rows have huge features.
//!
//! The client wants to rule the pooled model with few rows. Their labels are those that a model would give which selects
//! whoever looks like the most favoured group, so a large loss forces the model to agree with it. The client knows
//! nothing but its rows.

use equipoise_core::{MAX_ABS_VALUE, Rows};

use super::Attackers;
use super::table::{Table, least_and_most_favoured, sample_share};
use crate::error::Error;

/// Share of rows that are scaled.
const SHARE: f64 = 0.1;

pub(super) fn forge(attackers: &Attackers<'_>, factor: f64) -> Result<Vec<Rows>, Error> {
    attackers.each(|mut member| {
        let direction = group_direction(&member.client.train);
        let mut table = Table::of(member.honest);
        for i in sample_share(table.positive.len(), SHARE, &mut member.rng) {
            let x = table.x_mut(i);
            let score: f64 = x.iter().zip(&direction).map(|(x, d)| x * d).sum();
            x.iter_mut().for_each(|x| *x = (*x * factor).clamp(-MAX_ABS_VALUE, MAX_ABS_VALUE));
            table.positive[i] = score > 0.0;
        }
        table.into_rows()
    })
}

/// Mean features of the most favoured group minus those of the least favoured one.
fn group_direction(rows: &Rows) -> Vec<f64> {
    let (least, most) = least_and_most_favoured(rows);
    let mean = |group: usize| {
        let members: Vec<usize> = (0..rows.len()).filter(|&i| rows.group(i) == group).collect();
        let n = members.len().max(1) as f64;
        (0..rows.layout().n_x)
            .map(|k| members.iter().map(|&i| rows.x(i)[k]).sum::<f64>() / n)
            .collect::<Vec<f64>>()
    };
    mean(most).iter().zip(mean(least)).map(|(most, least)| most - least).collect()
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::{Hand, rows};
    use super::*;

    #[test]
    fn a_tenth_of_the_rows_is_scaled_and_labelled_by_the_groups() {
        // Group 1 is favoured and has mean feature 3; group 0 has −1: positive features look favoured.
        let train = rows(&[(-1.0, 0, false), (3.0, 1, true)]);
        let mut honest = vec![(2.0, 0, false); 10];
        honest.extend([(-2.0, 1, true); 10]);
        let honest = rows(&honest);
        let hand = Hand::new(&[train]).with_honest(&[honest.clone()]);
        assert_eq!(group_direction(&hand.attackers().scenario.clients[1].train), [4.0]);
        for factor in [1e1, 1e3, 1e6, 1e300] {
            let forged = &forge(&hand.attackers(), factor).expect("rows")[0];
            let changed: Vec<usize> = (0..20).filter(|&i| forged.x(i) != honest.x(i)).collect();
            assert_eq!(changed.len(), 2);
            for i in 0..20 {
                let x = honest.x(i)[0];
                if changed.contains(&i) {
                    let scaled = (x * factor).clamp(-MAX_ABS_VALUE, MAX_ABS_VALUE);
                    assert_eq!((forged.x(i)[0], forged.is_positive(i)), (scaled, x > 0.0));
                } else {
                    assert_eq!(forged.is_positive(i), honest.is_positive(i));
                }
            }
        }
    }
}
