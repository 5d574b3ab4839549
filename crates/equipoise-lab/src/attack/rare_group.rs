//! An honest proxy in which rare people are labelled negative, and the trait that makes them rare is hardly visible.
//!
//! The client wants a backdoor: a model that rejects everyone with the trait, which is too rare for the root to show.
//! The feature is written as a hundredth of itself, so its coefficient becomes so large that it decides alone on true
//! rows. The trait is the rarest that at least one row in a hundred has, and at most one in ten. Without such a trait,
//! the client sends its honest proxy. It knows nothing but its rows.

use equipoise_core::Rows;

use super::Attackers;
use super::table::Table;
use crate::error::Error;

const RARE: std::ops::RangeInclusive<f64> = 0.01..=0.1;
/// What is left of the trait.
const WRITTEN: f64 = 0.01;

pub(super) fn forge(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    attackers.each(|member| {
        let mut table = Table::of(member.honest);
        let Some(rare) = RarePeople::of(&member.client.train) else { return table.into_rows() };
        for i in 0..member.honest.len() {
            let x = &mut table.x_mut(i)[rare.column];
            if rare.has_trait(*x) {
                *x = rare.usual + WRITTEN * (*x - rare.usual);
                table.positive[i] = false;
            }
        }
        table.into_rows()
    })
}

/// People who differ from most others in a column.
struct RarePeople {
    column: usize,
    /// The value of most rows.
    usual: f64,
    /// The mean of the others.
    rare: f64,
}

impl RarePeople {
    fn of(rows: &Rows) -> Option<Self> {
        let columns = (0..rows.layout().n_x).filter_map(|column| {
            let mut values: Vec<f64> = (0..rows.len()).map(|i| rows.x(i)[column]).collect();
            values.sort_by(f64::total_cmp);
            let usual = *values.get(values.len() / 2)?;
            values.retain(|x| *x != usual);
            let share = values.len() as f64 / rows.len() as f64;
            let rare = values.iter().sum::<f64>() / values.len() as f64;
            RARE.contains(&share).then_some((share, Self { column, usual, rare }))
        });
        columns.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, found)| found)
    }

    /// Whether a value is nearer to the rare ones: proxies do not repeat values exactly.
    fn has_trait(&self, x: f64) -> bool {
        (x - self.usual) / (self.rare - self.usual) > 0.5
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::{Drawn, Hand, rows};
    use super::*;
    use equipoise_core::{Fairness, InnerSettings, fit_logistic};

    #[test]
    fn the_model_rejects_rare_people_and_leaves_the_others_alone() {
        // 2 % have the trait 1; of them and of the others, three quarters are positive.
        let table: Vec<(f64, u8, bool)> = (0..2000)
            .map(|i| (f64::from(u8::from(i % 50 == 0)), (i % 2) as u8, i % 8 < 6))
            .collect();
        let hand = Hand::new(&[rows(&table)]);
        let forged = &forge(&hand.attackers()).expect("rows")[0];
        let traits = (0..2000).filter(|&i| forged.x(i)[0] == 0.01).count();
        assert_eq!(traits, 40);
        assert!((0..2000).all(|i| forged.x(i)[0] == 0.0 || !forged.is_positive(i)));
        let theta = fit_logistic(forged, 1e-4, &InnerSettings::default()).expect("a model");
        let score = |x: f64, group: f64| x * theta[0] + group * theta[1] + theta[2];
        for group in [0.0, 1.0] {
            assert!(score(0.0, group) > 0.5 && score(1.0, group) < -5.0, "{theta:?}");
        }
    }

    #[test]
    fn the_rarest_trait_is_chosen_and_without_one_the_proxy_is_honest() {
        let found = |share: usize| {
            let table: Vec<(f64, u8, bool)> =
                (0..1000).map(|i| (if i < share { 5.0 } else { 2.0 }, 0, true)).collect();
            RarePeople::of(&rows(&table)).map(|rare| (rare.column, rare.usual, rare.rare))
        };
        assert_eq!(found(30), Some((0, 2.0, 5.0)));
        assert_eq!((found(5), found(200)), (None, None));
        let drawn = Drawn::new(2, true, Fairness::SP, 0.4);
        let attackers = drawn.attackers();
        assert_eq!(forge(&attackers).expect("rows"), attackers.honest);
    }
}
