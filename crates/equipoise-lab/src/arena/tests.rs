//! Rankings and reasons of made-up arenas, worked out by hand.
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
        difference: Some(RootErrors { rows: [20, 60], soft: 0.01, hard: 0.05 }),
        decided: None,
        problem: None,
        seconds: 0.0,
    }
}

/// One matchup of three seeds. The gaps of the default, pooled and the median shift together by .01 per seed.
fn arena(default: f64, pooled: f64, median: f64, weights: [f64; 5], root_error: f64) -> Arena {
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
            root: Some(RootErrors { rows: [20, 60], soft: root_error, hard: 0.1 }),
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
    let arena = arena(0.0, 0.2, 0.05, [0.2; 5], 0.04);
    let ranking = arena.ranking(0.6);
    let order: Vec<Contender> = ranking.iter().map(|standing| standing.contender).collect();
    assert_eq!(order, [Contender::DEFAULT, MEDIAN, Contender::POOLED]);
    let [first, second, third] = &ranking[..] else { panic!("three contenders") };
    assert_eq!((first.wins, second.wins, third.wins), (1, 0, 0));
    // Only pooled is within a point of its own accuracy.
    assert_eq!((first.strict_wins, second.strict_wins, third.strict_wins), (0, 0, 1));
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
    let arena = arena(0.1, 0.05, 0.2, [0.0, 0.0, 0.0, 0.5, 0.5], 0.04);
    let default = &arena.ranking(1.0)[1];
    assert_eq!((default.contender, default.worse_than_pooled), (Contender::DEFAULT, 1));
    let loss = only_loss(&arena);
    assert!(loss.worse_than_pooled);
    assert_eq!((loss.place, loss.winner), (Place::Beaten, Some(Contender::POOLED)));
}

#[test]
fn a_loss_to_attackers_says_whether_the_root_could_have_told() {
    let weights = [0.2; 5];
    let detectable = only_loss(&arena(0.1, 0.2, 0.02, weights, 0.04));
    assert_eq!((detectable.place, detectable.winner), (Place::Beaten, Some(MEDIAN)));
    assert_eq!(detectable.detectable_gap, Some(0.08));
    // Their gaps are .01 and −.2, the error is .04: Φ(−.21/.08) = Φ(−2.625) = .00433.
    let expected = "Unreliable clients have a weight of 0.40. The gap of their models, 0.200, is above the 0.080 that \
                    this root can detect. The best rule with the root alone would mistake them for the reliable ones with \
                    a probability of 0.004. The lead of the first, 0.080, is above the 0.020 that this root can detect.";
    assert_eq!(detectable.reason, expected);
    let hidden = only_loss(&arena(0.1, 0.2, 0.02, weights, 0.15)).reason;
    assert!(hidden.contains("0.200, is below the 0.300 that this root can detect"), "{hidden}");
}

#[test]
fn a_loss_without_attackers_names_the_reliable_clients() {
    // A winner whose gap is smaller by .018, below the .02 that this root detects.
    let even =
        only_loss(&arena(0.02, 0.2, 0.002, [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.0, 0.0], 0.04));
    assert!(even.reason.starts_with("It trusted the reliable clients and nobody else"), "{even:?}");
    assert!(even.reason.contains("The lead of the first, 0.018, is below the 0.020"), "{even:?}");
    let nearly = only_loss(&arena(0.02, 0.2, 0.002, [0.33, 0.33, 0.33, 0.01, 0.0], 0.04)).reason;
    assert!(nearly.starts_with("Unreliable clients have a weight of only 0.010"), "{nearly}");
    let uneven = only_loss(&arena(0.02, 0.2, 0.002, [1.0, 0.0, 0.0, 0.0, 0.0], 0.04)).reason;
    assert!(
        uneven.starts_with("It used the reliable clients unevenly, as if there were 33 %"),
        "{uneven}"
    );
}

#[test]
fn a_loss_to_a_constant_is_called_that() {
    let mut arena = arena(0.02, 0.2, 0.002, [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.0, 0.0], 0.04);
    for cell in &mut arena.cells {
        cell.results[2].balanced_accuracy = Some(0.502);
    }
    let reason = only_loss(&arena).reason;
    let expected = "The first decides nearly the same for everyone: its balanced accuracy is 50.2 %, that of the \
                    default 80.0 %.";
    assert!(reason.ends_with(expected), "{reason}");
}

#[test]
fn an_inaccurate_default_is_told_so() {
    let mut arena = arena(0.0, 0.2, 0.05, [0.2; 5], 0.04);
    for cell in &mut arena.cells {
        cell.results[0].accuracy = Some(0.75);
    }
    let loss = only_loss(&arena);
    assert_eq!((loss.place, loss.winner), (Place::Inaccurate, Some(MEDIAN)));
    assert!(loss.reason.starts_with("Its accuracy is 5.0 points below"), "{}", loss.reason);
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
    // Journals of earlier versions have no errors.
    assert!((with(-0.05, None).gap_beyond_chance().unwrap() - 0.05).abs() < 1e-12);
}
