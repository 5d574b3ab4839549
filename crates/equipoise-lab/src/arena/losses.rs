//! The matchups that the default defense loses.

use serde::Serialize;

use super::Arena;
use super::contender::Contender;
use super::matchup::{Matchup, Place};
use super::ranking::is_worse;
use super::settings::Context;
use crate::attack::Attack;

/// A matchup that the default defense loses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Loss {
    /// Dataset and fairness.
    #[serde(flatten)]
    pub context: Context,
    /// The attack.
    pub attack: Option<Attack>,
    /// Share of unreliable clients.
    pub rate: f64,
    /// How it loses.
    pub place: Place,
    /// Whether its gap is also larger than that of pooled.
    pub worse_than_pooled: bool,
    /// Its mean gap.
    pub gap: f64,
    /// Its mean accuracy.
    pub accuracy: f64,
    /// The mean weight that it gives to unreliable clients.
    pub unreliable_weight: Option<f64>,
    /// Who comes first.
    pub winner: Option<Contender>,
    /// The winner's mean gap.
    pub winner_gap: Option<f64>,
    /// The winner's mean accuracy.
    pub winner_accuracy: Option<f64>,
}

impl Arena {
    /// The matchups in which the default defense takes part and neither comes first nor is tied, or is worse than
    /// pooled.
    pub fn losses(&self) -> Vec<Loss> {
        self.matchups().iter().filter_map(|matchup| self.loss(matchup)).collect()
    }

    fn loss(&self, matchup: &Matchup<'_>) -> Option<Loss> {
        let records = matchup.records(&self.settings.contenders);
        let places = matchup.places(&records);
        let at = records.iter().position(|record| record.contender == Contender::DEFAULT)?;
        let own = &records[at];
        let pooled = records.iter().find(|record| record.contender == Contender::POOLED);
        let worse_than_pooled = pooled.is_some_and(|pooled| is_worse(own, pooled));
        if places[at].wins() && !worse_than_pooled {
            return None;
        }
        let winner = records.iter().zip(&places).find(|(_, place)| **place == Place::First);
        let winner = winner.map(|(record, _)| record);
        Some(Loss {
            context: matchup.context.clone(),
            attack: matchup.attack,
            rate: matchup.rate,
            place: places[at],
            worse_than_pooled,
            gap: own.gap,
            accuracy: own.accuracy,
            unreliable_weight: own.unreliable_weight,
            winner: winner.map(|record| record.contender),
            winner_gap: winner.map(|record| record.gap),
            winner_accuracy: winner.map(|record| record.accuracy),
        })
    }
}
