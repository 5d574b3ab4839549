//! The matchups that the default defense loses, and why, from the figures alone.

use equipoise_core::normal_cdf;
use serde::Serialize;

use super::Arena;
use super::cell::ArenaCell;
use super::contender::Contender;
use super::matchup::{AccuracyBar, Matchup, Place, Record, mean};
use super::ranking::is_worse;
use super::root_error::DETECTABLE;
use super::settings::Context;
use super::tie::TIE_MARGIN;
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
    /// Who comes first.
    pub winner: Option<Contender>,
    /// The winner's mean gap.
    pub winner_gap: Option<f64>,
    /// The winner's mean accuracy.
    pub winner_accuracy: Option<f64>,
    /// The difference to the winner's gap that this root could detect: two standard errors in soft decisions.
    pub detectable_difference: Option<f64>,
    /// The gap that this root could detect: two standard errors in soft decisions.
    pub detectable_gap: Option<f64>,
    /// Why, in a few sentences.
    pub reason: String,
}

/// Weight of unreliable clients that explains a loss.
const MATERIAL_WEIGHT: f64 = 0.05;
/// Effective share of reliable clients below which leaving them out explains a loss.
const LOW_SHARE: f64 = 0.9;

impl Arena {
    /// The matchups in which the default defense takes part and neither comes first nor is tied, or is worse than
    /// pooled.
    pub fn losses(&self) -> Vec<Loss> {
        self.matchups().iter().filter_map(|matchup| self.loss(matchup)).collect()
    }

    fn loss(&self, matchup: &Matchup<'_>) -> Option<Loss> {
        let records = matchup.records(&self.settings.contenders);
        let places = matchup.places(&records, AccuracyBar::ReliableMean);
        let at = records.iter().position(|record| record.contender == Contender::DEFAULT)?;
        let own = &records[at];
        let pooled = records.iter().find(|record| record.contender == Contender::POOLED);
        let worse_than_pooled = pooled.is_some_and(|pooled| is_worse(own, pooled));
        if places[at].wins() && !worse_than_pooled {
            return None;
        }
        let winner = records.iter().zip(&places).find(|(_, place)| **place == Place::First);
        let winner = winner.map(|(record, _)| record);
        let case = Case { matchup, own, winner };
        Some(Loss {
            context: matchup.context.clone(),
            attack: matchup.attack,
            rate: matchup.rate,
            place: places[at],
            worse_than_pooled,
            gap: own.gap,
            accuracy: own.accuracy,
            winner: winner.map(|record| record.contender),
            winner_gap: winner.map(|record| record.gap),
            winner_accuracy: winner.map(|record| record.accuracy),
            detectable_difference: case.detectable_difference(),
            detectable_gap: matchup.detectable_gap(),
            reason: case.reason(places[at]),
        })
    }
}

impl Matchup<'_> {
    /// The gap of the reliable clients' average model that this root could detect, in soft decisions.
    pub(super) fn detectable_gap(&self) -> Option<f64> {
        mean(self.cells.iter().filter_map(|cell| Some(DETECTABLE * cell.root.as_ref()?.soft)))
    }

    /// The same, in decisions.
    pub(super) fn detectable_hard_gap(&self) -> Option<f64> {
        mean(self.cells.iter().filter_map(|cell| Some(DETECTABLE * cell.root.as_ref()?.hard)))
    }

    /// The difference between the gaps of the default defense and a contender that this root could detect.
    pub(super) fn detectable_difference(&self, contender: Contender) -> Option<f64> {
        mean(self.cells.iter().filter_map(|cell| {
            Some(DETECTABLE * cell.result(contender)?.difference.as_ref()?.soft)
        }))
    }

    fn attackers_are_the_majority(&self) -> bool {
        self.cells.iter().any(|cell| {
            let unreliable = cell.clients.iter().filter(|client| !client.reliable).count();
            2 * unreliable > cell.clients.len()
        })
    }

    /// The mean size of the gap of unreliable clients' models.
    fn attackers_gap(&self) -> Option<f64> {
        let clients = self.cells.iter().flat_map(|cell| &cell.clients);
        mean(clients.filter(|client| !client.reliable).filter_map(|c| Some(c.gap?.abs())))
    }
}

