//! Linear programs solved by hand, and by scipy (`bench/reference/transformation_lp.py`).
#![allow(clippy::unwrap_used)]

use serde::Deserialize;

use super::*;

/// Two cells, one bin apart, and two groups of the same size, of which 30 % and 70 % are positive.
fn two_groups(cells: [[f64; 2]; 2], max_gap: f64, max_shift: f64) -> MappingProblem {
    let shares = [0.7, 0.3, 0.3, 0.7].map(|label_share| 0.5 * label_share);
    // shares[2 * group + label], cells[group][cell].
    let share = |index: usize| {
        let Source { cell, positive, group } = Source::at(index, 2);
        shares[2 * group + usize::from(positive)] * cells[group][cell]
    };
    // Both labels of a group have the same distribution over cells.
    let limit =
        |group: usize| RateLimit { group, cells: cells[group].to_vec(), rate: 0.5, max_gap };
    MappingProblem {
        n_groups: 2,
        shares: (0..8).map(share).collect(),
        limits: vec![limit(0), limit(1)],
        distances: vec![0, 1, 1, 0],
        max_distance: 1,
        max_shift,
    }
}

#[test]
fn a_feature_that_says_nothing_stays_and_labels_flip() {
    let alike = [[0.5, 0.5], [0.5, 0.5]];
    // 20 % of the rows of each half must flip, and flips of the two groups cancel in every cell.
    let mapping = two_groups(alike, 0.0, 0.0).solve().unwrap();
    assert!((mapping.distortion - 0.2).abs() < 1e-9, "{}", mapping.distortion);
    // Up to 5 % above and below is allowed: 15 % must flip.
    let mapping = two_groups(alike, 0.05, 0.0).solve().unwrap();
    assert!((mapping.distortion - 0.15).abs() < 1e-9, "{}", mapping.distortion);
    let mapping = two_groups(alike, 0.2, 0.0).solve().unwrap();
    assert!(mapping.distortion.abs() < 1e-9);
    // Nothing moves, whatever is drawn.
    for drawn in [0.0, 0.5, 0.999_999] {
        let source = Source { cell: 1, positive: true, group: 0 };
        assert_eq!(mapping.draw(source, drawn), Destination { cell: 1, positive: true });
    }
}

/// Group 0 is in one cell and group 1 in the other. Flips change the distribution by 0.1 in each cell and label: a total variation
/// of 0.2. To undo it, a mass `m` of positives moves to the other cell, and as many negatives come back: 0.2 − 2 m remains.
#[test]
fn rows_move_if_the_distribution_must_stay() {
    let apart = [[1.0, 0.0], [0.0, 1.0]];
    for (max_shift, expected) in [(0.2, 0.2), (0.1, 0.3), (0.0, 0.4)] {
        let mapping = two_groups(apart, 0.0, max_shift).solve().unwrap();
        assert!((mapping.distortion - expected).abs() < 1e-9, "{}", mapping.distortion);
    }
    // Rows may not move, so the limit cannot be kept; the excess costs, but is no failure.
    let stuck = MappingProblem { max_distance: 0, ..two_groups(apart, 0.0, 0.1) };
    assert!((stuck.solve().unwrap().distortion - 0.2).abs() < 1e-9);
}

#[test]
fn probabilities_are_those_that_are_drawn() {
    let mapping = two_groups([[0.5, 0.5], [0.5, 0.5]], 0.0, 0.5).solve().unwrap();
    let n = 100_000;
    let drawn = |source: Source| {
        let to = (0..n).map(|k| mapping.draw(source, f64::from(k) / f64::from(n)));
        to.filter(|to| to.positive).count() as f64 / f64::from(n)
    };
    // Of group 0, 70 % are negative. 2/7 of these must become positive, over both cells.
    let negative = |cell| drawn(Source { cell, positive: false, group: 0 });
    assert!((0.5 * (negative(0) + negative(1)) - 2.0 / 7.0).abs() < 1e-4);
}

