//! Matchups: one context, attack and rate, over all seeds, and who comes first.

use serde::Serialize;

use super::Arena;
use super::cell::{ArenaCell, ContenderResult};
use super::contender::Contender;
use super::settings::Context;
use super::tie::is_larger;
use crate::attack::Attack;

/// All seeds of one context, attack and rate.
#[derive(Debug, Clone)]
pub struct Matchup<'a> {
    /// Dataset and fairness.
    pub context: Context,
    /// The attack; `None` if no client is unreliable.
    pub attack: Option<Attack>,
    /// Share of unreliable clients.
    pub rate: f64,
    /// Its cells that have a round, one per seed.
    pub cells: Vec<&'a ArenaCell>,
    /// Why other seeds have none.
    pub problems: Vec<&'a str>,
}

/// A contender's figures in a matchup: means over the seeds in which it did not fail.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Record {
    /// The contender.
    pub contender: Contender,
    /// Accuracy, between 0 and 1.
    pub accuracy: f64,
    /// Balanced accuracy, between 0 and 1.
    pub balanced_accuracy: f64,
    /// Size of the gap.
    pub gap: f64,
    /// Size of the gap for each seed.
    pub gaps: Vec<f64>,
    /// What of it is beyond chance, for each seed.
    pub gaps_beyond_chance: Vec<f64>,
    /// Total weight of the unreliable clients, if the contender weights clients.
    pub unreliable_weight: Option<f64>,
    /// Effective number of reliable clients as a share of their number, if the contender weights clients.
    pub effective_share: Option<f64>,
    /// Why it failed, with the seed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<(u64, String)>,
    /// How long it took.
    pub seconds: f64,
}

/// Accuracy that a contender may give up, compared with the reliable clients' average model.
const MAX_ACCURACY_LOSS: f64 = 0.01;
/// Balanced accuracy from which a model is better than a constant, whose balanced accuracy is 0.5: by a point.
const BETTER_THAN_CONSTANT: f64 = 0.51;

/// How a contender does in a matchup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// It has the smallest mean gap.
    First,
    /// Its gap is not larger than that of the first, as far as the seeds can tell.
    Tied,
    /// Its gap is larger.
    Beaten,
    /// It is not accurate enough, or no better than a constant where that counts.
    Inaccurate,
    /// It failed for at least one seed.
    Failed,
}

impl Place {
    /// First, or tied for first.
    pub fn wins(self) -> bool {
        matches!(self, Self::First | Self::Tied)
    }
}

impl Arena {
    /// All matchups, sorted like the cells.
    pub fn matchups(&self) -> Vec<Matchup<'_>> {
        let differ_only_in_seed = |a: &ArenaCell, b: &ArenaCell| {
            let key = |cell: &ArenaCell| (cell.key.fairness, cell.key.attack, cell.key.rate);
            key(a) == key(b) && a.key.dataset == b.key.dataset
        };
        self.cells
            .chunk_by(differ_only_in_seed)
            .map(|seeds| Matchup {
                context: Context {
                    dataset: seeds[0].key.dataset.clone(),
                    fairness: seeds[0].key.fairness,
                },
                attack: seeds[0].key.attack,
                rate: seeds[0].key.rate,
                cells: seeds.iter().filter(|cell| cell.problem.is_none()).collect(),
                problems: seeds.iter().filter_map(|cell| cell.problem.as_deref()).collect(),
            })
            .collect()
    }
}

impl Matchup<'_> {
    /// The figures of a contender. `None` if it took no part.
    pub fn record(&self, contender: Contender) -> Option<Record> {
        let results: Vec<(&ArenaCell, &ContenderResult)> = self
            .cells
            .iter()
            .filter_map(|cell| cell.result(contender).map(|result| (*cell, result)))
            .collect();
        if results.is_empty() {
            return None;
        }
        let mean = |value: &dyn Fn(&ArenaCell, &ContenderResult) -> Option<f64>| {
            mean(results.iter().filter_map(|(cell, result)| value(cell, result)))
        };
        let gaps: Vec<f64> = results.iter().filter_map(|(_, r)| r.gap.map(f64::abs)).collect();
        let beyond_chance = results.iter().filter_map(|(_, r)| r.gap_beyond_chance()).collect();
        let failure = |(cell, result): &(&ArenaCell, &ContenderResult)| {
            Some((cell.key.seed, result.problem.clone()?))
        };
        Some(Record {
            contender,
            accuracy: mean(&|_, result| result.accuracy).unwrap_or(f64::NAN),
            balanced_accuracy: mean(&|_, result| result.balanced_accuracy).unwrap_or(f64::NAN),
            gap: mean(&|_, result| result.gap.map(f64::abs)).unwrap_or(f64::NAN),
            gaps,
            gaps_beyond_chance: beyond_chance,
            unreliable_weight: mean(&|cell, result| cell.unreliable_weight(result)),
            effective_share: mean(&|cell, result| cell.effective_share(result)),
            failures: results.iter().filter_map(failure).collect(),
            seconds: mean(&|_, result| Some(result.seconds)).unwrap_or(0.0),
        })
    }

    /// The figures of the contenders.
    pub fn records(&self, contenders: &[Contender]) -> Vec<Record> {
        contenders.iter().filter_map(|&contender| self.record(contender)).collect()
    }

    /// The place of each contender, in the order of the records.
    pub fn places(&self, records: &[Record]) -> Vec<Place> {
        judge(records, self.reference_accuracy(records), |_| true)
    }

    /// The same among contenders that are better than a constant.
    pub fn useful_places(&self, records: &[Record]) -> Vec<Place> {
        judge(records, self.reference_accuracy(records), Record::is_useful)
    }

    /// The accuracy of the reliable clients' average model; without it, of the best contender. Without such a bar, a useless
    /// constant model would always win.
    fn reference_accuracy(&self, records: &[Record]) -> f64 {
        let best = records.iter().filter(|r| r.failures.is_empty()).map(|r| r.accuracy);
        let best = best.fold(f64::NEG_INFINITY, f64::max);
        self.record(Contender::RELIABLE_MEAN).map_or(best, |record| record.accuracy)
    }
}

