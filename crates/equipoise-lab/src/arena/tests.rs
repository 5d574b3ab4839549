//! Rankings and losses of made-up arenas, worked out by hand.
#![allow(clippy::unwrap_used)]

use equipoise_core::{Criterion, Defense};

use super::*;
use crate::attack::Attack;
use crate::rival::Rival;

const MEDIAN: Contender = Contender::Rival(Rival::CoordinateMedian);
const CONTENDERS: [Contender; 3] = [Contender::DEFAULT, Contender::POOLED, MEDIAN];

fn result(contender: Contender, accuracy: f64, gap: f64, weights: &[f64]) -> ContenderResult {
    ContenderResult {
        contender,
        accuracy: Some(accuracy),
        balanced_accuracy: Some(accuracy),
        auc: None,
        gap: Some(gap),
        gap_error: None,
        weights: (!weights.is_empty()).then(|| weights.to_vec()),
        decided: None,
        problem: None,
        seconds: 0.0,
    }
}

/// One matchup of three seeds. The gaps of the default, pooled and the median shift together by .01 per seed.
fn arena(default: f64, pooled: f64, median: f64, weights: [f64; 5]) -> Arena {
    let contenders = CONTENDERS.to_vec();
    let contexts = vec![Context { dataset: "synthetic".to_owned(), fairness: Criterion::Sp }];
    let client = |number: usize| ArenaClient {
        id: format!("c{number}"),
        reliable: number <= 3,
        accuracy: Some(0.8),
        gap: Some(if number <= 3 { 0.01 } else { -0.2 }),
    };
    let cell = |seed: u64| {
        let shift = 0.01 * seed as f64;
        ArenaCell {
            key: ArenaKey {
                dataset: "synthetic".to_owned(),
                fairness: Criterion::Sp,
                attack: Some(Attack::RawRows),
                rate: 0.4,
                seed,
            },
            clients: (1..=5).map(client).collect(),
            results: vec![
                result(Contender::DEFAULT, 0.80, default + shift, &weights),
                // A negative gap is as bad as a positive one.
                result(Contender::POOLED, 0.84, -(pooled + shift), &[0.2; 5]),
                result(MEDIAN, 0.795, median + shift, &[]),
                result(Contender::RELIABLE_MEAN, 0.80, 0.01, &[]),
            ],
            problem: None,
        }
    };
    let settings = ArenaSettings { contexts, contenders, seeds: 3, ..ArenaSettings::default() };
    Arena { settings, cells: (1..=3).map(cell).collect() }
}

fn only_loss(arena: &Arena) -> Loss {
    let losses = arena.losses();
    assert_eq!(losses.len(), 1, "{losses:?}");
    losses.into_iter().next().expect("one loss")
}

#[test]
fn the_ranking_counts_wins_and_measures_gaps_over_seeds() {
    let arena = arena(0.0, 0.2, 0.05, [0.2; 5]);
    let ranking = arena.ranking(0.6);
    let order: Vec<Contender> = ranking.iter().map(|standing| standing.contender).collect();
    assert_eq!(order, [Contender::DEFAULT, MEDIAN, Contender::POOLED]);
    let [first, second, third] = &ranking[..] else { panic!("three contenders") };
    assert_eq!((first.wins, second.wins, third.wins), (1, 0, 0));
    // Gaps .01, .02, .03: mean .02, standard error .01/√3, t(0.975; 2) = 4.302653.
    assert!((first.gap.unwrap_or(0.0) - 0.02).abs() < 1e-12);
    let half = 4.302_652_729_7 * 0.01 / 3f64.sqrt();
    assert!((first.gap_high.unwrap_or(0.0) - 0.02 - half).abs() < 1e-9);
    assert!((first.gap_low.unwrap_or(0.0) - 0.02 + half).abs() < 1e-9);
    // Two of five clients are unreliable; the three others have equal weights.
    assert!((first.unreliable_weight.unwrap_or(0.0) - 0.4).abs() < 1e-12);
    assert!((first.effective_share.unwrap_or(0.0) - 1.0).abs() < 1e-12);
    assert_eq!(second.unreliable_weight, None);
    assert!(arena.losses().is_empty());
    // Above the highest rate there is nothing to rank.
    assert_eq!(arena.ranking(0.2)[0].matchups, 0);
}

#[test]
fn a_gap_larger_than_pooled_is_counted_and_lost() {
    let arena = arena(0.1, 0.05, 0.2, [0.0, 0.0, 0.0, 0.5, 0.5]);
    let default = &arena.ranking(1.0)[1];
    assert_eq!((default.contender, default.worse_than_pooled), (Contender::DEFAULT, 1));
    let loss = only_loss(&arena);
    assert!(loss.worse_than_pooled);
    assert_eq!((loss.place, loss.winner), (Place::Beaten, Some(Contender::POOLED)));
}

#[test]
fn a_loss_names_the_winner_and_the_weight_of_attackers() {
    let loss = only_loss(&arena(0.1, 0.2, 0.02, [0.2; 5]));
    assert_eq!(
        (loss.place, loss.winner, loss.worse_than_pooled),
        (Place::Beaten, Some(MEDIAN), false)
    );
    assert!((loss.unreliable_weight.unwrap() - 0.4).abs() < 1e-12);
    assert!((loss.gap - 0.12).abs() < 1e-12 && (loss.winner_gap.unwrap() - 0.04).abs() < 1e-12);
}

#[test]
fn an_inaccurate_default_loses() {
    let mut arena = arena(0.0, 0.2, 0.05, [0.2; 5]);
    for cell in &mut arena.cells {
        cell.results[0].accuracy = Some(0.75);
    }
    let loss = only_loss(&arena);
    assert_eq!((loss.place, loss.winner), (Place::Inaccurate, Some(MEDIAN)));
    assert_eq!(Contender::DEFAULT, Contender::Defense(Defense::default()));
}

#[test]
fn a_gap_beyond_chance_is_what_the_error_of_the_test_rows_leaves() {
    let with =
        |gap: f64, error| ContenderResult { gap_error: error, ..result(MEDIAN, 0.8, gap, &[]) };
    // 0.05² − 0.03² = 0.04².
    let beyond = with(-0.05, Some(0.03)).gap_beyond_chance().unwrap();
    assert!((beyond - 0.04).abs() < 1e-12);
    assert_eq!(with(0.02, Some(0.03)).gap_beyond_chance(), Some(0.0));
    // A group without test rows that count has no error.
    assert!((with(-0.05, None).gap_beyond_chance().unwrap() - 0.05).abs() < 1e-12);
}