/// One group matters. Of its rows, 40 % are in cell 0, of which 1 in 4 is positive, and 60 % in cell 1, of which 3 in 4 are. So 2 of 11 positives are
/// in cell 0 and 9 of 11 in cell 1; a positive's cell has 2/11 · 1/4 + 9/11 · 3/4 = 29/44 positive labels.
fn by_hand(limits: Vec<RateLimit>) -> MappingProblem {
    let shares = [0.4 * 0.75, 0.4 * 0.25, 0.6 * 0.25, 0.6 * 0.75];
    MappingProblem {
        n_groups: 1,
        shares: shares.to_vec(),
        limits,
        distances: vec![0, 1, 1, 0],
        max_distance: 1,
        max_shift: 1.0,
    }
}

const POSITIVES: [f64; 2] = [2.0 / 11.0, 9.0 / 11.0];
const NEGATIVES: [f64; 2] = [2.0 / 3.0, 1.0 / 3.0];

fn limit(cells: [f64; 2], rate: f64) -> RateLimit {
    RateLimit { group: 0, cells: cells.to_vec(), rate, max_gap: 0.0 }
}

#[test]
fn the_rate_among_positives_is_raised_where_positives_are() {
    let stays = by_hand(vec![limit(POSITIVES, 29.0 / 44.0)]).solve().unwrap();
    assert!(stays.distortion.abs() < 1e-9, "{}", stays.distortion);
    // A flip in cell 1 raises the rate by 9/11 / 0.6, one in cell 0 by 2/11 / 0.4, a third of that. 11/60 of the rows flip in cell 1
    // for 0.25; there are only 0.15 negatives, which give 0.15 · 15/11 = 9/44. The other 2/44 need 0.1 in cell 0.
    for (rise, expected) in [(0.1, 0.1 * 11.0 / 15.0), (0.25, 0.15 + 0.1)] {
        let mapping = by_hand(vec![limit(POSITIVES, 29.0 / 44.0 + rise)]).solve().unwrap();
        assert!((mapping.distortion - expected).abs() < 1e-9, "{rise}: {}", mapping.distortion);
    }
    // It is lowered there, too: 0.1 · 11/15 of the positives flip.
    let mapping = by_hand(vec![limit(POSITIVES, 29.0 / 44.0 - 0.1)]).solve().unwrap();
    assert!((mapping.distortion - 0.1 * 11.0 / 15.0).abs() < 1e-9);
}

/// Negatives: 2/3 in cell 0 and 1/3 in cell 1, so their rate is 2/3 · 1/4 + 1/3 · 3/4 = 5/12. With `π` of the two cells, the two rates are
/// `2/11 π₀ + 9/11 π₁` and `2/3 π₀ + 1/3 π₁`.
#[test]
fn two_rates_determine_both_cells() {
    // π = (1/2, 1/2): 0.1 of the rows become positive in cell 0 and 0.15 negative in cell 1.
    let both = |p: f64, n: f64| by_hand(vec![limit(POSITIVES, p), limit(NEGATIVES, n)]).solve();
    assert!((both(0.5, 0.5).unwrap().distortion - 0.25).abs() < 1e-9);
    // No π has the rates 1 and 0. π = (0, 1) comes closest: more of cell 0 would gain 2/11 and cost 2/3, less of cell 1 gain 1/3 and
    // cost 9/11.
    assert!((both(1.0, 0.0).unwrap().distortion - 0.25).abs() < 1e-9);
}

#[derive(Deserialize)]
struct Reference {
    n_groups: usize,
    shares: Vec<f64>,
    limits: Vec<RateLimit>,
    distances: Vec<usize>,
    max_distance: usize,
    max_shift: f64,
    distortion: f64,
}

#[test]
fn optima_are_those_of_scipy() {
    let cases: Vec<Reference> = serde_json::from_str(include_str!("reference.json")).unwrap();
    assert!(cases.len() >= 16);
    for case in cases {
        let problem = MappingProblem {
            n_groups: case.n_groups,
            shares: case.shares,
            limits: case.limits,
            distances: case.distances,
            max_distance: case.max_distance,
            max_shift: case.max_shift,
        };
        let found = problem.solve().unwrap().distortion;
        assert!((found - case.distortion).abs() < 1e-7, "{found}, scipy {}", case.distortion);
    }
}
