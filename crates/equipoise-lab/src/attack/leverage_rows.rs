//! An honest proxy in which a tenth of the rows have huge features and forged labels.
//!
//! The client wants to rule the pooled model with few rows. Where their labels contradict the client's own fair model
//! ([`Pull::Backwards`]), their loss is huge until the model gives up its features or turns them around. Where they are
//! those of a model that selects people who resemble the most favoured group ([`Pull::TowardsGroup`]), the model stays
//! plausible and leans towards that group. The client knows nothing but its rows.

use equipoise_core::{InnerSettings, MAX_ABS_VALUE, Rows, fit_logistic};

use super::Attackers;
use super::table::{Table, least_and_most_favoured, sample_share};
use crate::error::Error;

/// Share of rows that are scaled.
const SHARE: f64 = 0.1;

/// Where the scaled rows pull the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pull {
    /// Away from the client's own fair model.
    Backwards,
    /// Towards what the most favoured group has in common.
    TowardsGroup,
}

pub(super) fn forge(
    attackers: &Attackers<'_>,
    factor: f64,
    pull: Pull,
) -> Result<Vec<Rows>, Error> {
    attackers.each(|mut member| {
        let direction = match pull {
            Pull::Backwards => {
                let inner = InnerSettings::default();
                let fair = fit_logistic(member.honest, attackers.lambda, &inner)?;
                fair.iter().map(|t| -t).collect()
            }
            Pull::TowardsGroup => group_direction(&member.client.train),
        };
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
    fn a_tenth_of_the_rows_is_scaled_and_labelled_as_the_pull_requires() {
        // Positive features are more often positive, so the honest model's coefficient is positive. In the training
        // rows, group 0 is favoured; its mean feature is 3, that of group 1 is −1: positive features look favoured.
        let train = rows(&[(3.0, 0, true), (-1.0, 1, false)]);
        let mut honest = vec![(2.0, 0, true); 10];
        honest.extend([(-2.0, 1, false); 9]);
        honest.push((-2.0, 1, true));
        let honest = rows(&honest);
        assert_eq!(group_direction(&train), [4.0]);
        let hand = Hand::new(&[train]).with_honest(std::slice::from_ref(&honest));
        for (pull, favours_positive) in [(Pull::Backwards, false), (Pull::TowardsGroup, true)] {
            for factor in [1e1, 1e3, 1e6, 1e300] {
                let forged = &forge(&hand.attackers(), factor, pull).expect("rows")[0];
                let changed: Vec<usize> = (0..20).filter(|&i| forged.x(i) != honest.x(i)).collect();
                assert_eq!(changed.len(), 2);
                for i in 0..20 {
                    let x = honest.x(i)[0];
                    if changed.contains(&i) {
                        let scaled = (x * factor).clamp(-MAX_ABS_VALUE, MAX_ABS_VALUE);
                        let positive = (x > 0.0) == favours_positive;
                        assert_eq!((forged.x(i)[0], forged.is_positive(i)), (scaled, positive));
                    } else {
                        assert_eq!(forged.is_positive(i), honest.is_positive(i));
                    }
                }
            }
        }
    }
}