/// The probability that the best rule mistakes one kind of clients for the other, if it knows how they differ and what
/// this root says about the level of their gaps, and nothing else. Either kind may be the fair one, so the level is one of two
/// values at the distance `d` between the kinds. It is measured with the error `s`: the best rule errs with probability `Φ(−d/2s)`.
fn confusion(cell: &ArenaCell) -> Option<f64> {
    let of = |reliable: bool| {
        let kind = cell.clients.iter().filter(|client| client.reliable == reliable);
        mean(kind.filter_map(|client| client.gap))
    };
    let (distance, error) = ((of(true)? - of(false)?).abs(), cell.root.as_ref()?.soft);
    (error > 0.0).then(|| normal_cdf(-0.5 * distance / error))
}

struct Case<'a> {
    matchup: &'a Matchup<'a>,
    own: &'a Record,
    winner: Option<&'a Record>,
}

impl Case<'_> {
    fn detectable_difference(&self) -> Option<f64> {
        self.matchup.detectable_difference(self.winner?.contender)
    }

    fn reason(&self, place: Place) -> String {
        if let (Place::Failed, Some((seed, problem))) = (place, self.own.failures.first()) {
            return format!("It failed for seed {seed}: {problem}.");
        }
        let mut sentences = Vec::new();
        let bound = self.matchup.record(Contender::RELIABLE_MEAN);
        if let (Place::Inaccurate, Some(bound)) = (place, &bound) {
            sentences.push(format!(
                "Its accuracy is {:.1} points below that of the reliable clients' average.",
                100.0 * (bound.accuracy - self.own.accuracy)
            ));
        }
        sentences.push(self.cause(bound.as_ref()));
        if place == Place::Beaten {
            sentences.extend(self.compare_with_winner());
            sentences.extend(self.call_winner_constant());
        }
        sentences.join(" ")
    }

    /// What the weights and the clients' own models say.
    fn cause(&self, bound: Option<&Record>) -> String {
        let weight = self.own.unreliable_weight.unwrap_or(0.0);
        let share = self.own.effective_share;
        if weight >= MATERIAL_WEIGHT {
            return self.trusted_attackers(weight);
        }
        match (share, bound) {
            (Some(share), Some(bound)) if share < LOW_SHARE => format!(
                "It used the reliable clients unevenly, as if there were {:.0} % of them; their plain average has a gap of \
                 {:.3}.",
                100.0 * share,
                bound.gap
            ),
            (_, Some(bound)) if weight > 0.0 && self.own.gap > bound.gap + TIE_MARGIN => format!(
                "Unreliable clients have a weight of only {weight:.3}, but that moves the gap away from that of the \
                 reliable clients' average, {:.3}.",
                bound.gap
            ),
            (_, Some(bound)) => format!(
                "It trusted the reliable clients and nobody else; their plain average has a gap of {:.3}.",
                bound.gap
            ),
            _ => "It trusted the reliable clients and nobody else.".to_owned(),
        }
    }

    fn trusted_attackers(&self, weight: f64) -> String {
        let who = match self.matchup.attackers_are_the_majority() {
            true => "Unreliable clients, who are the majority,",
            false => "Unreliable clients",
        };
        let text = format!("{who} have a weight of {weight:.2}.");
        let confusion = mean(self.matchup.cells.iter().filter_map(|cell| confusion(cell)));
        match (self.matchup.attackers_gap(), self.matchup.detectable_gap(), confusion) {
            (Some(gap), Some(detectable), Some(confusion)) => format!(
                "{text} The gap of their models, {gap:.3}, is {} the {detectable:.3} that this root can detect. The best \
                 rule with the root alone would mistake them for the reliable ones with a probability of {confusion:.3}.",
                side(gap, detectable)
            ),
            _ => text,
        }
    }

    /// Where nearly all labels are the same, a constant is accurate enough to win, and nothing is fairer.
    fn call_winner_constant(&self) -> Option<String> {
        let winner = self.winner.filter(|winner| !winner.is_useful())?;
        Some(format!(
            "The first decides nearly the same for everyone: its balanced accuracy is {:.1} %, that of the default {:.1} %.",
            100.0 * winner.balanced_accuracy,
            100.0 * self.own.balanced_accuracy
        ))
    }

    fn compare_with_winner(&self) -> Option<String> {
        let difference = self.own.gap - self.winner?.gap;
        let detectable = self.detectable_difference()?;
        Some(format!(
            "The lead of the first, {difference:.3}, is {} the {detectable:.3} that this root can detect.",
            side(difference, detectable)
        ))
    }
}

fn side(value: f64, limit: f64) -> &'static str {
    if value <= limit { "below" } else { "above" }
}
