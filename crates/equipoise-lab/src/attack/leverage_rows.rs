//! An honest proxy in which a tenth of the rows have huge features and the wrong labels.
//!
//! The client wants to rule the pooled model with few rows. Their labels contradict the client's own fair model, so
//! their loss is huge until the model gives up its features or turns them around. The client knows nothing but its rows.

use equipoise_core::{InnerSettings, MAX_ABS_VALUE, Rows, fit_logistic};

use super::Attackers;
use super::table::{Table, sample_share};
use crate::error::Error;

/// Share of rows that are scaled.
const SHARE: f64 = 0.1;

pub(super) fn forge(attackers: &Attackers<'_>, factor: f64) -> Result<Vec<Rows>, Error> {
    attackers.each(|mut member| {
        let fair = fit_logistic(member.honest, attackers.lambda, &InnerSettings::default())?;
        let mut table = Table::of(member.honest);
        for i in sample_share(table.positive.len(), SHARE, &mut member.rng) {
            let x = table.x_mut(i);
            let score: f64 = x.iter().zip(&fair).map(|(x, t)| x * t).sum();
            x.iter_mut().for_each(|x| *x = (*x * factor).clamp(-MAX_ABS_VALUE, MAX_ABS_VALUE));
            table.positive[i] = score <= 0.0;
        }
        table.into_rows()
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::{Hand, rows};
    use super::*;

    #[test]
    fn a_tenth_of_the_rows_is_scaled_and_contradicts_the_model() {
        // Rows with larger features are more often positive, so the model's coefficient is positive.
        let mut honest = vec![(2.0, 0, true); 10];
        honest.extend([(-2.0, 1, false); 9]);
        honest.push((-2.0, 1, true));
        let honest = rows(&honest);
        let hand = Hand::new(&[rows(&[(1.0, 0, true)])]).with_honest(std::slice::from_ref(&honest));
        for factor in [1e1, 1e3, 1e6, 1e300] {
            let forged = &forge(&hand.attackers(), factor).expect("rows")[0];
            let changed: Vec<usize> = (0..20).filter(|&i| forged.x(i) != honest.x(i)).collect();
            assert_eq!(changed.len(), 2);
            for i in 0..20 {
                let x = honest.x(i)[0];
                if changed.contains(&i) {
                    let scaled = (x * factor).clamp(-MAX_ABS_VALUE, MAX_ABS_VALUE);
                    assert_eq!((forged.x(i)[0], forged.is_positive(i)), (scaled, x < 0.0));
                } else {
                    assert_eq!(forged.is_positive(i), honest.is_positive(i));
                }
            }
        }
    }
}