impl Record {
    /// Whether the model is better than a constant: its balanced accuracy is at least a point above 0.5.
    pub fn is_useful(&self) -> bool {
        self.balanced_accuracy >= BETTER_THAN_CONSTANT
    }
}

/// Whether the gap of a contender is larger than another's, as far as seeds and test rows can tell.
pub(super) fn has_larger_gap(record: &Record, other: &Record) -> bool {
    is_larger(&record.gaps_beyond_chance, &other.gaps_beyond_chance)
}

/// The place of each contender, given the accuracy to compare with and who may win.
fn judge(
    records: &[Record],
    reference_accuracy: f64,
    may_win: impl Fn(&Record) -> bool,
) -> Vec<Place> {
    let is_accurate = |r: &&Record| {
        r.failures.is_empty() && r.accuracy >= reference_accuracy - MAX_ACCURACY_LOSS && may_win(r)
    };
    let first = records.iter().filter(is_accurate).min_by(|a, b| a.gap.total_cmp(&b.gap));
    let place = |record: &Record| match first {
        _ if !record.failures.is_empty() => Place::Failed,
        Some(first) if first.contender == record.contender => Place::First,
        _ if !is_accurate(&record) => Place::Inaccurate,
        Some(first) if has_larger_gap(record, first) => Place::Beaten,
        _ => Place::Tied,
    };
    records.iter().map(place).collect()
}

/// `None` without values.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0usize), |(sum, n), value| (sum + value, n + 1));
    (n > 0).then(|| sum / n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_core::Choice;

    fn record(index: usize, accuracy: f64, gaps: &[f64]) -> Record {
        Record {
            contender: Contender::ALL[index],
            accuracy,
            balanced_accuracy: accuracy,
            gap: mean(gaps.iter().copied()).unwrap_or(f64::NAN),
            gaps: gaps.to_vec(),
            gaps_beyond_chance: gaps.to_vec(),
            unreliable_weight: None,
            effective_share: None,
            failures: Vec::new(),
            seconds: 0.0,
        }
    }

    #[test]
    fn accurate_contenders_compete_for_the_smallest_gap() {
        let mut records = vec![
            record(0, 0.80, &[0.02, 0.03, 0.04]),
            record(1, 0.795, &[0.01, 0.02, 0.03]),
            // Tied: differences −0.01, 0.01 and 0.03 to the first, mean 0.01, but uncertain.
            record(2, 0.79, &[0.0, 0.03, 0.06]),
            // Beaten: 0.19 more, without any spread.
            record(3, 0.84, &[0.2, 0.21, 0.22]),
            // A constant model: fair and useless.
            record(4, 0.6, &[0.0, 0.0, 0.0]),
        ];
        let against = |records: &[Record], accuracy| judge(records, accuracy, |_| true);
        use Place::*;
        assert_eq!(against(&records, 0.80), [Beaten, First, Tied, Beaten, Inaccurate]);
        // Nobody but the unfair model is within a point of its accuracy.
        let strict = against(&records, 0.84);
        assert_eq!(strict, [Inaccurate, Inaccurate, Inaccurate, First, Inaccurate]);
        records[1].failures.push((2, "not finite".to_owned()));
        assert_eq!(against(&records, 0.80), [First, Failed, Tied, Beaten, Inaccurate]);
    }

    #[test]
    fn a_point_of_accuracy_may_be_given_up_and_no_more() {
        let records = [record(0, 0.7901, &[0.01]), record(1, 0.7899, &[0.0])];
        assert_eq!(judge(&records, 0.80, |_| true), [Place::First, Place::Inaccurate]);
    }

    /// A fair model has a gap on any sample, and a constant has none.
    #[test]
    fn a_gap_within_chance_is_tied_with_that_of_a_constant() {
        let mut records = [record(0, 0.90, &[0.02, 0.021, 0.019]), record(1, 0.895, &[0.0; 3])];
        assert_eq!(judge(&records, 0.90, |_| true), [Place::Beaten, Place::First]);
        records[0].gaps_beyond_chance = vec![0.0, 0.003, 0.0];
        assert_eq!(judge(&records, 0.90, |_| true), [Place::Tied, Place::First]);
    }

    /// Where nine of ten labels are positive, selecting everyone is accurate, and nothing is fairer.
    #[test]
    fn a_constant_wins_unless_models_must_be_better_than_one() {
        let mut records = [record(0, 0.90, &[0.02, 0.02]), record(1, 0.895, &[0.0, 0.0])];
        (records[0].balanced_accuracy, records[1].balanced_accuracy) = (0.59, 0.504);
        assert_eq!(judge(&records, 0.90, |_| true), [Place::Beaten, Place::First]);
        assert_eq!(judge(&records, 0.90, Record::is_useful), [Place::First, Place::Inaccurate]);
        records[1].balanced_accuracy = 0.51;
        assert_eq!(judge(&records, 0.90, Record::is_useful), [Place::Beaten, Place::First]);
    }
}
