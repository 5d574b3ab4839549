//! The ranking: how often each contender comes first, and its figures over all matchups.

use equipoise_core::{Count, Estimate, paired_mean};
use serde::Serialize;
use std::collections::BTreeMap;

use super::Arena;
use super::contender::Contender;
use super::matchup::{Matchup, Place, Record, has_larger_gap, mean};

/// A contender's place in the ranking.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// The contender.
    pub contender: Contender,
    /// Matchups that count.
    pub matchups: usize,
    /// Matchups in which it is first or tied for first.
    pub wins: usize,
    /// Those as a share, with Wilson's interval.
    pub win_share: Option<Estimate>,
    /// Matchups in which it is first or tied among contenders that are also better than a constant.
    pub useful_wins: usize,
    /// Matchups in which it is not accurate enough.
    pub inaccurate: usize,
    /// Matchups in which its gap is larger than that of pooled, beyond a tie.
    pub worse_than_pooled: usize,
    /// Those in which the pooled model is better than a constant.
    pub worse_than_useful_pooled: usize,
    /// Matchups in which it failed.
    pub failed: usize,
    /// Mean accuracy.
    pub accuracy: Option<f64>,
    /// Mean balanced accuracy.
    pub balanced_accuracy: Option<f64>,
    /// Mean gap, with Student's interval over the seeds: each seed gives one mean over all matchups.
    pub gap: Option<f64>,
    /// Lower end of that interval.
    pub gap_low: Option<f64>,
    /// Upper end of that interval.
    pub gap_high: Option<f64>,
    /// Mean weight of the unreliable clients, where there are any.
    pub unreliable_weight: Option<f64>,
    /// Mean effective number of reliable clients as a share of their number.
    pub effective_share: Option<f64>,
}

impl Arena {
    /// All contenders from the most wins to the fewest, then by gap, over matchups with at most this rate.
    pub fn ranking(&self, max_rate: f64) -> Vec<Standing> {
        let matchups: Vec<Matchup<'_>> =
            self.matchups().into_iter().filter(|m| m.rate <= max_rate).collect();
        let mut standings = standings(&matchups, &self.settings.contenders);
        standings.sort_by(|a, b| {
            let gap = |s: &Standing| s.gap.unwrap_or(f64::INFINITY);
            b.wins.cmp(&a.wins).then(gap(a).total_cmp(&gap(b)))
        });
        standings
    }

    /// The figures of the references over matchups with at most this rate. They do not compete.
    pub fn references(&self, max_rate: f64) -> Vec<Standing> {
        let matchups: Vec<Matchup<'_>> =
            self.matchups().into_iter().filter(|m| m.rate <= max_rate).collect();
        let standing = |contender| {
            let records = matchups.iter().filter_map(|matchup| matchup.record(contender));
            figures(contender, &records.collect::<Vec<_>>(), &matchups)
        };
        Contender::REFERENCES.into_iter().map(standing).collect()
    }
}

/// A matchup with its places.
struct Judged {
    records: Vec<Record>,
    places: Vec<Place>,
    /// Places among contenders that are better than a constant.
    useful: Vec<Place>,
}

fn standings(matchups: &[Matchup<'_>], contenders: &[Contender]) -> Vec<Standing> {
    let judge = |matchup: &Matchup<'_>| {
        let records = matchup.records(contenders);
        let places = matchup.places(&records);
        let useful = matchup.useful_places(&records);
        Judged { records, places, useful }
    };
    let judged: Vec<Judged> =
        matchups.iter().filter(|matchup| !matchup.cells.is_empty()).map(judge).collect();
    let standing = |(at, &contender): (usize, &Contender)| {
        let own: Vec<Record> = judged.iter().map(|judged| judged.records[at].clone()).collect();
        let count = |is: &dyn Fn(&Judged) -> bool| judged.iter().filter(|j| is(j)).count();
        let wins = count(&|judged| judged.places[at].wins());
        let n = judged.len();
        Standing {
            matchups: n,
            wins,
            win_share: Count { successes: wins, n }.rate(),
            useful_wins: count(&|judged| judged.useful[at].wins()),
            inaccurate: count(&|judged| judged.places[at] == Place::Inaccurate),
            failed: count(&|judged| judged.places[at] == Place::Failed),
            worse_than_pooled: count(&|judged| judged.is_worse_than_pooled(at, |_| true)),
            worse_than_useful_pooled: count(&|judged| {
                judged.is_worse_than_pooled(at, Record::is_useful)
            }),
            ..figures(contender, &own, matchups)
        }
    };
    contenders.iter().enumerate().map(standing).collect()
}

impl Judged {
    /// Whether a contender's gap is larger than that of pooled, if pooled counts.
    fn is_worse_than_pooled(&self, at: usize, counts: impl Fn(&Record) -> bool) -> bool {
        let pooled = self.records.iter().find(|r| r.contender == Contender::POOLED);
        pooled.is_some_and(|pooled| counts(pooled) && is_worse(&self.records[at], pooled))
    }
}

/// Whether a contender's gap is larger than another's. Failures are counted elsewhere.
pub(super) fn is_worse(record: &Record, other: &Record) -> bool {
    record.failures.is_empty() && other.failures.is_empty() && has_larger_gap(record, other)
}

/// The figures of a contender, without its places.
fn figures(contender: Contender, records: &[Record], matchups: &[Matchup<'_>]) -> Standing {
    let over = |value: &dyn Fn(&Record) -> Option<f64>| {
        mean(records.iter().filter_map(value).filter(|value| value.is_finite()))
    };
    let by_seed = gaps_by_seed(contender, matchups);
    let gap = paired_mean(&by_seed);
    let attacked = matchups.iter().filter(|matchup| matchup.attack.is_some());
    let weights = attacked.filter_map(|matchup| matchup.record(contender)?.unreliable_weight);
    Standing {
        contender,
        matchups: records.len(),
        wins: 0,
        win_share: None,
        useful_wins: 0,
        inaccurate: 0,
        worse_than_pooled: 0,
        worse_than_useful_pooled: 0,
        failed: 0,
        accuracy: over(&|record| Some(record.accuracy)),
        balanced_accuracy: over(&|record| Some(record.balanced_accuracy)),
        gap: mean(by_seed.iter().copied()),
        gap_low: gap.map(|gap| gap.low),
        gap_high: gap.map(|gap| gap.high),
        unreliable_weight: mean(weights),
        effective_share: over(&|record| record.effective_share),
    }
}

/// The mean gap over all matchups, for each seed.
fn gaps_by_seed(contender: Contender, matchups: &[Matchup<'_>]) -> Vec<f64> {
    let mut sums: BTreeMap<u64, (f64, usize)> = BTreeMap::new();
    for cell in matchups.iter().flat_map(|matchup| &matchup.cells) {
        if let Some(gap) = cell.result(contender).and_then(|result| result.gap) {
            let (sum, n) = sums.entry(cell.key.seed).or_default();
            *sum += gap.abs();
            *n += 1;
        }
    }
    sums.into_values().map(|(sum, n)| sum / n as f64).collect()
}
